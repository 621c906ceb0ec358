//! Packages that are installed, removed and installed again, as calls on files.

mod dpkg;
mod set;
mod tree;

use dpkg::Dpkg;
use model::{MadePackage, MadePackages, PackageCalls, PackageSet};
use set::Package;
use std::sync::Arc;

/// What a board like the studied one (NanoPi M4, RK3399) and its network do beside its storage: chosen with the published seconds of its fastest
/// cards in view (docs/history/performance.md, "Predictions").
mod think {
    use model::Ns;

    /// A package is unpacked: dpkg-deb and tar are started.
    pub const UNPACK_NS: Ns = 60_000_000;
    /// And its data are unpacked.
    pub const UNPACK_NS_PER_KIB: u64 = 70_000;
    /// Time for configuring a package: its scripts run.
    pub const CONFIGURE_NS: Ns = 90_000_000;
    /// Time for removing a package.
    pub const REMOVE_NS: Ns = 130_000_000;
    /// Time for downloading an archive, per KiB.
    pub const DOWNLOAD_NS_PER_KIB: u64 = 100_000;
}

/// The calls of all parts with these packages, in their order.
pub fn package_calls(wanted: PackageSet) -> PackageCalls {
    let set = set::packages(wanted.count as usize, wanted.removed as usize);
    let all: Vec<(usize, &Package)> = set.iter().enumerate().collect();
    let (removed, kept): (Vec<_>, Vec<_>) = all.iter().copied().partition(|(_, package)| package.is_removed);
    let lists = |packages: &[(usize, &Package)]| packages.iter().map(|(i, p)| (*i, listed(p, *i))).collect::<Vec<_>>();
    let mut dpkg = Dpkg::new(wanted.syncs);
    dpkg.download(&all);
    dpkg.install(&all, &[]);
    let install = dpkg.take();
    dpkg.remove(&removed, &lists(&all));
    let remove = dpkg.take();
    dpkg.install(&removed, &lists(&kept));
    let made = if wanted.archives { built_packages(&set) } else { Vec::new() };
    PackageCalls { parts: [install, remove, dpkg.take()], made: MadePackages(Arc::new(made)) }
}

/// Bytes of the list of a package's files.
fn listed(package: &Package, index: usize) -> u64 {
    tree::entries(package, index).iter().map(|(path, _)| path.len() as u64 + 2).sum()
}

/// What archives of these packages hold.
fn built_packages(set: &[Package]) -> Vec<MadePackage> {
    let one = |(index, package): (usize, &Package)| MadePackage {
        name: tree::name_of(index),
        control: package.control.clone(),
        entries: tree::entries(package, index),
        is_removed: package.is_removed,
    };
    set.iter().enumerate().map(one).collect()
}
