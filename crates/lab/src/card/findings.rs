//! What a program found wrong with a card, against what the card did wrong: exactly that, and nothing else.

use super::device::Summary;
use super::media::Damage;
use serde_json::Value;

/// Sectors of the largest block that is written to a card with faults.
const LARGEST_BLOCK: u64 = 128;

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
    found.sort_by_key(|(_, first, _)| *first);
    let mut left = summary.damaged.clone();
    let mut wrong = Vec::new();
    if left.is_empty() {
        wrong.push("the card did nothing wrong".to_owned());
    }
    for (found_as, first, count) in found {
        // The damaged sectors of a block need not be adjacent: a finding has the first of them and their number.
        let of_block = left.range(first..first.saturating_add(LARGEST_BLOCK)).filter(|(_, d)| class(**d) == found_as);
        let own: Vec<u64> =
            of_block.map(|(sector, _)| *sector).take(usize::try_from(count).unwrap_or(usize::MAX)).collect();
        if own.first() != Some(&first) {
            wrong.push(match left.remove(&first) {
                Some(damage) => format!("sector {first} was {}, and found as {found_as}", class(damage)),
                None => format!("sector {first} was found as {found_as}, and is sound"),
            });
            continue;
        }
        if own.len() as u64 != count {
            wrong.push(format!("from sector {first} on {count} were found as {found_as}, and {} are", own.len()));
        }
        own.iter().for_each(|sector| _ = left.remove(sector));
    }
    wrong.extend(left.iter().map(|(sector, damage)| format!("sector {sector} was {}, and not found", class(*damage))));
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::media::Injected;
    use super::*;
    use serde_json::json;

    fn summary(damaged: &[(u64, Damage)]) -> Summary {
        Summary {
            counts: Default::default(),
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
        let other = [(8, Damage::Lost), (9, Damage::Lost), (20, Damage::Lost), (30, Damage::Worn)];
        assert_eq!(
            differences(&document, &summary(&other)),
            ["sector 20 was lost-write, and found as bit-rot", "sector 30 was bit-rot, and not found"]
        );
        let fewer = [(8, Damage::Lost), (9, Damage::Corrupt), (20, Damage::Worn)];
        assert_eq!(
            differences(&document, &summary(&fewer)),
            ["from sector 8 on 2 were found as lost-write, and 1 are", "sector 9 was bit-rot, and not found"]
        );
        let sound = [(8, Damage::Lost), (9, Damage::Lost)];
        assert_eq!(differences(&document, &summary(&sound)), ["sector 20 was found as bit-rot, and is sound"]);
        assert_eq!(differences(&json!({}), &summary(&[])), ["the card did nothing wrong"]);
    }

    #[test]
    fn damaged_sectors_of_a_block_need_not_be_adjacent() {
        let document = json!([{"class": "bit-rot", "lba": 8, "sectors": 2}, {"class": "lost-write", "lba": 9, "sectors": 1},
            {"class": "bit-rot", "lba": 16, "sectors": 1}]);
        let damage = [(8, Damage::Worn), (9, Damage::Lost), (13, Damage::Corrupt), (16, Damage::Worn)];
        assert_eq!(differences(&document, &summary(&damage)), [""; 0]);
        let more = [&damage[..], &[(14, Damage::Worn)]].concat();
        assert_eq!(differences(&document, &summary(&more)), ["sector 14 was bit-rot, and not found"]);
    }
}
