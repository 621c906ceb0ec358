//! Raw flash: NOR and NAND behind the MTD layer (k:drivers/mtd/mtdcore.c, mtd/spi-nor/sysfs.c; device tree bindings mtd/*).
//!
//! The class device `mtdN` hangs on the chip's device, a partition on its master's. What the device tree says of the
//! chip is its bus: width of a parallel one, clock and lines of a serial one.

use super::StackBuilder;
use super::ancestor::{Ancestor, adapter, ancestors};
use super::below::LayersBelow;
use crate::ceiling::Ceiling;
use crate::facts;
use crate::root::Root;
use model::{Layer, LayerKind};

/// Completes the disk and describes its bus and controller.
pub(super) fn attach(root: &Root, disk: &mut Layer, mtd: &str) -> LayersBelow {
    let class = format!("/sys/class/mtd/{mtd}");
    let number = |file: &str| root.number::<u64>(&format!("{class}/{file}"));
    disk.set(facts::MODEL, root.text(&format!("{class}/name")));
    disk.set(facts::MTD_TYPE, root.text(&format!("{class}/type")));
    for (fact, file) in [
        (facts::SIZE_BYTES, "size"),
        (facts::MTD_WRITE_SIZE_BYTES, "writesize"),
        (facts::MTD_SUBPAGE_SIZE_BYTES, "subpagesize"),
        (facts::MTD_ERASE_SIZE_BYTES, "erasesize"),
        (facts::MTD_OOB_SIZE_BYTES, "oobsize"),
        (facts::MTD_CORRECTED_BITS, "corrected_bits"),
        (facts::MTD_ECC_FAILURES, "ecc_failures"),
        (facts::MTD_BAD_BLOCKS, "bad_blocks"),
        (facts::MTD_BITFLIP_THRESHOLD, "bitflip_threshold"),
        (facts::MTD_ECC_STRENGTH, "ecc_strength"),
    ] {
        disk.set(fact, number(file));
    }
    let mut below = LayersBelow::default();
    let Some(directory) = root.canonical(&class) else { return below };
    let chain = ancestors(root, &directory);
    let master = chain.iter().find(|a| a.subsystem.as_deref() == Some("mtd")).map(|a| a.name.clone());
    disk.set(facts::MTD_MASTER, master);
    let chip = chain.iter().position(|a| a.subsystem.as_deref() != Some("mtd") && a.driver.is_some());
    let flash = chip.and_then(|at| chain.get(at));
    disk.set(facts::MTD_FLASH_DRIVER, flash.and_then(|a| a.driver.clone()));
    let serial = flash.is_some_and(|a| a.subsystem.as_deref() == Some("spi"));
    let text = |file: &str| flash.and_then(|a| root.text(&format!("{}/{file}", a.path)));
    disk.set(facts::MTD_JEDEC_ID, text("spi-nor/jedec_id"));
    disk.set(facts::MTD_PART_NAME, text("spi-nor/partname"));
    below.link = flash.map(|flash| if serial { serial_bus(root, flash) } else { parallel_bus(root, flash) });
    // A serial chip hangs on its controller; a parallel one is itself what the driver of the mapping serves.
    below.controller = chip.and_then(|at| adapter(&chain[at + usize::from(serial)..]));
    below
}

/// A number of the device tree: 32 bits, most significant byte first.
fn cell(root: &Root, device: &str, property: &str) -> Option<u32> {
    let bytes = root.read(&format!("{device}/of_node/{property}")).ok()?;
    // Text trees end every file with a line end.
    let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

fn serial_bus(root: &Root, flash: &Ancestor) -> Layer {
    let mut layer = Layer::new(LayerKind::Link, flash.name.clone());
    let clock = cell(root, &flash.path, "spi-max-frequency");
    let has_node = root.exists(&format!("{}/of_node/compatible", flash.path));
    let lines = cell(root, &flash.path, "spi-rx-bus-width").or(has_node.then_some(1));
    layer.set(facts::SPI_MAX_HZ, clock);
    layer.set(facts::SPI_READ_LINES, lines);
    let fast = root.exists(&format!("{}/of_node/m25p,fast-read", flash.path));
    layer.set(facts::SPI_FAST_READ, has_node.then_some(fast));
    if let Some((clock, lines)) = clock.zip(lines).filter(|(clock, lines)| *clock > 0 && (1..=8).contains(lines)) {
        Ceiling {
            bytes_per_s: u64::from(clock) * u64::from(lines) / 8,
            realistic_bytes_per_s: None,
            source: format!(
                "SPI: at most {clock} Hz x {lines} line{} (device tree)",
                if lines == 1 { "" } else { "s" }
            ),
        }
        .set_on(&mut layer);
    }
    layer
}

/// Memory-mapped: its width is known from the device tree at best, its timing from nowhere.
fn parallel_bus(root: &Root, flash: &Ancestor) -> Layer {
    let mut layer = Layer::new(LayerKind::Link, flash.name.clone());
    let width = cell(root, &flash.path, "bank-width").filter(|w| (1..=8).contains(w));
    layer.set(facts::MTD_BANK_WIDTH_BYTES, width);
    layer
}

impl StackBuilder<'_> {
    /// An MTD partition without a block device in between.
    pub(super) fn mtd(&mut self, name: &str, depth: u32) {
        if !self.root.exists(&format!("/sys/class/mtd/{name}")) {
            self.missing(format!("/sys/class/mtd/{name} is not there"));
            return;
        }
        let mut disk = Layer::new(LayerKind::Disk, name);
        disk.driver = Some("mtd".into());
        disk.set(facts::TRANSPORT, "mtd");
        let below = attach(self.root, &mut disk, name);
        self.push(disk, depth);
        self.below(below, depth + 1, false);
    }
}
