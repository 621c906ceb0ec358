//! Registers of controllers that are known to hold a cause, and how they are read: only those of [`CATALOGUE`], only if
//! asked ([`crate::ProbeOptions::registers`]), only while the driver named there is bound (so that clocks run), and only through
//! a read-only mapping. Even a read can hang a machine whose device has no clock.
//!
//! A captured tree has the values as files, `/narrows/registers/CONTROLLER/ID`.

use crate::facts;
use crate::read_error::ReadError;
use crate::root::{Root, parse_hex};
use model::{Fact, Layer, Stack};

/// One register that may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in captures.
    pub id: &'static str,
    /// The driver that must be bound.
    pub driver: &'static str,
    /// Any of the controller's compatible strings.
    pub compatible: &'static [&'static str],
    /// From the start of the controller's registers, in bytes; 32 bits are read there.
    pub offset: u64,
    /// The fact that it becomes, on the controller's layer.
    pub fact: &'static str,
    /// What it holds.
    pub meaning: &'static str,
    /// Where that is from.
    pub source: &'static str,
    /// The bits that decide.
    pub mask: u32,
    /// What these bits can be set to with a gain, by the source.
    pub worth: &'static [u32],
    /// Who sets it for good: the driver's file, and what it writes.
    pub set_by: &'static str,
}

/// A register of the path to a target, whose driver is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRegister {
    /// Which.
    pub register: &'static Register,
    /// The controller's name (`1c18000.sata`).
    pub controller: String,
    /// Its physical address; `None` where /proc/iomem does not say it.
    pub address: Option<u64>,
    /// What it holds; `None` unless it was read.
    pub value: Option<u32>,
}

/// The registers of the catalogue on a path. None is read for that; `address` takes root's rights.
pub fn on_path(root: &Root, stack: &Stack) -> Vec<KnownRegister> {
    let of_layer = |layer: &Layer| {
        let Some(Fact::List(compatible)) = layer.fact(facts::DEVICETREE_COMPATIBLE) else { return Vec::new() };
        let known = |register: &'static Register| KnownRegister {
            register,
            controller: layer.name.clone(),
            address: base_address(root, &layer.name).and_then(|base| base.checked_add(register.offset)),
            value: match layer.fact(register.fact) {
                Some(Fact::Int(value)) => u32::try_from(*value).ok(),
                _ => None,
            },
        };
        of_controller(layer.driver.as_deref(), compatible).into_iter().map(known).collect()
    };
    stack.layers.iter().flat_map(of_layer).collect()
}

/// All registers that are ever read.
pub const CATALOGUE: &[Register] = &[Register {
    id: "sunxi-ahci-p0dmacr",
    driver: "ahci-sunxi",
    compatible: &["allwinner,sun4i-a10-ahci", "allwinner,sun8i-r40-ahci"],
    offset: 0x170,
    fact: facts::SUNXI_AHCI_P0DMACR,
    meaning: "DMA control of port 0: transaction sizes TXTS 3:0, RXTS 7:4, bursts TXABL 11:8, RXABL 15:12",
    source: "k:drivers/ata/ahci_sunxi.c AHCI_P0DMACR, ahci_sunxi_start_engine",
    mask: 0xffff,
    worth: &[0x4433],
    set_by: "drivers/ata/ahci_sunxi.c: ahci_sunxi_start_engine sets AHCI_P0DMACR, 0x170 (in Linux since 5.3)",
}];

/// That of a name.
pub fn named(id: &str) -> Option<&'static Register> {
    CATALOGUE.iter().find(|register| register.id == id)
}

/// The registers of a controller by its driver and compatible strings.
pub(crate) fn of_controller(driver: Option<&str>, compatible: &[String]) -> Vec<&'static Register> {
    let ours =
        |r: &&Register| driver == Some(r.driver) && compatible.iter().any(|c| r.compatible.contains(&c.as_str()));
    CATALOGUE.iter().filter(ours).collect()
}

/// The value of a register of a controller (`1c18000.sata`), or why it is not known.
pub(crate) fn read(root: &Root, controller: &str, register: &Register, asked: bool) -> Result<u32, String> {
    let name = format!("registers/{controller}/{}", register.id);
    let how = format!("{} ({}) is only read as root with --read-registers", register.id, register.meaning);
    if !(root.has_answer(&name) || root.is_live() && asked) {
        return Err(how);
    }
    let answer = root.answer(&name, || {
        let base = base_address(root, controller).ok_or(ReadError::Missing)?;
        let address = base.checked_add(register.offset).ok_or(ReadError::Refused)?;
        let value = sys::read_physical_u32(address)?;
        Ok(format!("{value:#010x}\n").into_bytes())
    });
    match answer {
        Ok(bytes) => {
            let value = parse_hex(&String::from_utf8_lossy(&bytes)).and_then(|v| u32::try_from(v).ok());
            value.ok_or_else(|| format!("the capture's value of {} is not a number of 32 bits", register.id))
        }
        Err(ReadError::Denied) => Err(how),
        Err(ReadError::Missing) => Err(format!(
            "{} was not read: /dev/mem is not there, or /proc/iomem does not say where {controller} is",
            register.id
        )),
        Err(ReadError::Refused) => {
            Err(format!("{} was not read: the kernel refuses /dev/mem (CONFIG_STRICT_DEVMEM, lockdown)", register.id))
        }
    }
}

/// Where the registers of a platform device begin: the region that its driver holds, whose start is also the address in
/// the device's name. Both must agree, otherwise nothing is touched.
fn base_address(root: &Root, controller: &str) -> Option<u64> {
    let (address, _) = controller.split_once('.')?;
    let address = parse_hex(address)?;
    region_of(&root.text("/proc/iomem")?, controller).filter(|start| *start == address)
}

/// `01c18000-01c18fff : 1c18000.sata sata@1c18000`. Without root's rights all addresses are zero.
fn region_of(iomem: &str, controller: &str) -> Option<u64> {
    iomem.lines().find_map(|line| {
        let (range, owner) = line.trim().split_once(" : ")?;
        let ours = owner.split_ascii_whitespace().any(|w| w == controller);
        let (start, end) = range.split_once('-')?;
        let (start, end) = (parse_hex(start)?, parse_hex(end)?);
        (ours && start > 0 && start < end).then_some(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_region_that_the_driver_holds_counts() {
        let iomem = "01c16000-01c16fff : hdmi\n01c18000-01c18fff : 1c18000.sata sata@1c18000\n";
        assert_eq!(region_of(iomem, "1c18000.sata"), Some(0x01c1_8000));
        assert_eq!(region_of(iomem, "1c19000.sata"), None);
        assert_eq!(region_of("00000000-00000000 : 1c18000.sata", "1c18000.sata"), None);
        assert_eq!(region_of("x-y : 1c18000.sata\n- : ", "1c18000.sata"), None);
    }

    #[test]
    fn another_driver_or_controller_has_no_register() {
        let compatible = vec!["allwinner,sun4i-a10-ahci".to_owned()];
        assert_eq!(of_controller(Some("ahci-sunxi"), &compatible).len(), 1);
        assert_eq!(of_controller(Some("ahci"), &compatible).len(), 0);
        assert_eq!(of_controller(None, &compatible).len(), 0);
        assert_eq!(of_controller(Some("ahci-sunxi"), &["x".to_owned()]).len(), 0);
    }
}
