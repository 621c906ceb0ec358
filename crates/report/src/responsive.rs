//! How long small operations take while something copies.

use crate::quantity;
use model::{Responsiveness, SmallOperations, Unit};

/// Less is no change that anybody feels.
const LONGER: f64 = 1.5;

fn one(what: &str, of: &SmallOperations) -> String {
    let [idle, loaded] = [of.idle_ns, of.loaded_ns].map(|ns| quantity::quantity(ns, Unit::Ns));
    let times =
        if of.ratio < LONGER { String::new() } else { format!(", {} times as long", quantity::ratio(of.ratio)) };
    format!("a small {what} takes {loaded} instead of {idle} ({}{times})", of.percentile)
}

/// In plain words.
pub(crate) fn answer(of: &Responsiveness) -> String {
    let said = [("read", &of.read), ("synced append", &of.append)];
    let said: Vec<String> = said.into_iter().filter_map(|(what, of)| Some(one(what, of.as_ref()?))).collect();
    let longest = [&of.read, &of.append].into_iter().flatten().filter_map(|of| of.loaded_ns_max).fold(0.0, f64::max);
    let longest = quantity::quantity(longest, Unit::Ns);
    format!("While something copies, {}. The longest of them took {longest}.", said.join(", and "))
}
