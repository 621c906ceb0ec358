//! `narrows rate`: its document, redeclared with unknown fields denied, and its text.

use crate::contract::Reason;
use crate::documents::holds;
use crate::fixture;
use report::document::RateDocument;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RatedClass {
    class: String,
    met: Option<bool>,
    indication: Option<String>,
    approximation: bool,
    reasons: Vec<Reason>,
    claimed: Option<bool>,
    needs: Vec<ClassNeed>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassNeed {
    what: String,
    metric: String,
    threshold: f64,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    unit: String,
    holds: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rate {
    schema: String,
    answer: Option<String>,
    run_id: String,
    target: String,
    ratings: Vec<RatedClass>,
    capacity: Capacity,
    remarks: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Capacity {
    claimed_bytes: Option<u64>,
    real_bytes: Option<u64>,
    kind: String,
    quick: bool,
    written_bytes: u64,
    reasons: Vec<String>,
}

#[test]
fn the_document_and_the_text_say_what_is_not_known() {
    let s = fixture::sd_card();
    let need = model::ClassNeed {
        what: "random writes/s".into(),
        metric: "rand-write-qd1.iops".into(),
        threshold: 500.0,
        value: None,
        low: None,
        high: None,
        unit: model::Unit::OpsPerS,
        holds: None,
    };
    let rated =
        |rating: &model::Rating| model::RatedClass { rating: rating.clone(), claimed: None, needs: vec![need.clone()] };
    let classes: Vec<_> = s.ratings.iter().map(rated).collect();
    let rate: Rate = holds(&RateDocument::new(&s.run, &classes, None));
    assert_eq!((rate.schema.as_str(), rate.capacity.kind.as_str()), ("narrows/rate/1", "unknown"));
    assert!(rate.ratings.len() == s.ratings.len() && rate.ratings[0].needs[0].value.is_none());
    assert!(rate.capacity.real_bytes.is_none(), "what was not measured is null");
    let text = report::rate(&s.run, &classes, None).text(&report::Style::default());
    assert!(text.contains("no number is valid") && text.lines().all(|l| l.chars().count() <= 80), "{text}");
    let lacks = |r: &model::Rating| model::Rating {
        indication: None,
        reasons: vec![model::Reason::of("missing", "random writes have no value that decides (let it write more)")],
        ..r.clone()
    };
    let unknown: Vec<_> = s.ratings.iter().map(|r| rated(&lacks(r))).collect();
    let said = RateDocument::new(&s.run, &unknown, None).answer.expect("an answer");
    assert!(said.contains(": random writes have no value that decides (let it write more)."), "{said}");
    let fake = model::Capacity {
        claimed_bytes: 64 << 30,
        real_bytes: Some(8 << 30),
        kind: model::CapacityKind::Limbo,
        quick: true,
        written_bytes: 1 << 28,
        verified_bytes: 1 << 28,
        reasons: Vec::new(),
    };
    let rate: Rate = holds(&RateDocument::new(&s.run, &classes, Some(&fake)));
    assert_eq!(
        (rate.capacity.kind.as_str(), rate.capacity.real_bytes, rate.capacity.quick),
        ("limbo", Some(8 << 30), true)
    );
    let text = report::rate(&s.run, &classes, Some(&fake)).text(&report::Style::default());
    assert!(text.contains("A fake: it says") && text.lines().all(|l| l.chars().count() <= 80), "{text}");
}
