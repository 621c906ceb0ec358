//! What goes on, for others to read: OpenMetrics text (<https://prometheus.io/docs/specs/om/open_metrics_spec/>), in a file or
//! for whoever connects to a socket.

use crate::output_file;
use model::Failure;
use record::{RecordProgress, bind};
use recorder::StreamCounters;
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A file is written that often.
const EVERY: Duration = Duration::from_secs(1);

/// Where metrics go.
pub(super) struct Metrics {
    path: PathBuf,
    /// Of a socket: what the next one who connects is told.
    latest: Option<Arc<Mutex<String>>>,
    written: Cell<Option<Instant>>,
}

impl Metrics {
    /// A socket where the name says so, else a file.
    ///
    /// # Errors
    /// It cannot be made, or written.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let written = Cell::new(None);
        if path.extension().is_none_or(|e| e != "sock") {
            output_file::check(path)?;
            return Ok(Self { path: path.to_owned(), latest: None, written });
        }
        let cannot = |e: std::io::Error| Failure::environment(format!("{}: {e}", path.display()));
        let socket = bind(path)?;
        let latest = Arc::new(Mutex::new(String::new()));
        let served = Arc::clone(&latest);
        let serve = move || {
            for mut connection in socket.incoming().flatten() {
                let text = served.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let _ = connection.set_write_timeout(Some(EVERY));
                let _ = connection.write_all(text.as_bytes());
            }
        };
        std::thread::Builder::new().name("metrics".into()).spawn(serve).map_err(cannot)?;
        Ok(Self { path: path.to_owned(), latest: Some(latest), written })
    }

    /// What is so now. That it cannot be written is no reason to record no more.
    pub fn tell(&self, now: &RecordProgress) {
        match &self.latest {
            Some(latest) => *latest.lock().unwrap_or_else(PoisonError::into_inner) = text(now),
            None if self.written.get().is_none_or(|written| written.elapsed() >= EVERY) => {
                self.written.set(Some(Instant::now()));
                // A reader sees the one or the other, never a part.
                let name = self.path.file_name().unwrap_or_default().to_string_lossy();
                let part = self.path.with_file_name(format!(".{name}.{}", std::process::id()));
                if output_file::write(&part, text(now).as_bytes()).is_ok() {
                    let _ = std::fs::rename(&part, &self.path);
                }
            }
            None => {}
        }
    }

    /// How it ended.
    pub fn tell_last(&self, now: &RecordProgress) {
        self.written.set(None);
        self.tell(now);
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        if self.latest.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A label's value (OpenMetrics, "escaped-string").
fn label(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

fn text(now: &RecordProgress) -> String {
    let mut out = String::new();
    let mut family = |name: &str, kind: &str, unit: &str, help: &str, rows: Vec<(String, f64)>| {
        let full = format!("narrows_record_{name}");
        let _ = writeln!(out, "# TYPE {full} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(out, "# UNIT {full} {unit}");
        }
        let _ = writeln!(out, "# HELP {full} {help}");
        let suffix = if kind == "counter" { "_total" } else { "" };
        for (labels, value) in rows {
            let _ = writeln!(out, "{full}{suffix}{labels} {value}");
        }
    };
    let by_stream = |of: &dyn Fn(&StreamCounters) -> f64| -> Vec<(String, f64)> {
        let row = |s: &StreamCounters| (format!("{{stream=\"{}\"}}", label(&s.name.name)), of(s));
        now.streams.iter().map(row).collect()
    };
    let dropped = now.streams.iter().flat_map(|s| {
        let name = label(&s.name.name);
        let row = move |(loss, n): &(recorder::Loss, u64)| {
            (format!("{{stream=\"{name}\",reason=\"{}\"}}", loss.name()), *n as f64)
        };
        s.lost.iter().map(row).collect::<Vec<_>>()
    });
    family("frames_received", "counter", "", "Frames that came.", by_stream(&|s| s.received as f64));
    family(
        "frames_durable",
        "counter",
        "",
        "Frames that are on the storage, flushed.",
        by_stream(&|s| s.durable as f64),
    );
    family("frames_dropped", "counter", "", "Frames that were lost, by reason.", dropped.collect());
    family("frames_in_flight", "gauge", "", "Frames that are neither.", by_stream(&|s| s.in_flight() as f64));
    family("received_bytes", "counter", "bytes", "Bytes of frames that came.", by_stream(&|s| s.received_bytes as f64));
    family("durable_bytes", "counter", "bytes", "Bytes of durable frames.", by_stream(&|s| s.durable_bytes as f64));
    let blocked = by_stream(&|s| s.blocked_ns as f64 / 1e9);
    family("blocked_seconds", "counter", "seconds", "Time for which a producer waited for the ring.", blocked);
    let ring = now.ring;
    family(
        "ring_used_bytes",
        "gauge",
        "bytes",
        "Memory that holds frames.",
        vec![(String::new(), ring.used_bytes as f64)],
    );
    family("ring_bytes", "gauge", "bytes", "Memory for frames.", vec![(String::new(), ring.size_bytes as f64)]);
    family(
        "elapsed_seconds",
        "gauge",
        "seconds",
        "Since the start.",
        vec![(String::new(), now.elapsed_ns as f64 / 1e9)],
    );
    out.push_str("# EOF\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::RingLevel;
    use recorder::{FrameKind, Loss, StreamName};

    #[test]
    fn the_text_has_every_stream_and_reason_and_ends() {
        let name = StreamName { stream: 0, kind: FrameKind::Jpeg, name: "a\"b".into() };
        let lost = vec![(Loss::RingFull, 2), (Loss::CutOff, 1)];
        let counted = StreamCounters {
            name,
            received: 10,
            durable: 4,
            lost,
            blocked_ns: 1_500_000_000,
            ..StreamCounters::default()
        };
        let text = text(&RecordProgress {
            streams: vec![counted],
            elapsed_ns: 2_000_000_000,
            ring: RingLevel { used_bytes: 5, size_bytes: 10 },
        });
        for line in [
            "narrows_record_frames_received_total{stream=\"a\\\"b\"} 10",
            "narrows_record_frames_dropped_total{stream=\"a\\\"b\",reason=\"ring-full\"} 2",
            "narrows_record_frames_dropped_total{stream=\"a\\\"b\",reason=\"cut-off\"} 1",
            "narrows_record_frames_in_flight{stream=\"a\\\"b\"} 3",
            "narrows_record_blocked_seconds_total{stream=\"a\\\"b\"} 1.5",
            "narrows_record_ring_used_bytes 5",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
