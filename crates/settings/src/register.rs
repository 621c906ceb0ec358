//! A register of a controller: bits of 32, read, written and undone through /dev/mem while its driver is bound.

use crate::error::{Result, SettingError};
use crate::value::Tree;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bits of a register, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterBits {
    /// Physical address, a multiple of four.
    pub address: u64,
    /// The bits that are set; the others stay as they are.
    pub mask: u32,
    /// The platform device whose register it is (`1c18000.sata`).
    pub controller: String,
    /// The driver that has to be bound to it: without one its clock may stand, and an access hangs the machine.
    pub driver: String,
}

/// Where it is, as a person would look for it.
impl fmt::Display for RegisterBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "register {:#010x} of {}", self.address, self.controller)
    }
}

impl RegisterBits {
    fn access(&self, done: &'static str) -> impl Fn(std::io::Error) -> SettingError {
        let path = self.to_string();
        move |source| SettingError::Access { path: path.clone(), done, source }
    }

    /// Whether the driver is bound, and holds the address (/proc/iomem): a journal is not taken at its word.
    fn is_there(&self, tree: &Tree) -> Result<()> {
        let names_one = |name: &str| !name.is_empty() && !name.contains('/') && name != "..";
        let devices = format!("/sys/bus/platform/drivers/{}", self.driver);
        let bound =
            names_one(&self.controller) && names_one(&self.driver) && tree.names(&devices).contains(&self.controller);
        if !bound {
            return Err(SettingError::Missing(format!("{self}: its driver {}", self.driver)));
        }
        let held = tree.iomem().lines().any(|line| self.is_within(line));
        let why = "/proc/iomem says that its driver does not hold the address";
        if held { Ok(()) } else { Err(SettingError::Outside(self.to_string(), why)) }
    }

    /// Of a line such as `01c18000-01c18fff : 1c18000.sata sata@1c18000`.
    fn is_within(&self, line: &str) -> bool {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let range = |line: &str| {
            let (range, owner) = line.trim().split_once(" : ")?;
            let (start, end) = range.split_once('-')?;
            owner.split_ascii_whitespace().any(|word| word == self.controller).then_some(())?;
            Some(number(start)?..=number(end)?)
        };
        range(line).is_some_and(|range| range.contains(&self.address))
    }

    /// Its bits.
    ///
    /// # Errors
    /// The driver is not bound, or /dev/mem is not there or refused.
    pub fn read(&self, tree: &Tree) -> Result<u32> {
        self.is_there(tree)?;
        Ok(sys::read_physical_u32(self.address).map_err(self.access("read"))? & self.mask)
    }

    /// Sets its bits, and looks whether they are set.
    ///
    /// # Errors
    /// As [`RegisterBits::read`], and that other bits are in force.
    pub fn write(&self, tree: &Tree, value: u32) -> Result<()> {
        self.is_there(tree)?;
        let rest = sys::read_physical_u32(self.address).map_err(self.access("read"))? & !self.mask;
        sys::write_physical_u32(self.address, rest | value & self.mask).map_err(self.access("written"))?;
        let now = self.read(tree)?;
        if now == value & self.mask {
            return Ok(());
        }
        Err(SettingError::NotTaken {
            path: self.to_string(),
            value: format!("{value:#x}"),
            why: format!("it reads {now:#x}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_its_driver_nothing_is_touched() {
        let directory = tempfile::tempdir().unwrap();
        let tree = Tree::below(directory.path()).unwrap();
        let register = |controller: &str| RegisterBits {
            address: 0x01c1_8170,
            mask: 0xff,
            controller: controller.to_owned(),
            driver: "ahci-sunxi".to_owned(),
        };
        for controller in ["1c18000.sata", "..", "a/b", ""] {
            let error = register(controller).write(&tree, 0x33).unwrap_err().to_string();
            assert!(error.contains("its driver ahci-sunxi cannot be read"), "{error}");
        }
    }

    #[test]
    fn an_address_that_its_driver_does_not_hold_is_not_touched() {
        let directory = tempfile::tempdir().unwrap();
        let devices = directory.path().join("sys/bus/platform/drivers/ahci-sunxi/1c18000.sata");
        std::fs::create_dir_all(devices).unwrap();
        std::fs::create_dir_all(directory.path().join("proc")).unwrap();
        let iomem = "01c16000-01c16fff : hdmi\n01c18000-01c18fff : 1c18000.sata sata@1c18000\n";
        std::fs::write(directory.path().join("proc/iomem"), iomem).unwrap();
        let tree = Tree::below(directory.path()).unwrap();
        let (controller, driver) = ("1c18000.sata".to_owned(), "ahci-sunxi".to_owned());
        let register =
            |address| RegisterBits { address, mask: 0xff, controller: controller.clone(), driver: driver.clone() };
        for address in [0, 0x01c1_6000, 0x01c1_9000] {
            let error = register(address).read(&tree).unwrap_err().to_string();
            assert!(error.contains("does not hold the address"), "{error}");
        }
        assert!(register(0x01c1_8170).is_there(&tree).is_ok());
    }
}
