//! USB storage.

use super::{Case, Check, any_disk};
use crate::fact_names as names;
use crate::stack_view::Facts;
use model::{Confidence, Run};

/// The bulk-only driver: one command at a time (k:drivers/usb/storage/scsiglue.c, can_queue = 1).
pub fn bulk_only(run: &Run) -> Check {
    any_disk(run, |path| {
        if !path.is("usb")? {
            return Ok(None);
        }
        let link = path.need(names::USB_DRIVER)?;
        if link.need_text(names::USB_DRIVER)? != "usb-storage" {
            return Ok(None);
        }
        Ok(Some(Case::seen([link.evidence(names::USB_DRIVER), link.evidence(names::USB_UAS_CAPABLE)])))
    })
}

/// A device that claims USB 3 and runs at high speed. A USB 3 device on a high-speed link reports version 2.10 (USB 3.x
/// specification, 9.6.1), one that only knows USB 2 reports 2.00; both say that the link is the narrow place.
pub fn usb2_speed(run: &Run) -> Check {
    any_disk(run, |path| {
        if !path.is("usb")? {
            return Ok(None);
        }
        let link = path.need(names::USB_SPEED_MBIT_S)?;
        let speed = link.need_int(names::USB_SPEED_MBIT_S)?;
        if speed > 480 {
            return Ok(None);
        }
        let version = link.text(names::USB_VERSION).and_then(|v| v.trim().parse::<f64>().ok());
        let can_more = version.is_some_and(|v| v >= 2.1);
        let evidence = [link.evidence(names::USB_SPEED_MBIT_S), link.evidence(names::USB_VERSION)];
        let case = Case::seen(evidence).at_most(if can_more { Confidence::Probable } else { Confidence::Low });
        let ratio = (can_more && speed > 0).then(|| 5000.0 / speed as f64);
        Ok(Some(case.gain("seq-read.throughput_bytes_per_s", ratio, "5 Gbit/s over the negotiated speed (line rates)")))
    })
}
