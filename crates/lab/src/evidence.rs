//! What a guest shows about the checks of its machine, and whether that is what was asserted.

use super::accesses::{self, Counted};
use super::card::{Summary, differences};
use super::initrd::quoted;
use super::machine::MachineCheck;
use super::session::GuestResult;
use serde_json::Value;
use std::path::PathBuf;

/// The guest's script that gathers evidence: files `check-N.out`, `check-N.err` and `check-N.exit` in `/lab/out`.
pub fn script(checks: &[MachineCheck]) -> String {
    let mut script = String::new();
    let mark = format!("/{}\n", accesses::MARK);
    if checks.iter().any(MachineCheck::counts_accesses) {
        // From here on accesses are counted.
        script.push_str(&mark);
    }
    for (i, check) in checks.iter().enumerate() {
        let command = match (&check.target, &check.command) {
            (Some(target), _) => format!("narrows inspect --json {}", quoted([target.as_str()])),
            (None, Some(command)) => format!("sh -c {}", quoted([command.as_str()])),
            (None, None) => continue,
        };
        let (before, behind) = if check.counts_accesses() { (mark.as_str(), "lab-mark; ") } else { ("", "") };
        script.push_str(&format!(
            "{before}{command} > /lab/out/check-{i}.out 2> /lab/out/check-{i}.err\n\
             exit=$?; {behind}echo $exit > /lab/out/check-{i}.exit\n"
        ));
    }
    script
}

/// What one check left.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// Exit code of its command, if it ran.
    pub exit: Option<u8>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// The emulator's log.
    pub emulator_log: String,
    /// The accesses of its command, if they were counted.
    pub counted: Option<Counted>,
    /// What the machine's card did, if it has one.
    pub card: Option<&'a Summary>,
}

impl<'a> Evidence<'a> {
    /// What the check of this number left.
    pub fn of(outcome: &'a GuestResult, checks: &[MachineCheck], number: usize) -> Self {
        let read = |path: &PathBuf| std::fs::read(path).ok();
        let log = outcome.emulator_log.as_ref().and_then(read).unwrap_or_default();
        let accesses = outcome.accesses_log.as_ref().and_then(read).unwrap_or_default();
        let mark = accesses::end_mark(checks, number);
        Self {
            exit: outcome.text(&format!("check-{number}.exit")).trim().parse().ok(),
            out: outcome.text(&format!("check-{number}.out")),
            err: outcome.text(&format!("check-{number}.err")),
            emulator_log: String::from_utf8_lossy(&log).into_owned(),
            counted: mark.and_then(|mark| accesses::counted_at(&String::from_utf8_lossy(&accesses), mark)),
            card: outcome.card.as_ref(),
        }
    }
}

/// Whether a fact is as asserted; of a list, one element is enough.
fn is_fact(seen: &Value, asserted: &toml::Value) -> bool {
    let asserted = serde_json::to_value(asserted).unwrap_or(Value::Null);
    *seen == asserted || seen.as_array().is_some_and(|all| all.contains(&asserted))
}

fn failures_of_inspection(check: &MachineCheck, out: &str) -> Vec<String> {
    let Ok(document) = serde_json::from_str::<Value>(out) else {
        return vec!["inspect printed no JSON".into()];
    };
    // Several targets give a list of inspections; one gives itself.
    let layers = document["layers"].as_array().cloned().unwrap_or_default();
    let mut failures = Vec::new();
    if let Some(driver) = &check.driver
        && !layers.iter().any(|l| l["driver"] == driver.as_str())
    {
        let seen: Vec<&str> = layers.iter().filter_map(|l| l["driver"].as_str()).collect();
        failures.push(format!("driver {driver} is not among {}", seen.join(", ")));
    }
    for (name, asserted) in &check.facts {
        let seen: Vec<&Value> = layers.iter().map(|l| &l["facts"][name]).filter(|v| !v.is_null()).collect();
        if !seen.iter().any(|seen| is_fact(seen, asserted)) {
            let seen: Vec<String> = seen.iter().map(|v| v.to_string()).collect();
            failures.push(format!(
                "{name} is {}, not {asserted}",
                if seen.is_empty() { "unknown".into() } else { seen.join(", ") }
            ));
        }
    }
    let findings: Vec<&str> =
        document["findings"].as_array().into_iter().flatten().filter_map(|f| f["id"].as_str()).collect();
    for id in check.findings.iter().filter(|id| !findings.contains(&id.as_str())) {
        failures.push(format!("finding {id} is not among {}", findings.join(", ")));
    }
    for id in check.no_findings.iter().filter(|id| findings.contains(&id.as_str())) {
        failures.push(format!("finding {id} holds"));
    }
    failures
}

