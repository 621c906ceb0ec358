//! What several layers, and the paths of several disks, share: read once, however many disks there are.

use crate::pci_names;
use crate::root::Root;
use crate::settings::Settings;
use model::Layer;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

/// Tables of machines with hundreds of CPUs are long.
const INTERRUPTS_LIMIT_BYTES: u64 = 8 << 20;

/// Of one machine, at one moment.
pub(crate) struct MachineContext {
    pub settings: Settings,
    interrupts: OnceCell<String>,
    host: OnceCell<Layer>,
    /// By vendor and device.
    names: RefCell<BTreeMap<(u64, u64), Option<String>>>,
}

impl MachineContext {
    pub(crate) fn of(root: &Root) -> Self {
        Self {
            settings: Settings::read(root),
            interrupts: OnceCell::new(),
            host: OnceCell::new(),
            names: RefCell::default(),
        }
    }

    /// /proc/interrupts.
    pub(super) fn interrupts(&self, root: &Root) -> &str {
        self.interrupts.get_or_init(|| {
            let bytes = root.read_up_to("/proc/interrupts", INTERRUPTS_LIMIT_BYTES).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    /// The host layer, without what was asked beyond /proc and /sys.
    pub(super) fn host(&self, root: &Root) -> Layer {
        let host = self.host.get_or_init(|| {
            let mut host = crate::host::layer(root);
            self.settings.on_host(&mut host);
            host
        });
        host.clone()
    }

    /// Name of a PCI device.
    pub(super) fn pci_name(&self, vendor: u64, device: u64) -> Option<String> {
        let mut names = self.names.borrow_mut();
        names.entry((vendor, device)).or_insert_with(|| pci_names::device(vendor, device)).clone()
    }
}
