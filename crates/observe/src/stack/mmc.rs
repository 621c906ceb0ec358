//! SD cards and eMMC (k:drivers/mmc/core/{sd,mmc,debugfs}.c).

use super::ancestor::{Ancestor, adapter};
use super::below::LayersBelow;
use crate::ceiling;
use crate::csd::card_specific_data;
use crate::ext_csd::EXTENDED_CSD;
use crate::facts;
use crate::read_error::ReadError;
use crate::root::{Root, file_name};
use crate::sd_card::{SD_CONFIGURATION, SD_STATUS, emmc_identity, sd_identity};
use model::{Fact, Layer, LayerKind};

/// Whether a device is a card on its host: `mmc0:aaaa`.
pub(super) fn is_card(name: &str) -> bool {
    let Some((host, address)) = name.strip_prefix("mmc").and_then(|n| n.split_once(':')) else { return false };
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_hexdigit());
    digits(host) && digits(address)
}

/// k:include/linux/mmc/host.h MMC_TIMING_*.
const BUS_MODES: [&str; 11] =
    ["legacy", "mmc-hs", "sd-hs", "sdr12", "sdr25", "sdr50", "sdr104", "ddr50", "ddr52", "hs200", "hs400"];

/// Tags of the block queue without a command queue engine (k:drivers/mmc/core/queue.c MMC_QUEUE_DEPTH).
const TAGS_WITHOUT_QUEUE: i64 = 64;

/// What debugfs shows of the bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ios {
    pub clock_hz: Option<u64>,
    pub actual_clock_hz: Option<u64>,
    pub width: Option<u64>,
    pub mode: Option<&'static str>,
    pub voltage: Option<String>,
    pub enhanced_strobe: bool,
}

/// `timing spec: 6 (sd uhs SDR104)` and its neighbours.
pub(crate) fn parse_ios(text: &str) -> Ios {
    let mut ios = Ios::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let number = || value.split_ascii_whitespace().next()?.parse::<u64>().ok();
        let in_parentheses = || value.split_once('(')?.1.split_once(')').map(|(inner, _)| inner.trim());
        match name.trim() {
            "clock" => ios.clock_hz = number(),
            "actual clock" => ios.actual_clock_hz = number(),
            "bus width" => ios.width = in_parentheses().and_then(|t| t.split(' ').next()?.parse().ok()),
            "timing spec" => {
                ios.mode = number().and_then(|n| BUS_MODES.get(usize::try_from(n).ok()?).copied());
                ios.enhanced_strobe = value.contains("enhanced strobe");
            }
            "signal voltage" => ios.voltage = in_parentheses().map(str::to_owned),
            _ => {}
        }
    }
    ios
}

/// Modes of the host from `caps` and `caps2` (k:include/linux/mmc/host.h MMC_CAP_*, MMC_CAP2_*).
fn host_modes(caps: u64, caps2: u64) -> Vec<String> {
    let by_caps =
        [(1, "mmc-hs"), (2, "sd-hs"), (16, "sdr12"), (17, "sdr25"), (18, "sdr50"), (19, "sdr104"), (20, "ddr50")];
    let mut modes: Vec<String> =
        by_caps.iter().filter(|(bit, _)| caps >> bit & 1 == 1).map(|(_, name)| (*name).to_owned()).collect();
    // 1.8 V and 1.2 V variants: HS200 bits 5 and 6, HS400 bits 15 and 16.
    for (mask, name) in [(0x60, "hs200"), (0x1_8000, "hs400")] {
        if caps2 & mask != 0 {
            modes.push(name.to_owned());
        }
    }
    modes
}

/// `SDR104, 208 MHz, 4 bits`; `None` without debugfs.
pub(super) fn link_in_words(root: &Root, host: &str) -> Option<String> {
    let ios = parse_ios(&root.text(&format!("/sys/kernel/debug/{host}/ios"))?);
    let clock = ios.actual_clock_hz.filter(|c| *c > 0).or(ios.clock_hz)? / 1_000_000;
    Some(format!("{}, {clock} MHz, {} bits", ios.mode?.to_ascii_uppercase(), ios.width?))
}

