//! What a program found wrong with a card, against what the card did wrong: exactly that, and nothing else.

use super::device::Summary;
use super::media::Damage;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every finding in a document, wherever it stands: an object with a class, a first sector and a number of them.
fn findings<'a>(document: &'a Value, found: &mut Vec<(&'a str, u64, u64)>) {
    match document {
        Value::Object(object) => {
            if let (Some(class), Some(first), Some(count)) =
                (object.get("class"), object.get("lba"), object.get("sectors"))
                && let (Some(class), Some(first), Some(count)) = (class.as_str(), first.as_u64(), count.as_u64())
            {
                found.push((class, first, count));
            }
            object.values().for_each(|value| findings(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| findings(value, found)),
        _ => {}
    }
}

/// The class under which a damage is found, where every sector had been written before it was damaged.
fn class(damage: Damage) -> &'static str {
    match damage {
        Damage::Lost => "lost-write",
        Damage::Corrupt | Damage::Worn => "bit-rot",
    }
}

/// What of the card's damage is not among the findings of a document, or is there as something else, or is there although
/// the card has no part in it; nothing if all agree. A card without damage shows nothing: it is a failure too.
pub fn differences(document: &Value, summary: &Summary) -> Vec<String> {
    let mut found = Vec::new();
    findings(document, &mut found);
    let mut places: BTreeMap<u64, &str> = BTreeMap::new();
    for (class, first, count) in found {
        places.extend((first..first.saturating_add(count)).map(|sector| (sector, class)));
    }
    let mut wrong = Vec::new();
    if summary.damaged.is_empty() {
        wrong.push("the card did nothing wrong".to_owned());
    }
    for (sector, damage) in &summary.damaged {
        match places.remove(sector) {
            Some(found) if found == class(*damage) => {}
            Some(found) => wrong.push(format!("sector {sector} was {}, and found as {found}", class(*damage))),
            None => wrong.push(format!("sector {sector} was {}, and not found", class(*damage))),
        }
    }
    wrong.extend(places.iter().map(|(sector, class)| format!("sector {sector} was found as {class}, and is sound")));
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::media::Injected;
    use super::*;
    use serde_json::json;

    fn summary(damaged: &[(u64, Damage)]) -> Summary {
        Summary {
            read_bytes: 0,
            written_bytes: 0,
            read_runs: 0,
            write_runs: 0,
            flushes: 0,
            trims: 0,
            stalls: 0,
            busy_s: 0.0,
            injected: Injected::default(),
            damaged: damaged.iter().copied().collect(),
        }
    }

    #[test]
    fn what_agrees_is_silent_and_the_rest_is_named() {
        let document = json!({"phases": [{"verify": {"findings": [
            {"class": "lost-write", "lba": 8, "sectors": 2, "evidence": []},
            {"class": "bit-rot", "lba": 20, "sectors": 1}]}}]});
        let damage = [(8, Damage::Lost), (9, Damage::Lost), (20, Damage::Corrupt)];
        assert_eq!(differences(&document, &summary(&damage)), [""; 0]);
        let other = [(8, Damage::Lost), (9, Damage::Corrupt), (30, Damage::Worn)];
        assert_eq!(
            differences(&document, &summary(&other)),
            [
                "sector 9 was bit-rot, and found as lost-write",
                "sector 30 was bit-rot, and not found",
                "sector 20 was found as bit-rot, and is sound",
            ]
        );
        assert_eq!(differences(&json!({}), &summary(&[])), ["the card did nothing wrong"]);
    }
}
