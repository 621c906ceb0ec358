//! Packages that are installed, removed and installed again, as calls on files: what is asked. The calls are made by a [`PackageModel`].

use model::{MadePackages, PackageModel, PackagePart, PackageSet, RealPackages, ReplayPlan};

const MAX_PACKAGES: u32 = 4000;

/// Which packages, and which part of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagesJob {
    /// What is done.
    pub part: PackagePart,
    /// How many there are.
    pub count: u32,
    /// How many of them are removed and installed again; `None`: of 400 150, and of others as many in proportion.
    pub removed: Option<u32>,
    /// Whether what is unpacked is synced before it gets its name.
    pub syncs: bool,
    /// How many times as fast as the studied machine it thinks, in thousandths; 0: it does not.
    pub speed_milli: u32,
    /// Whether dpkg itself does it.
    pub is_real: bool,
    /// The directory of the archives that it is done with; without one they are made.
    pub archives: Option<String>,
}

impl Default for PackagesJob {
    fn default() -> Self {
        Self {
            part: PackagePart::Install,
            count: 400,
            removed: None,
            syncs: true,
            speed_milli: 1000,
            is_real: false,
            archives: None,
        }
    }
}

impl PackagesJob {
    /// Checks the job: the mistakes that no plan can be made of.
    pub fn check(&self) -> Result<(), String> {
        match () {
            () if self.count == 0 || self.count > MAX_PACKAGES => {
                Err(format!("{} packages; 1 to {MAX_PACKAGES} are possible", self.count))
            }
            () if self.archives.is_some() && !self.is_real => {
                Err("the model has packages of its own; package-archives is for package-manager=dpkg".to_owned())
            }
            () if self.removed() > self.count => Err(format!(
                "{} of {} packages removed; packages-removed is at most package-count",
                self.removed(),
                self.count
            )),
            () => Ok(()),
        }
    }

    /// How many of them are removed and installed again.
    fn removed(&self) -> u32 {
        self.removed.unwrap_or((u64::from(self.count) * 3 / 8) as u32)
    }

    /// What a plan says of it before its calls are made: which model it is.
    pub fn named(&self) -> ReplayPlan {
        ReplayPlan {
            replay_digest: format!("packages:{}:{}:{}:{}", self.part, self.count, self.removed(), self.syncs),
            replay_threads: 1,
            replay_speed_milli: self.speed_milli,
            replay_pauses: self.speed_milli > 0,
            replay_set: 1,
            replay_real: self.is_real.then(|| RealPackages {
                part: self.part,
                archives: self.archives.clone(),
                removed: self.removed(),
                unsafe_io: !self.syncs,
                made: MadePackages::default(),
            }),
            ..ReplayPlan::default()
        }
    }

    /// All parts with these packages, in their order: their calls.
    fn plans(&self, calls_of: PackageModel) -> [ReplayPlan; 3] {
        let set = PackageSet { count: self.count, removed: self.removed(), syncs: self.syncs, archives: self.is_real };
        let calls = calls_of(set);
        let mut parts = [PackagePart::Install, PackagePart::Remove, PackagePart::Reinstall].into_iter();
        calls.parts.map(|(trace, most)| {
            let part = parts.next().unwrap_or_default();
            let mut plan = Self { part, ..self.clone() }.named().with(trace, most);
            plan.replay_real.iter_mut().for_each(|real| real.made = calls.made.clone());
            plan
        })
    }
}

/// The calls of parts, made once for all parts with the same packages.
#[derive(Debug, Default)]
pub(crate) struct PackagePlans(Vec<(PackagesJob, [ReplayPlan; 3])>);

impl PackagePlans {
    /// The system calls of a part of an installation.
    pub fn plan(&mut self, job: &PackagesJob, calls_of: PackageModel) -> ReplayPlan {
        let whole = PackagesJob { part: PackagePart::Install, ..job.clone() };
        let at = self.0.iter().position(|(known, _)| *known == whole).unwrap_or_else(|| {
            let plans = whole.plans(calls_of);
            self.0.push((whole, plans));
            self.0.len() - 1
        });
        self.0[at].1[job.part as usize].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_packages_have_fewer_that_are_removed() {
        let of = |count, removed| PackagesJob { count, removed, ..PackagesJob::default() };
        let usual = PackagesJob::default();
        assert_eq!((usual.count, usual.removed()), (400, 150));
        assert_eq!((of(100, None).removed(), of(100, None).check()), (37, Ok(())));
        assert_eq!(of(1, None).check(), Ok(()));
        assert!(of(100, Some(150)).check().unwrap_err().contains("at most package-count"));
    }
}
