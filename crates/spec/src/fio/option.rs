//! The options of fio: which of them are supported, which change nothing here, and what is nearest to the rest.
//!
//! Names and meanings are those of fio's own documentation (HOWTO); the text is ours.

use super::job::JobOptions;
use super::number::Units;
use super::supported::{OPTIONS, Supported};
use super::words::WORDS;
use crate::keys::nearest;
use crate::text_inputs::TextMachine;

/// An option that is supported.
pub(super) fn find(name: &str) -> Option<&'static Supported> {
    OPTIONS.iter().find(|option| option.names.contains(&name))
}

/// The key that says it in our language, where it says just what an option of fio does.
pub fn our_key(option: &str) -> Option<String> {
    find(option)?.ours.first().map(|key| (*key).to_owned())
}

/// The supported option that is most like an unknown one.
pub(super) fn nearest_option(name: &str) -> Option<String> {
    nearest(name, OPTIONS.iter().flat_map(|option| option.names.iter().copied()))
}

/// Names of all options that are supported.
pub fn fio_options() -> Vec<&'static str> {
    OPTIONS.iter().map(|option| option.names[0]).collect()
}

/// Every name that an option may have, with whether it may stand without a value; those without effect and those that are
/// refused as well, so that what is said of them is said on a command line too.
pub fn fio_names() -> Vec<(&'static str, bool)> {
    let units =
        Units { kb_base: 1024, machine: TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 1 } };
    let supported = OPTIONS.iter().flat_map(|option| {
        let takes = |text: &str| (option.set)(&mut JobOptions::new(), text, units).is_ok();
        let is_flag = takes("") && takes("true") && !takes("no such value");
        option.names.iter().map(move |name| (*name, is_flag))
    });
    let rest = WORDS.harmless.iter().chain(&WORDS.refused).flat_map(|(_, names)| names.split_whitespace());
    supported.chain(rest.map(|name| (name, true))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_treatment() {
        let set = OPTIONS.iter().flat_map(|option| option.names.iter().copied());
        let rest = WORDS.harmless.iter().chain(&WORDS.refused).flat_map(|(_, names)| names.split_whitespace());
        let mut seen = std::collections::BTreeSet::new();
        for name in set.chain(rest) {
            assert!(seen.insert(name), "{name} twice");
        }
    }

    #[test]
    fn what_fio_calls_otherwise_is_a_key_here() {
        let keys = crate::job_keys();
        for option in OPTIONS.iter().filter(|option| !option.ours.is_empty()) {
            assert!(keys.iter().any(|k| k.name == option.ours[0]), "{}", option.names[0]);
            assert!(keys.iter().all(|k| !option.names.contains(&k.name)), "{}", option.names[0]);
        }
    }
}
