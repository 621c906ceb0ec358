//! Bundles of earlier versions, brought to the form of today before they are read.

use serde_json::Value;

/// What phases that copy memory were called while they were a kind of their own: no phase of today is called so.
const MEMORY_COPY: &str = "memory-copy";

/// The text of a run.json in today's form; one that is of today comes back as it was.
pub(crate) fn upgraded(content: Vec<u8>) -> Vec<u8> {
    let is_old = content.windows(MEMORY_COPY.len()).any(|at| at == MEMORY_COPY.as_bytes());
    let Some(mut run) = is_old.then(|| serde_json::from_slice::<Value>(&content).ok()).flatten() else {
        return content;
    };
    let mut renamed = false;
    let mut rename = |plan: &mut Value| {
        if plan["kind"] == MEMORY_COPY {
            (plan["kind"], plan["engine"]) = ("measure".into(), "memory".into());
            renamed = true;
        }
    };
    list(run.pointer_mut("/phases")).filter_map(|phase| phase.get_mut("plan")).for_each(&mut rename);
    list(run.pointer_mut("/plan/phases")).for_each(&mut rename);
    if renamed { serde_json::to_vec(&run).unwrap_or(content) } else { content }
}

fn list(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_memory_are_no_kind_of_phase_any_more() {
        let text = br#"{"plan":{"phases":[{"kind":"memory-copy","engine":"sim"}]},"phases":[{"plan":{"kind":"memory-copy","engine":"sim"}},{"plan":{"kind":"layout","engine":"sim"}}]}"#;
        let now: Value = serde_json::from_slice(&upgraded(text.to_vec())).unwrap();
        let copy = serde_json::json!({"kind": "measure", "engine": "memory"});
        assert_eq!((&now["plan"]["phases"][0], &now["phases"][0]["plan"]), (&copy, &copy));
        assert_eq!(now["phases"][1]["plan"]["engine"], "sim");
    }

    #[test]
    fn what_is_of_today_or_no_json_is_left_as_it_is() {
        for text in [
            &br#"{"command": "narrows check memory-copy",   "phases": 1}"#[..],
            b"memory-copy",
            b"{}",
            br#"["memory-copy"]"#,
            br#"{"phases":[1,{"plan":"memory-copy"}],"plan":[]}"#,
        ] {
            assert_eq!(upgraded(text.to_vec()), text);
        }
    }
}
