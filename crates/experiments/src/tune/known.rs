//! What a search proved, to be handed on as a line of JSON, and lines of others as a prior for the order in which settings are tried. They come
//! from anybody: they decide nothing but this order, among settings and values that this machine offers.

use super::state::State;
use archive::Archive;
use model::{CompactSort as _, Fact, Failure, Stack, TuneProof, facts};
use serde_json::{Value, json};

const SCHEMA: &str = "narrows/tune-known/1";
/// More lines, more settings in one, and longer names or values are none of a search.
const MOST_LINES: usize = 10_000;
const MOST_SETTINGS: usize = 16;
const MOST_LETTERS: usize = 256;

/// A line without anything that identifies a machine: its class, the disk's model, what was set, and the gain.
pub(super) fn line(proof: &TuneProof, metric: &str, machine: Option<&str>, stack: &Stack) -> Value {
    let mut settings: Vec<Value> = Vec::new();
    for set in &proof.settings {
        if settings.iter().all(|known| known["name"] != set.name) {
            settings.push(json!({"name": set.name, "from": set.from, "to": set.to}));
        }
    }
    json!({
        "schema": SCHEMA, "machine": machine, "architecture": std::env::consts::ARCH, "device": device(stack), "metric": metric,
        "settings": settings, "gain": proof.gain,
    })
}

/// Model of the disk.
fn device(stack: &Stack) -> Option<String> {
    stack.lowest_counted().iter().find_map(|layer| match layer.fact(facts::MODEL) {
        Some(Fact::Text(model)) => Some(model.clone()),
        _ => None,
    })
}

/// What a search that has ended proved: of this id, else of the last one.
///
/// # Errors
/// There is no such search, it was left unfinished, or proved nothing.
pub fn exported(archive: &Archive, id: Option<&str>) -> Result<Value, Failure> {
    let is_asked = |state: &State| id.map_or(state.is_over, |id| state.id == id);
    let state = State::find(archive, &is_asked)?.ok_or_else(|| {
        let which =
            id.map_or_else(|| "no search has ended here".to_owned(), |id| format!("there is no search {id} here"));
        Failure::usage(which)
            .remedy("narrows tune TARGET   makes one; its id is in the answer's JSON, and in the archive's tune/")
    })?;
    match (state.known, state.is_over) {
        (Some(known), _) => Ok(known),
        (None, true) => Err(Failure::invalid(format!("{} proved no gain: there is nothing to hand on", state.id))
            .remedy("a longer --budget proves smaller gains")),
        (None, false) => {
            Err(Failure::usage(format!("{} has not ended", state.id)).remedy("narrows tune --resume   continues it"))
        }
    }
}

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    device: Option<String>,
    metric: String,
    /// Lower end of the gain's interval.
    low: f64,
    /// Names and values.
    settings: Vec<(String, String)>,
}

/// Lines of `tune --export`; empty ones are none.
///
/// # Errors
/// A line is wrong: which, and why.
pub fn known(text: &str, name: &str) -> Result<Vec<Known>, Failure> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let known = lines.map(|(number, line)| match () {
        () if number >= MOST_LINES => Err((number, format!("more than {MOST_LINES} lines"))),
        () => of_line(line).map_err(|why| (number, why)),
    });
    known.collect::<Result<Vec<Known>, (usize, String)>>().map_err(|(number, why)| {
        Failure::usage(format!("{name}, line {}: {why}", number + 1))
            .remedy("each line is one that narrows tune --export printed")
    })
}

fn of_line(line: &str) -> Result<Known, String> {
    let document: Value = serde_json::from_slice(line.as_bytes()).map_err(|e| e.to_string())?;
    if document["schema"] != SCHEMA {
        return Err(format!("its schema is not {SCHEMA}"));
    }
    let text = |of: &Value, key: &str| {
        let text = of[key].as_str().filter(|text| !text.is_empty() && text.len() <= MOST_LETTERS);
        text.map(str::to_owned).ok_or_else(|| format!("{key} is not a text of 1 to {MOST_LETTERS} letters"))
    };
    let settings = document["settings"].as_array().filter(|list| (1..=MOST_SETTINGS).contains(&list.len()));
    let settings = settings.ok_or_else(|| format!("settings is not a list of 1 to {MOST_SETTINGS}"))?;
    let gain = |key: &str| document["gain"][key].as_f64().filter(|value| *value > 0.0 && value.is_finite());
    Ok(Known {
        device: text(&document, "device").ok(),
        metric: text(&document, "metric")?,
        low: gain("low").or_else(|| gain("ratio")).ok_or("gain has no ratio above 0")?,
        settings: settings
            .iter()
            .map(|set| Ok((text(set, "name")?, text(set, "to")?)))
            .collect::<Result<_, String>>()?,
    })
}

