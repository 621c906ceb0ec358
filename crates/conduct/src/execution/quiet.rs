//! Waiting for a quiet machine before a run: nothing taken by the hypervisor, processors that are idle, nobody at the disk.

use model::{Ns, SystemSample, cpu_share, cpu_share_total, quiet_window};

/// How long each look is.
pub(super) const LOOK_NS: Ns = 1_000_000_000;
/// Looks in a row that find it quiet: what others do comes in bursts.
const LOOKS: u32 = 3;
/// Share of all processors that may be in use: with more, a worker of ours has to wait for one.
const BUSY_LIMIT: f64 = 0.5;

/// What speaks against a quiet machine between two samples in which this program was silent; `None` where nothing does.
pub(super) fn disturbed(before: &SystemSample, after: &SystemSample, disks: &[String]) -> Option<String> {
    let steal = before.cpus.iter().zip(&after.cpus).filter_map(|(a, b)| cpu_share(a, b)).map(|s| s.steal);
    let steal = steal.fold(0.0, f64::max);
    if steal > judge::validity::STEAL_LIMIT {
        return Some(format!("the hypervisor took {:.0} % of a CPU's time", steal * 100.0));
    }
    let busy = cpu_share_total(before, after).map_or(0.0, |s| s.user + s.system + s.irq);
    if busy > BUSY_LIMIT {
        return Some(format!("other programs used {:.0} % of the processors", busy * 100.0));
    }
    let window = quiet_window(before, after, disks).filter(|w| w.length_ns > 0)?;
    let at_disk = window.busy_ns.map_or(0.0, |ns| ns as f64 / window.length_ns as f64);
    (at_disk > judge::validity::FOREIGN_LIMIT)
        .then(|| format!("the disk was busy with others' requests {:.0} % of the time", at_disk * 100.0))
}

/// How the waiting goes.
pub(super) struct Waiting {
    most_ns: Ns,
    waited_ns: Ns,
    quiet: u32,
    last: Option<String>,
}

impl Waiting {
    pub fn new(most_ns: Ns) -> Self {
        Self { most_ns, waited_ns: 0, quiet: 0, last: None }
    }

    /// How long the next look is; `None` where it is over.
    pub fn next_look(&self) -> Option<Ns> {
        let left = self.most_ns.saturating_sub(self.waited_ns);
        (self.quiet < LOOKS && left > 0).then(|| left.min(LOOK_NS))
    }

    /// What a look found.
    pub fn looked(&mut self, ns: Ns, disturbed: Option<String>) {
        self.waited_ns = self.waited_ns.saturating_add(ns.max(1));
        self.quiet = if disturbed.is_some() { 0 } else { self.quiet + 1 };
        self.last = disturbed.or(self.last.take());
    }

    /// What has to be said with the run.
    pub fn remark(&self) -> Option<String> {
        let seconds = self.waited_ns as f64 / 1e9;
        let last = self.last.as_ref()?;
        Some(if self.quiet >= LOOKS {
            format!("waited {seconds:.0} s for a quiet machine: {last}")
        } else {
            format!("the machine was not quiet within {seconds:.0} s ({last}); it was measured all the same")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CpuTicks, DiskCounters};

    fn sample(at_s: u64, cpu: CpuTicks, busy_ms: u64) -> SystemSample {
        let disk = DiskCounters { name: "sda".into(), busy_ms, ..DiskCounters::default() };
        SystemSample { at_ns: at_s * LOOK_NS, cpus: vec![cpu; 2], disks: vec![disk], ..SystemSample::default() }
    }

    #[test]
    fn steal_others_programs_and_others_requests_are_no_quiet() {
        let disks = ["sda".to_owned()];
        let between = |cpu, busy_ms| disturbed(&sample(1, CpuTicks::default(), 0), &sample(2, cpu, busy_ms), &disks);
        let idle = |idle| CpuTicks { idle, ..CpuTicks::default() };
        assert_eq!(between(idle(100), 20), None);
        assert!(between(CpuTicks { steal: 8, ..idle(92) }, 0).unwrap().contains("hypervisor took 8 %"));
        assert!(between(CpuTicks { user: 60, ..idle(40) }, 0).unwrap().contains("60 % of the processors"));
        assert!(between(idle(100), 900).unwrap().contains("90 % of the time"));
    }

    #[test]
    fn it_waits_for_three_quiet_looks_and_not_longer_than_it_may() {
        let mut waiting = Waiting::new(10 * LOOK_NS);
        for found in [None, Some("steal".to_owned()), None, None, None] {
            let look = waiting.next_look().expect("another look");
            waiting.looked(look, found);
        }
        assert_eq!(
            (waiting.next_look(), waiting.remark().unwrap().as_str()),
            (None, "waited 5 s for a quiet machine: steal")
        );
        let mut never = Waiting::new(2 * LOOK_NS + 1);
        while let Some(look) = never.next_look() {
            never.looked(look, Some("steal".to_owned()));
        }
        assert!(never.waited_ns <= 2 * LOOK_NS + 1 && never.remark().unwrap().starts_with("the machine was not quiet"));
        let mut quiet = Waiting::new(10 * LOOK_NS);
        (0..3).for_each(|_| quiet.looked(LOOK_NS, None));
        assert_eq!((quiet.next_look(), quiet.remark()), (None, None));
    }
}
