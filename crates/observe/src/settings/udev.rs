//! Rules of udev that set an attribute (udev(7)): which of them match a device, as far as /sys tells.

use super::glob::matches;

/// One rule: what must hold, and what it then sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// `/etc/udev/rules.d/60-io.rules:3`.
    pub place: String,
    conditions: Vec<Condition>,
    /// Attribute and value.
    pub sets: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    key: String,
    /// In braces after the key.
    attribute: Option<String>,
    equal: bool,
    value: String,
}

/// What is known of the device that a rule is tried on.
pub(super) struct Device<'a> {
    /// `sda`, `host2`.
    pub kernel: &'a str,
    /// `block`, `scsi_host`.
    pub subsystem: &'a str,
    /// Reads an attribute.
    pub attribute: &'a dyn Fn(&str) -> Option<String>,
}

/// Whether a file can matter: cheap, before it is parsed.
pub(crate) fn is_relevant(text: &[u8]) -> bool {
    // Attributes stand in braces, of which few rules have one.
    let mut rest = text;
    while let Some(at) = rest.iter().position(|b| *b == b'{') {
        rest = &rest[at + 1..];
        let of_storage =
            [&b"queue/"[..], b"bdi/", b"link_power_management_policy}", b"device/queue_depth}", b"cache_type}"];
        if of_storage.iter().any(|k| rest.starts_with(k)) {
            return true;
        }
    }
    false
}

/// The rules of a file that set attributes of storage.
pub(super) fn rules(path: &str, text: &str) -> Vec<Rule> {
    let mut out = Vec::new();
    let mut joined = String::new();
    let mut start = 1;
    for (number, line) in text.lines().enumerate() {
        if joined.is_empty() {
            start = number + 1;
        }
        let line = line.trim();
        // A comment inside a continued line is skipped (systemd, src/udev/udev-rules.c).
        if line.starts_with('#') {
            continue;
        }
        match line.strip_suffix('\\') {
            Some(part) => joined.push_str(part),
            None => {
                joined.push_str(line);
                out.extend(rule(format!("{path}:{start}"), &joined));
                joined.clear();
            }
        }
    }
    out
}

fn rule(place: String, line: &str) -> Option<Rule> {
    let mut rule = Rule { place, conditions: Vec::new(), sets: Vec::new() };
    let mut rest = line.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let operator = rest.find(['=', '!', '+', '-', ':'])?;
        let (key, attribute) = match rest[..operator].split_once('{') {
            Some((key, attribute)) => (key, Some(attribute.trim_end().strip_suffix('}')?.to_owned())),
            None => (rest[..operator].trim_end(), None),
        };
        let after = &rest[operator..];
        let quote = after.find('"')?;
        let operator = after[..quote].trim_end();
        let after = &after[quote + 1..];
        let end = after.find('"')?;
        let value = after[..end].to_owned();
        // Prefixes of values: e"escaped", i"case-insensitive" belong to the operator's side and are rare.
        match operator.trim_end_matches(['e', 'i']) {
            "==" => rule.conditions.push(Condition { key: key.to_owned(), attribute, equal: true, value }),
            "!=" => rule.conditions.push(Condition { key: key.to_owned(), attribute, equal: false, value }),
            "=" | ":=" if key == "ATTR" => rule.sets.push((attribute?, value)),
            _ => {}
        }
        rest = after[end + 1..].trim_start_matches([' ', '\t', ',']);
    }
    (!rule.sets.is_empty()).then_some(rule)
}

impl Rule {
    /// Whether it applies: `None` where a condition is about something that /sys does not tell.
    pub(super) fn applies(&self, device: &Device<'_>) -> Option<bool> {
        let mut all = Some(true);
        for condition in &self.conditions {
            match condition.holds(device) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => all = None,
            }
        }
        all
    }
}

impl Condition {
    fn holds(&self, device: &Device<'_>) -> Option<bool> {
        let value = match (self.key.as_str(), self.attribute.as_deref()) {
            ("KERNEL", None) => device.kernel.to_owned(),
            ("SUBSYSTEM", None) => device.subsystem.to_owned(),
            // Both happen to every disk.
            ("ACTION", None) => return Some(["add", "change"].iter().any(|a| matches(&self.value, a)) == self.equal),
            ("ENV", Some("DEVTYPE")) if device.subsystem == "block" => "disk".to_owned(),
            // `sizes` with placeholders and the like are beyond this.
            ("ATTR", Some(attribute)) if !attribute.contains(['%', '$', '*', '[']) => {
                match (device.attribute)(attribute) {
                    Some(value) => value,
                    // An attribute that is not there equals nothing.
                    None => return Some(!self.equal),
                }
            }
            _ => return None,
        };
        Some(matches(&self.value, &value) == self.equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applies(line: &str, kernel: &str) -> Option<bool> {
        let rules = rules("/x", line);
        let attribute = |name: &str| (name == "queue/rotational").then(|| "0".to_owned());
        rules[0].applies(&Device { kernel, subsystem: "block", attribute: &attribute })
    }

    #[test]
    fn conditions_hold_fail_or_are_unknown() {
        let rule = r#"ACTION=="add|change", KERNEL=="sd[a-z]|mmcblk[0-9]*", ATTR{queue/rotational}=="0", ATTR{queue/scheduler}="none""#;
        assert_eq!(applies(rule, "sda"), Some(true));
        assert_eq!(applies(rule, "nvme0n1"), Some(false));
        assert_eq!(applies(&rule.replace("==\"0\"", "!=\"0\""), "sda"), Some(false));
        assert_eq!(applies(&rule.replace("ACTION", "ATTRS{model}"), "sda"), None);
        assert_eq!(applies(&rule.replace("add|change", "remove"), "sda"), Some(false));
        assert_eq!(applies(r#"SUBSYSTEM=="scsi_host", ATTR{queue/x}="1""#, "sda"), Some(false));
    }

    #[test]
    fn lines_continue_and_say_where_they_begin() {
        let text = "# one\n\nKERNEL==\"sda\", \\\n  ATTR{queue/scheduler}=\"bfq\", \\\n  ATTR{queue/read_ahead_kb}=\"4096\"\nKERNEL==\"x\"\n";
        let rules = rules("/etc/udev/rules.d/60.rules", text);
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0].place, "/etc/udev/rules.d/60.rules:3");
        let sets = [("queue/scheduler", "bfq"), ("queue/read_ahead_kb", "4096")];
        assert_eq!(rules[0].sets, sets.map(|(a, v)| (a.to_owned(), v.to_owned())));
    }

    #[test]
    fn garbage_is_no_rule() {
        for text in
            ["ATTR{queue/x=\"1\"", "ATTR{queue/x}=", "=\"\"", "ATTR=\"1\"", "\\", "ATTR{queue/x}=\"", "é\"é=\"é"]
        {
            assert!(rules("/x", text).is_empty(), "{text}");
        }
    }
}