/// Completes the disk and describes link and controller. `chain` starts at the card.
pub(super) fn attach(root: &Root, disk: &mut Layer, chain: &[Ancestor]) -> LayersBelow {
    let mut below = LayersBelow::default();
    let Some(card) = chain.first() else { return below };
    let file = |name: &str| root.text(&format!("{}/{name}", card.path));
    let number = |name: &str| root.number::<u64>(&format!("{}/{name}", card.path));
    let kind = file("type");
    disk.set(facts::MODEL, file("name"));
    disk.set(facts::MANFID, file("manfid"));
    disk.set(facts::OEMID, file("oemid"));
    disk.set(facts::SERIAL, file("serial"));
    disk.set(facts::FIRMWARE_REVISION, file("fwrev"));
    disk.set(facts::CID, file("cid"));
    disk.set(facts::CSD, file("csd"));
    disk.set(facts::ERASE_SIZE_BYTES, number("erase_size"));
    disk.set(facts::PREFERRED_ERASE_SIZE_BYTES, number("preferred_erase_size"));
    disk.driver.get_or_insert_with(|| "mmcblk".into());

    let is_sd = kind.as_deref() == Some("SD");
    let revision = root.hex(&format!("{}/rev", card.path));
    registers(disk, &file, is_sd, revision);
    let tags = disk.int(facts::QUEUE_TAGS);
    if is_sd {
        SD_STATUS.set_on(disk, file("ssr").as_deref());
        SD_CONFIGURATION.set_on(disk, file("scr").as_deref());
        // No file says whether a queue is in use; the number of tags does, for without one it is always the same.
        disk.set(facts::CMDQ_EN, Fact::Null);
        disk.set(facts::QUEUE_DEPTH, tags.map(|t| if (2..TAGS_WITHOUT_QUEUE).contains(&t) { t } else { 1 }));
    } else {
        let queued = root.flag(&format!("{}/cmdq_en", card.path));
        disk.set(facts::CMDQ_EN, queued);
        disk.set(facts::MMC_REVISION, revision);
        disk.set(facts::LIFE_TIME, file("life_time"));
        disk.set(facts::PRE_EOL, file("pre_eol_info"));
        disk.set(
            facts::QUEUE_DEPTH,
            queued.map(|q| if q { tags.map_or(Fact::Null, Fact::Int) } else { Fact::Int(1) }).unwrap_or(Fact::Null),
        );
    }
    disk.set(facts::MMC_TYPE, kind);
    let card_debug = format!("/sys/kernel/debug/{}/{}", card.name.split(':').next().unwrap_or_default(), card.name);
    disk.set(facts::MMC_CARD_QUIRKS, root.text(&format!("{card_debug}/quirks")));
    if !is_sd {
        emmc(root, disk, &card_debug, &mut below.missing);
        disk.set(facts::EMMC_ENHANCED_BYTES, enhanced_bytes(file("enhanced_area_size").as_deref()));
    }

    let host = chain.get(1..).unwrap_or_default().iter().find(|a| a.path.contains("/mmc_host/"));
    let host_name = host.map_or_else(|| card.name.split(':').next().unwrap_or_default(), |h| file_name(&h.path));
    let debug = format!("/sys/kernel/debug/{host_name}");
    below.controller = adapter(chain.get(1..).unwrap_or_default());
    below.controller_facts.push((facts::MMC_HOST, host_name.into()));
    below.link = Some(link(root, &debug, host_name, &mut below.missing));
    let caps = root.hex(&format!("{debug}/caps"));
    let caps2 = root.hex(&format!("{debug}/caps2"));
    let modes: Fact = caps.map(|c| host_modes(c, caps2.unwrap_or(0))).into();
    below.controller_facts.extend([
        (facts::MMC_HOST_MODES, modes),
        (facts::MMC_HOST_CMD23, caps.map(|c| c >> 30 & 1 == 1).into()),
        (facts::MMC_HOST_CQE, caps2.map(|c| c >> 23 & 1 == 1).into()),
        (facts::MMC_HOST_DCMD, caps2.map(|c| c >> 24 & 1 == 1).into()),
        (facts::MMC_ERRORS, errors(root, &debug).into()),
        (facts::MMC_ERROR_KINDS, error_kinds(root, &debug).into()),
    ]);
    if let Some(node) = below.controller.as_ref().map(|c| format!("{}/of_node", c.path)) {
        let properties = properties(root, &node);
        below.controller_facts.push((facts::MMC_HOST_MAX_HZ, cell(root, &node, "max-frequency").into()));
        below.controller_facts.push((facts::MMC_HOST_PROPERTIES, properties.into()));
    }
    below
}

