//! USB storage.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk_of, exclude, require};
use crate::kernel_log::{self, LOG};
use crate::stack_view::Facts;
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Evidence, Work};

/// The bulk-only driver: one command at a time (k:drivers/usb/storage/scsiglue.c, can_queue = 1).
pub fn bulk_only(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "usb", |path| {
        let link = path.need(names::USB_DRIVER)?;
        require(link.need_text(names::USB_DRIVER)? == "usb-storage")?;
        Ok(Match::observed([link.evidence(names::USB_DRIVER), link.evidence(names::USB_UAS_CAPABLE)]))
    })
}

/// A device that claims USB 3 and runs at high speed. A USB 3 device on a high-speed link reports version 2.10 (USB 3.x
/// specification, 9.6.1), one that only knows USB 2 reports 2.00; both say that the link is the bottleneck.
pub fn usb2_speed(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "usb", |path| {
        let link = path.need(names::USB_SPEED_MBIT_S)?;
        let speed = link.need_int(names::USB_SPEED_MBIT_S)?;
        exclude(speed > 480)?;
        let version = link.text(names::USB_VERSION).and_then(|v| v.trim().parse::<f64>().ok());
        let can_more = version.is_some_and(|v| v >= 2.1);
        let evidence = [link.evidence(names::USB_SPEED_MBIT_S), link.evidence(names::USB_VERSION)];
        let case = Match::observed(evidence).at_most(if can_more { Confidence::Probable } else { Confidence::Low });
        let ratio = (can_more && speed > 0).then(|| 5000.0 / speed as f64);
        Ok(case.gain(&on.rate_id(Work::SequentialRead), ratio, "5 Gbit/s over the negotiated speed (line rates)"))
    })
}

/// What the kernel says when it does not use UAS (k:drivers/usb/storage/uas-detect.h).
const REFUSALS: [&str; 4] = [
    "UAS is ignored for this device",
    "UAS is blacklisted for this device",
    "does not support streams, which are required by the UAS driver",
    "does not support scatter-gather which is",
];

/// Whether the parameter of usb-storage forbids UAS to a device: `152d:578:u`, in hexadecimal, several with commas between
/// (k:Documentation/admin-guide/kernel-parameters.txt, usb-storage.quirks).
fn forbids_uas(quirks: &str, id: &str) -> bool {
    let number = |text: &str| u16::from_str_radix(text.trim(), 16).ok();
    let ids = |vendor: &str, product: &str| number(vendor).zip(number(product));
    let Some(wanted) = id.split_once(':').and_then(|(vendor, product)| ids(vendor, product)) else { return false };
    quirks.split(',').any(|quirk| {
        let mut parts = quirk.splitn(3, ':');
        let (vendor, product, flags) = (parts.next(), parts.next(), parts.next());
        let id = vendor.zip(product).and_then(|(vendor, product)| ids(vendor, product));
        id == Some(wanted) && flags.is_some_and(|f| f.contains('u'))
    })
}

/// A device that offers UAS and is served by the bulk-only driver all the same.
pub fn uas_unused(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "usb", |path| {
        let link = path.need(names::USB_DRIVER)?;
        require(link.need_text(names::USB_DRIVER)? == "usb-storage" && link.need_bool(names::USB_UAS_CAPABLE)?)?;
        let facts = [names::USB_DRIVER, names::USB_UAS_CAPABLE, names::USB_ID].map(|n| link.evidence(n));
        let port = link.text(names::USB_PATH);
        let quirks = link.text(names::USB_STORAGE_QUIRKS).zip(link.text(names::USB_ID));
        let forbidden = quirks.is_some_and(|(quirks, id)| forbids_uas(quirks, id));
        let reason = forbidden.then(|| link.evidence(names::USB_STORAGE_QUIRKS));
        let logged = || on.log_lines(&REFUSALS, port.as_slice()).and_then(|l| kernel_log::evidence(&l));
        let reason = reason.or_else(logged);
        let reason = reason.unwrap_or_else(|| Evidence::absence("why UAS is not used", "kernel log since boot"));
        Ok(Match::observed(facts.into_iter().chain([reason])))
    })
}

/// UAS with aborted commands, or a bridge that is known for them.
pub fn uas_unstable(on: &Subject<'_>) -> Decision {
    /// JMicron JMS578 and JMS579 (raspberrypi/linux#3070).
    const KNOWN: [&str; 2] = ["152d:0578", "152d:0579"];
    any_disk_of(on, "usb", |path| {
        let link = path.need(names::USB_DRIVER)?;
        require(link.need_text(names::USB_DRIVER)? == "uas")?;
        let facts = [names::USB_DRIVER, names::USB_ID, names::USB_PRODUCT].map(|n| link.evidence(n));
        let lines = on.log_lines(&["uas_eh_abort_handler", "uas_eh_device_reset_handler"], &[&path.disk.name]);
        if let Some(line) = lines.as_ref().and_then(|l| kernel_log::evidence(l)) {
            return Ok(Match::observed(facts.into_iter().chain([line])));
        }
        if link.text(names::USB_ID).is_some_and(|id| KNOWN.contains(&id)) {
            let log = Evidence::absence("uas_eh_abort_handler", "kernel log");
            return Ok(Match::observed(facts.into_iter().chain([log])).at_most(Confidence::Low));
        }
        Err(lines.map_or(LOG.into(), |_| DoesNotHold))
    })
}
