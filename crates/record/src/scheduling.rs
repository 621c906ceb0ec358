//! Nice value and CPUs of the recorder's threads: asked for before they start, which they inherit, and read back in the writer's.
//!
//! On Linux both are a thread's own (setpriority(2), "C library/kernel differences"; sched_setaffinity(2)). Where the kernel groups
//! sessions (sched(7), "The autogroup feature"), a nice value counts among the processes of one session only.

use model::Failure;

/// What holds for the writer's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// getpriority(2); `None` where it cannot be read.
    pub nice: Option<i32>,
    /// sched_getaffinity(2), ascending; `None` where it cannot be read.
    pub cpus: Option<Vec<u32>>,
}

impl Scheduling {
    /// Of the calling thread.
    pub(crate) fn in_effect() -> Self {
        Self { nice: sys::nice().ok(), cpus: sys::affinity().ok() }
    }
}

/// Of the calling thread, and all that it starts from now on.
///
/// # Errors
/// It is not permitted, or there is no such CPU.
pub(crate) fn ask(nice: Option<i32>, cpus: Option<&[u32]>) -> Result<(), Failure> {
    if let Some(cpus) = cpus {
        // None of them at all is an error of the call; of some, the kernel takes those that there are.
        let permitted = sys::affinity().unwrap_or_default();
        let taken = sys::set_affinity(cpus).and_then(|()| sys::affinity());
        let missing = match &taken {
            Ok(taken) => cpus.iter().find(|cpu| !taken.contains(cpu)),
            // EINVAL.
            Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => cpus.first(),
            Err(e) => return Err(refused(format!("--cpus: {e}"))),
        };
        if let Some(cpu) = missing {
            let _ = sys::set_affinity(&permitted);
            let permitted: Vec<String> = permitted.iter().map(u32::to_string).collect();
            let what = format!("--cpus: there is no CPU {cpu}, or this process may not run on it");
            return Err(refused(what).remedy(format!("it runs on {}; lscpu lists all", permitted.join(", "))));
        }
    }
    if let Some(nice) = nice {
        sys::set_nice(nice).map_err(|e| {
            let failure = refused(format!("--nice {nice}: {e}"));
            // EACCES and EPERM.
            if e.kind() == std::io::ErrorKind::PermissionDenied {
                failure.remedy("a lower value than that of now needs root (CAP_SYS_NICE)")
            } else {
                failure
            }
        })?;
    }
    Ok(())
}

fn refused(what: String) -> Failure {
    Failure::environment(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own, whose end ends what was asked for.
    fn aside<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
        std::thread::spawn(what).join().unwrap()
    }

    #[test]
    fn threads_that_are_started_later_have_it_too() {
        let before = Scheduling::in_effect();
        let (nice, cpu) = (before.nice.unwrap(), before.cpus.as_ref().unwrap()[0]);
        let wanted = (nice + 3).min(19);
        let found = aside(move || {
            ask(Some(wanted), Some(&[cpu])).unwrap();
            aside(Scheduling::in_effect)
        });
        assert_eq!(found, Scheduling { nice: Some(wanted), cpus: Some(vec![cpu]) });
        assert_eq!(Scheduling::in_effect(), before, "others are as they were");
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named_and_nothing_stays_changed() {
        for also_there in [true, false] {
            let (found, said) = aside(move || {
                let first = sys::affinity().unwrap()[0];
                let cpus = if also_there { vec![first, 1023] } else { vec![1023] };
                let said = ask(None, Some(&cpus)).unwrap_err().to_string();
                (Scheduling::in_effect(), said)
            });
            assert!(said.contains("no CPU 1023"), "{said}");
            assert_eq!(found, Scheduling::in_effect());
        }
    }
}