/// What the card's registers CID and CSD say; `file` reads a file of the card.
fn registers(disk: &mut Layer, file: &dyn Fn(&str) -> Option<String>, is_sd: bool, revision: Option<u64>) {
    let identity = file("cid").and_then(|cid| {
        if is_sd { sd_identity(&cid) } else { emmc_identity(&cid, revision.and_then(|r| u8::try_from(r).ok())) }
    });
    // `date` is MM/YYYY.
    let date = file("date").and_then(|d| d.split_once('/').map(|(month, year)| format!("{year}-{month}")));
    disk.set(facts::MANUFACTURED, date.or_else(|| identity.as_ref().and_then(|i| i.manufactured())));
    disk.set(facts::PRODUCT_REVISION, identity.map(|i| i.revision));
    let csd = file("csd").and_then(|c| card_specific_data(&c, is_sd));
    let known = csd.as_ref();
    disk.set(facts::CSD_TRANSFER_MHZ, known.and_then(|c| c.transfer_mhz));
    disk.set(facts::CSD_CAPACITY_BYTES, known.and_then(|c| c.capacity_bytes));
    let classes = known.map(|c| c.command_classes.iter().map(u8::to_string).collect::<Vec<String>>());
    disk.set(facts::CSD_COMMAND_CLASSES, classes);
    let protected = known.map(|c| c.write_protected_permanently || c.write_protected_temporarily);
    disk.set(facts::CSD_WRITE_PROTECTED, protected);
    disk.set(facts::CSD_COPIED, known.map(|c| c.copied));
}

fn link(root: &Root, debug: &str, host: &str, missing: &mut Vec<String>) -> Layer {
    let path = format!("{debug}/ios");
    let ios = match root.read(&path) {
        Ok(bytes) => parse_ios(&String::from_utf8_lossy(&bytes)),
        Err(error) => {
            missing.push(match error {
                ReadError::Denied => format!("run as root to see {path}: clock, width and mode of the card's bus"),
                _ if root.list("/sys/kernel/debug").is_empty() => format!(
                    "run as root with debugfs mounted (mount -t debugfs none /sys/kernel/debug) to see {path}: clock, width and mode of the card's bus"
                ),
                _ => format!("{path} is not there: clock, width and mode of the card's bus are unknown"),
            });
            Ios::default()
        }
    };
    let mut layer = Layer::new(LayerKind::Link, host);
    let clock = ios.actual_clock_hz.filter(|c| *c > 0).or(ios.clock_hz).filter(|c| *c > 0);
    layer.set(facts::BUS_MODE, ios.mode);
    layer.set(facts::CLOCK_HZ, clock);
    layer.set(facts::CLOCK_REQUESTED_HZ, ios.clock_hz);
    layer.set(facts::BUS_WIDTH, ios.width);
    layer.set(facts::SIGNAL_VOLTAGE, ios.voltage);
    layer.set(facts::MMC_ENHANCED_STROBE, ios.mode.map(|_| ios.enhanced_strobe));
    if let (Some(mode), Some(clock), Some(width)) = (ios.mode, clock, ios.width)
        && let Some(ceiling) = ceiling::mmc(mode, clock, width)
    {
        ceiling.set_on(&mut layer);
    }
    layer
}

/// What only EXT_CSD knows. Reading the file makes the kernel ask the card once more, with one command.
fn emmc(root: &Root, disk: &mut Layer, debug: &str, missing: &mut Vec<String>) {
    let path = format!("{debug}/ext_csd");
    let register = root.read(&path);
    if register == Err(ReadError::Denied) {
        missing.push(format!("run as root to see {path}: the card's modes, queue and cache"));
    }
    let text = register.ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    EXTENDED_CSD.set_on(disk, text.as_deref());
}