/// Names and values in the order in which they are tried: of the same metric first, then of the same disk, then the largest gains.
pub(super) fn order(known: &[Known], metric: Option<&str>, stack: &Stack) -> Vec<(String, String)> {
    let device = device(stack);
    let mut sorted: Vec<&Known> = known.iter().filter(|known| known.low > 1.0).collect();
    sorted.compact_sort_by(|a, b| {
        let differs = |known: &Known| (metric != Some(&known.metric), device.is_none() || known.device != device);
        differs(a).cmp(&differs(b)).then(b.low.total_cmp(&a.low))
    });
    sorted.into_iter().flat_map(|known| known.settings.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{TuneGain, TuneSetting};

    fn proof(name: &'static str, to: &str, low: f64) -> TuneProof {
        let set = |disk: &str| TuneSetting {
            name,
            path: format!("/sys/block/{disk}/queue/x"),
            from: "4".into(),
            to: to.into(),
        };
        let gain = TuneGain { ratio: low + 0.1, low: Some(low), high: None, p: 0.01, pairs: 8 };
        TuneProof {
            settings: vec![set("sda"), set("sdb")],
            gain,
            pairs: Vec::new(),
            guards: Vec::new(),
            keep: Vec::new(),
        }
    }

    fn exported_line(name: &'static str, to: &str, low: f64, metric: &str) -> String {
        line(&proof(name, to, low), metric, Some("Cubieboard2"), &Stack::default()).to_string()
    }

    #[test]
    fn a_line_goes_from_one_machine_to_another_without_what_identifies_it() {
        let line = exported_line("read-ahead", "512", 1.4, "buffered-read.throughput_bytes_per_s");
        assert!(!line.contains('\n') && !line.contains("/sys") && !line.contains("sda"), "{line}");
        let known = known(&format!("\n{line}\n"), "lines").unwrap();
        assert_eq!(known[0].settings, [("read-ahead".to_owned(), "512".to_owned())], "each setting once");
        assert_eq!((known[0].low, known[0].device.as_deref()), (1.4, None));
    }

    #[test]
    fn the_metric_counts_first_and_then_the_gain() {
        let lines = [
            exported_line("requests", "256", 3.0, "seq-write.throughput_bytes_per_s"),
            exported_line("scheduler", "bfq", 1.1, "rand-read-qd1.iops"),
            exported_line("read-ahead", "512", 1.4, "rand-read-qd1.iops"),
            exported_line("merges", "2", 0.9, "rand-read-qd1.iops"),
        ];
        let known = known(&lines.join("\n"), "lines").unwrap();
        let order = order(&known, Some("rand-read-qd1.iops"), &Stack::default());
        let names: Vec<&str> = order.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["read-ahead", "scheduler", "requests"], "what is no gain moves nothing");
    }

    #[test]
    fn a_wrong_line_is_named_by_its_number() {
        let right = exported_line("read-ahead", "512", 1.4, "rand-read-qd1.iops");
        for (wrong, why) in [
            ("{", "EOF"),
            ("[]", "its schema is not"),
            (&right.replace("known/1", "known/2"), "its schema is not"),
            (&right.replace("\"512\"", "512"), "to is not a text"),
            (&right.replace("512", &"5".repeat(300)), "to is not a text"),
            (
                &right.replace("\"low\":1.4", "\"low\":-1").replace("\"ratio\":1.5", "\"ratio\":\"x\""),
                "gain has no ratio",
            ),
            (&right.replace("\"settings\":[", "\"other\":["), "settings is not a list"),
        ] {
            let failure = known(&format!("{right}\n{wrong}\n"), "lines").unwrap_err();
            assert!(
                failure.message.starts_with("lines, line 2: ") && failure.message.contains(why),
                "{failure}: {why}"
            );
        }
        let many = known(&format!("{right}\n").repeat(MOST_LINES + 1), "lines").unwrap_err();
        assert!(many.message.contains("line 10001: more than 10000 lines"), "{many}");
    }
}
