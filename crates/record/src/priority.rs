//! The priority that writes of a recording have, as far as it can be known: asked for is not in effect.
//!
//! Real-time I/O priority (ioprio_set(2)) counts where the scheduler of the disk orders by class: mq-deadline and bfq do, `none`
//! and kyber do not (k:block/mq-deadline.c, bfq-iosched.c, kyber-iosched.c).

use model::{IoClass, IoPriority, Stack};
use observe::facts;

/// What came of the wish for priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Priority {
    /// None was asked for.
    NotAsked,
    /// This process may not ask (CAP_SYS_NICE).
    NotPermitted,
    /// It is asked for, and this scheduler orders by it.
    RealTime { scheduler: String },
    /// It is asked for, and this scheduler takes no notice.
    Ignored { scheduler: String },
    /// It is asked for; the scheduler is not known.
    Unknown,
    /// A simulated device has one user.
    Simulated,
}

/// What writes ask for, and what comes of it on the disks below a target.
pub(crate) fn find(stack: &Stack, wanted: bool) -> (Option<IoPriority>, Priority) {
    if !wanted {
        return (None, Priority::NotAsked);
    }
    let asked = IoPriority { class: IoClass::RealTime, level: 0, hint: 0 };
    let before = sys::io_priority();
    // Whether requests may carry it is decided as for threads (k:block/ioprio.c, ioprio_check_cap).
    if sys::set_io_priority(asked.bits()).is_err() {
        return (None, Priority::NotPermitted);
    }
    // It was possible a moment ago.
    let _ = sys::set_io_priority(before);
    let schedulers: Vec<&str> = stack.layers.iter().filter_map(|layer| layer.text(facts::SCHEDULER)).collect();
    let orders = |scheduler: &&str| matches!(*scheduler, "mq-deadline" | "bfq" | "cfq" | "deadline");
    let priority = match (schedulers.iter().copied().find(|s| !orders(s)), schedulers.first()) {
        (Some(ignores), _) => Priority::Ignored { scheduler: ignores.to_owned() },
        (None, Some(scheduler)) => Priority::RealTime { scheduler: (*scheduler).to_owned() },
        (None, None) => Priority::Unknown,
    };
    (Some(asked), priority)
}