/// In KiB; -EINVAL where there is none (k:drivers/mmc/core/mmc.c mmc_manage_enhanced_area).
fn enhanced_bytes(text: Option<&str>) -> Option<u64> {
    text?.parse::<u32>().ok().filter(|k| i32::try_from(*k).is_ok()).map(|kib| u64::from(kib) * 1_024)
}

/// Properties of the mmc-controller binding that say what the slot can do
/// (k:Documentation/devicetree/bindings/mmc/mmc-controller-common.yaml).
fn properties(root: &Root, node: &str) -> Option<Vec<String>> {
    let names = root.list(node);
    if names.is_empty() {
        return None;
    }
    let telling = |n: &&String| {
        ["cap-", "sd-uhs-", "mmc-", "no-", "supports-", "non-", "broken-", "fixed-"].iter().any(|p| n.starts_with(p))
            || matches!(n.as_str(), "disable-wp" | "full-pwr-cycle")
    };
    let mut out: Vec<String> = cell(root, node, "bus-width").map(|w| format!("bus-width={w}")).into_iter().collect();
    out.extend(names.iter().filter(telling).take(48).cloned());
    Some(out)
}

/// A number of the device tree: 32 bits, most significant byte first.
fn cell(root: &Root, node: &str, property: &str) -> Option<u32> {
    let bytes: [u8; 4] = root.read(&format!("{node}/{property}")).ok()?.get(..4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// The counters that are not zero.
fn error_kinds(root: &Root, debug: &str) -> Option<Vec<String>> {
    let text = root.text(&format!("{debug}/err_stats"))?;
    let kinds = text.lines().filter_map(|l| {
        let (name, count) = l.rsplit_once(':')?;
        let count: u64 = count.trim().parse().ok().filter(|c| *c > 0)?;
        let name = name.trim_start_matches(['#', ' ']).trim_end_matches(" Occurred").trim();
        Some(format!("{name}: {count}"))
    });
    Some(kinds.take(32).collect())
}

/// `err_stats` has lines `# Command Timeout Occurred: 0`.
fn errors(root: &Root, debug: &str) -> Option<u64> {
    let text = root.text(&format!("{debug}/err_stats"))?;
    let counts = text.lines().filter_map(|l| l.rsplit_once(':')?.1.trim().parse::<u64>().ok());
    Some(counts.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cards() {
        assert!(is_card("mmc0:aaaa"));
        assert!(is_card("mmc10:0001"));
        assert!(!is_card("mmc0"));
        assert!(!is_card("mmc:1"));
    }

    #[test]
    fn ios_of_a_raspberry_pi_4() {
        let text = "clock:\t\t50000000 Hz\nactual clock:\t50000000 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\n\
                    chip select:\t0 (don't care)\npower mode:\t2 (on)\nbus width:\t2 (4 bits)\n\
                    timing spec:\t7 (sd uhs DDR50)\nsignal voltage:\t1 (1.80 V)\ndriver type:\t0 (driver type B)\n";
        let ios = parse_ios(text);
        assert_eq!((ios.clock_hz, ios.actual_clock_hz), (Some(50_000_000), Some(50_000_000)));
        assert_eq!((ios.width, ios.mode, ios.voltage.as_deref()), (Some(4), Some("ddr50"), Some("1.80 V")));
        assert_eq!(parse_ios("timing spec:\t99 (x\nbus width: (\nclock: -1"), Ios::default());
    }

    #[test]
    fn host_modes_by_bit() {
        assert_eq!(host_modes(1 << 2 | 1 << 19, 0), ["sd-hs", "sdr104"]);
        assert_eq!(host_modes(1 << 1, 1 << 5 | 1 << 15), ["mmc-hs", "hs200", "hs400"]);
        assert_eq!(crate::root::parse_hex("0x00800000").map(|c| c >> 23 & 1), Some(1));
    }
}
