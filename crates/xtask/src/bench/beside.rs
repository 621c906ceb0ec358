//! Programs that keep the CPUs busy beside a benchmark, as on a machine that does other work.

use anyhow::Context;
use std::process::{Child, Command, Stdio};

/// They end when they are dropped, or within a second or so of the end of this process.
pub struct BusyLoops(Vec<Child>);

/// `$1` is this process: a loop whose benchmark was killed does not go on.
const LOOP: &str = "while kill -0 \"$1\" 2>/dev/null; do i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; done";

impl BusyLoops {
    /// # Errors
    /// A shell cannot be started.
    pub fn start(number: u32) -> anyhow::Result<Self> {
        let mut running = Self(Vec::new());
        for _ in 0..number {
            let mut command = Command::new("sh");
            command.args(["-c", LOOP, "busy-loop", &std::process::id().to_string()]).stdin(Stdio::null());
            running.0.push(command.spawn().context("a busy loop: sh")?);
        }
        Ok(running)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself has nothing to be ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_run_until_they_are_dropped() {
        let loops = BusyLoops::start(2).unwrap();
        let ids: Vec<u32> = loops.0.iter().map(Child::id).collect();
        let there = |id: &u32| std::path::Path::new(&format!("/proc/{id}")).exists();
        assert!(ids.len() == 2 && ids.iter().all(there));
        drop(loops);
        assert!(!ids.iter().any(there));
    }
}