/// What is not as asserted; nothing if all is well.
pub fn failures(check: &MachineCheck, evidence: &Evidence<'_>) -> Vec<String> {
    let mut failures = Vec::new();
    if check.target.is_some() || check.command.is_some() {
        let Some(exit) = evidence.exit else { return vec!["it did not run".into()] };
        if exit != check.exit {
            let said = evidence.err.lines().chain(evidence.out.lines()).rfind(|l| !l.trim().is_empty());
            failures.push(format!("exit code {exit}, not {}: {}", check.exit, said.unwrap_or("it printed nothing")));
        }
    }
    if check.target.is_some() && failures.is_empty() {
        failures.extend(failures_of_inspection(check, &evidence.out));
    }
    let printed = |text: &String| evidence.out.contains(text.as_str()) || evidence.err.contains(text.as_str());
    failures.extend(check.prints.iter().filter(|t| !printed(t)).map(|t| format!("'{t}' was not printed")));
    failures.extend(check.prints_not.iter().filter(|t| printed(t)).map(|t| format!("'{t}' was printed")));
    if check.finds_damage {
        match (serde_json::from_str(&evidence.out), evidence.card) {
            (Ok(document), Some(card)) => failures.extend(differences(&document, card)),
            (Err(_), _) => failures.push("it printed no JSON".into()),
            (_, None) => failures.push("there was no card".into()),
        }
    }
    match &evidence.counted {
        Some(counted) => {
            let both = [("loads", &check.loads, &counted.loads), ("stores", &check.stores, &counted.stores)];
            for (what, asserted, seen) in both {
                failures.extend(asserted.iter().flat_map(|asserted| accesses::differences(what, asserted, seen)));
            }
        }
        None if check.counts_accesses() => failures.push("its accesses were not counted".into()),
        None => {}
    }
    let mut rest = evidence.emulator_log.as_str();
    for text in &check.emulator_log {
        match rest.find(text.as_str()) {
            Some(at) => rest = &rest[at + text.len()..],
            None if evidence.emulator_log.contains(text.as_str()) => {
                failures.push(format!("the emulator logged '{text}', but not behind what is asserted before it"));
            }
            None => failures.push(format!("the emulator did not log '{text}'")),
        }
    }
    failures
}

/// Longest line that is quoted.
const QUOTED_LETTERS: usize = 140;

