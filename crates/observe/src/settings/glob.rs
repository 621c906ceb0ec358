//! Shell patterns as udev(7) has them: `*`, `?`, `[a-z]`, and alternatives separated by `|`.

/// Whether any alternative of a pattern matches the whole text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    pattern.split('|').any(|p| one(p.as_bytes(), text.as_bytes()))
}

/// Iterative with one point to go back to, so that no pattern takes longer than its length times the text's.
fn one(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            None if t == text.len() => return true,
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(b'?') if t < text.len() => Some(1),
            Some(b'[') => match set(&pattern[p..], text.get(t).copied()) {
                Some((length, true)) => Some(length),
                Some((_, false)) => None,
                // Without a closing bracket it stands for itself.
                None => (text.get(t) == Some(&b'[')).then_some(1),
            },
            Some(c) if text.get(t) == Some(c) => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(length), _) => {
                p += length;
                t += 1;
            }
            (None, Some((after, at))) if at < text.len() => {
                star = Some((after, at + 1));
                (p, t) = (after, at + 1);
            }
            _ => return false,
        }
    }
}

/// `[a-z]`, `[!a]`: its length, and whether it has the character; `None` without an end.
fn set(pattern: &[u8], character: Option<u8>) -> Option<(usize, bool)> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let start = if negated { 2 } else { 1 };
    // A closing bracket at the front is a member.
    let end = start + 1 + pattern.get(start + 1..)?.iter().position(|b| *b == b']')?;
    let Some(character) = character else { return Some((end + 1, false)) };
    let members = &pattern[start..end];
    let mut at = 0;
    let mut found = false;
    while at < members.len() {
        if at + 2 < members.len() && members[at + 1] == b'-' {
            found |= (members[at]..=members[at + 2]).contains(&character);
            at += 3;
        } else {
            found |= members[at] == character;
            at += 1;
        }
    }
    Some((end + 1, found != negated))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("sd[a-z]", "sda", true),
            ("sd[a-z]", "sda1", false),
            ("sd*[!0-9]|sr*", "sdb", true),
            ("sd*[!0-9]|sr*", "sdb1", false),
            ("sd*[!0-9]|sr*", "sr0", true),
            ("nvme[0-9]*n[0-9]*", "nvme0n1", true),
            ("?", "", false),
            ("*", "", true),
            ("", "", true),
            ("[", "[", true),
            ("[]]", "]", true),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "abbb", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        assert!(!matches(&("*a".repeat(100) + "b"), &"a".repeat(5_000)));
    }
}
