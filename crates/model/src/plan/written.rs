//! A phase as a document has it: of a stream the engine and the access are written only where they are not the phase's.

use super::{Access, EngineKind, PhaseKind, PhasePlan, StopRule, StreamPlan, Warmup, is_default};
use crate::Reason;
use serde::{Deserialize, Serialize};

/// The document of a [`PhasePlan`].
#[derive(Serialize, Deserialize)]
pub(super) struct WrittenPhase {
    name: String,
    kind: PhaseKind,
    engine: EngineKind,
    access: Access,
    cold: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    drop_cache: bool,
    streams: Vec<WrittenStream>,
    time_limit_ns: u64,
    stop: StopRule,
    warmup: Warmup,
    #[serde(default, skip_serializing_if = "is_default")]
    ranks: Option<u32>,
    #[serde(default, with = "crate::reason::as_line")]
    skip: Option<Reason>,
}

/// The document of a stream of it.
#[derive(Serialize, Deserialize)]
struct WrittenStream {
    #[serde(flatten)]
    stream: StreamPlan,
    #[serde(default, skip_serializing_if = "is_default")]
    engine: Option<EngineKind>,
    #[serde(default, skip_serializing_if = "is_default")]
    access: Option<Access>,
}

impl From<PhasePlan> for WrittenPhase {
    fn from(phase: PhasePlan) -> Self {
        let PhasePlan {
            name,
            kind,
            engine,
            access,
            cold,
            drop_cache,
            streams,
            time_limit_ns,
            stop,
            warmup,
            ranks,
            skip,
        } = phase;
        let written = |stream: StreamPlan| WrittenStream {
            engine: Some(stream.path.engine).filter(|own| *own != engine),
            access: Some(stream.path.access).filter(|own| *own != access),
            stream,
        };
        let streams = streams.into_iter().map(written).collect();
        Self { name, kind, engine, access, cold, drop_cache, streams, time_limit_ns, stop, warmup, ranks, skip }
    }
}

impl From<WrittenPhase> for PhasePlan {
    fn from(phase: WrittenPhase) -> Self {
        let WrittenPhase {
            name,
            kind,
            engine,
            access,
            cold,
            drop_cache,
            streams,
            time_limit_ns,
            stop,
            warmup,
            ranks,
            skip,
        } = phase;
        let read = |written: WrittenStream| {
            let mut stream = written.stream;
            stream.path.engine = written.engine.unwrap_or(engine);
            stream.path.access = written.access.unwrap_or(access);
            stream
        };
        let streams = streams.into_iter().map(read).collect();
        Self { name, kind, engine, access, cold, drop_cache, streams, time_limit_ns, stop, warmup, ranks, skip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_says_its_engine_and_access_only_where_they_are_its_own() {
        let phase = PhasePlan {
            engine: EngineKind::Psync,
            access: Access::Direct,
            streams: vec![StreamPlan::default(); 2],
            ..PhasePlan::default()
        };
        let mut phase = phase.alike();
        phase.streams[1].path.engine = EngineKind::Mmap;
        phase.streams[1].path.access = Access::Buffered;
        let mut json = serde_json::to_value(&phase).unwrap();
        assert_eq!(serde_json::from_value::<PhasePlan>(json.clone()).unwrap(), phase);
        let said = |n: usize, key: &str| json["streams"][n].get(key).cloned();
        assert_eq!((said(0, "engine"), said(0, "access")), (None, None));
        assert_eq!((said(1, "engine"), said(1, "access")), (Some("mmap".into()), Some("buffered".into())));
        // Bundles of the first versions said null.
        json["streams"][1]["engine"] = serde_json::Value::Null;
        json["streams"][1]["access"] = serde_json::Value::Null;
        assert_eq!(serde_json::from_value::<PhasePlan>(json).unwrap(), phase.alike());
    }
}