/// What tells in the answers whether all is as asserted: the driver, the values of the facts, the lines that were looked for.
pub fn seen(check: &MachineCheck, evidence: &Evidence<'_>) -> Vec<String> {
    let mut telling = Vec::new();
    if check.target.is_some()
        && let Ok(document) = serde_json::from_str::<Value>(&evidence.out)
    {
        let layers = document["layers"].as_array().cloned().unwrap_or_default();
        if let Some(driver) = &check.driver {
            let drivers: Vec<&str> = layers.iter().filter_map(|l| l["driver"].as_str()).collect();
            telling.push(format!("driver {}", drivers.iter().find(|d| *d == driver).unwrap_or(&"unknown")));
        }
        for name in check.facts.keys() {
            let value = layers.iter().map(|l| &l["facts"][name]).find(|v| !v.is_null());
            let value = value.map_or_else(|| "unknown".to_owned(), |v| v.to_string().trim_matches('"').to_owned());
            telling.push(format!("{name} {value}"));
        }
        let holds = |id: &str| document["findings"].as_array().is_some_and(|all| all.iter().any(|f| f["id"] == id));
        let asked = check.findings.iter().chain(&check.no_findings);
        telling.extend(asked.map(|id| format!("{} {id}", if holds(id) { "finding" } else { "no finding" })));
    }
    let said = [evidence.out.as_str(), evidence.err.as_str()];
    let lines = |texts: &[&str], wanted: &[String]| -> Vec<String> {
        let first = |text: &String| texts.iter().flat_map(|t| t.lines()).find(|l| l.contains(text.as_str()));
        wanted.iter().filter_map(first).map(|l| l.trim().chars().take(QUOTED_LETTERS).collect()).collect()
    };
    telling.extend(lines(&said, &check.prints));
    if let Some(counted) = &evidence.counted {
        telling.extend(accesses::in_words("loads", &counted.loads));
        telling.extend(accesses::in_words("stores", &counted.stores));
    }
    // The emulator ends not all of its lines.
    telling.extend(check.emulator_log.iter().filter(|t| evidence.emulator_log.contains(t.as_str())).cloned());
    telling.dedup();
    telling
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> MachineCheck {
        toml::from_str(&format!("what = \"x\"\n{text}")).expect("a check")
    }

    fn seen(out: &str) -> Evidence<'static> {
        Evidence { exit: Some(0), out: out.into(), ..Evidence::default() }
    }

    const DOCUMENT: &str = r#"{"layers": [
        {"driver": "sd", "facts": {"queue_depth": 32, "ncq": true, "serial": null}},
        {"driver": "ahci", "facts": {"interrupts": ["24 ahci"]}}],
        "findings": [{"id": "slow-clock-source"}]}"#;

    #[test]
    fn what_is_as_asserted_passes() {
        for text in [
            "target = \"sda\"\ndriver = \"ahci\"",
            "target = \"sda\"\nfacts = { queue_depth = 32, ncq = true, interrupts = \"24 ahci\" }",
            "target = \"sda\"\nfindings = [\"slow-clock-source\"]\nno-findings = [\"ide-mode\"]",
        ] {
            assert_eq!(failures(&check(text), &seen(DOCUMENT)), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_is_not_is_told_with_what_was_seen() {
        for (text, words) in [
            ("target = \"sda\"\ndriver = \"ata_piix\"", "sd, ahci"),
            ("target = \"sda\"\nfacts = { queue_depth = 1 }", "queue_depth is 32, not 1"),
            ("target = \"sda\"\nfacts = { serial = \"x\" }", "serial is unknown"),
            ("target = \"sda\"\nfindings = [\"ide-mode\"]", "ide-mode is not among slow-clock-source"),
            ("target = \"sda\"\nno-findings = [\"slow-clock-source\"]", "slow-clock-source holds"),
        ] {
            let said = failures(&check(text), &seen(DOCUMENT)).join("; ");
            assert!(said.contains(words), "{text}: {said}");
        }
        assert_eq!(failures(&check("target = \"sda\"\ndriver = \"x\""), &seen("oops")), ["inspect printed no JSON"]);
    }

    #[test]
    fn commands_are_judged_by_code_and_words() {
        let command = check("command = \"x\"\nexit = 4\nprints = [\"yes\"]\nprints-not = [\"no\"]");
        let evidence = Evidence { exit: Some(4), err: "yes".into(), ..Evidence::default() };
        assert_eq!(failures(&command, &evidence), [""; 0]);
        let evidence = Evidence { exit: Some(0), out: "no\n".into(), ..Evidence::default() };
        assert_eq!(failures(&command, &evidence).len(), 3);
        assert_eq!(failures(&command, &Evidence::default()), ["it did not run"]);
    }

    #[test]
    fn the_emulators_log_is_looked_at() {
        let log = check("emulator-log = [\"0x70\"]");
        assert_eq!(failures(&log, &Evidence::default()).len(), 1);
        let evidence = Evidence { emulator_log: "offset 0x70".into(), ..Evidence::default() };
        assert_eq!(failures(&log, &evidence), [""; 0]);
        // In the order in which they are asserted.
        let writes = |log: &str| {
            let evidence = Evidence { emulator_log: log.into(), ..Evidence::default() };
            failures(&check("emulator-log = [\"0x70: 0x4433\", \"0x70: 0x4400\"]"), &evidence).join("; ")
        };
        assert_eq!(writes("0x70: 0x4433\nother\n0x70: 0x4400\n"), "");
        assert!(writes("0x70: 0x4400\n0x70: 0x4433\n").contains("not behind"));
        assert!(writes("0x70: 0x4433\n").contains("did not log '0x70: 0x4400'"));
    }

    #[test]
    fn what_tells_is_quoted_as_it_was_seen() {
        let of = |text: &str, evidence: &Evidence<'_>| super::seen(&check(text), evidence);
        let target = "target = \"s\"\ndriver = \"ahci\"\nfacts = { queue_depth = 1, serial = \"x\" }\n\
            no-findings = [\"ide-mode\", \"slow-clock-source\"]";
        let told =
            ["driver ahci", "queue_depth 32", "serial unknown", "no finding ide-mode", "finding slow-clock-source"];
        assert_eq!(of(target, &seen(DOCUMENT)), told);
        let lines = seen("  one\n  two words\n");
        assert_eq!(of("command = \"x\"\nprints = [\"two\", \"words\", \"none\"]", &lines), ["two words"]);
        let log = Evidence { emulator_log: "offset 0x70: 0x4433\n".into(), ..Evidence::default() };
        assert_eq!(of("emulator-log = [\"0x70: 0x4433\", \"0x4400\"]", &log), ["0x70: 0x4433"]);
    }

    #[test]
    fn the_script_quotes_what_it_is_given() {
        let script = script(&[
            check("command = \"echo 'a b'\""),
            check("emulator-log = [\"x\"]"),
            check("target = \"s\"\nfacts = {a = 1}"),
        ]);
        assert!(script.contains(r"sh -c 'echo '\''a b'\''' > /lab/out/check-0.out"), "{script}");
        assert!(!script.contains("check-1") && script.contains("narrows inspect --json 's' > /lab/out/check-2.out"));
    }
}
