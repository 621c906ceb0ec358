//! What a virtio block device and its driver agreed on (virtio 1.2, 5.2.3 and 6; k:include/uapi/linux/virtio_blk.h).

use crate::facts;
use crate::root::Root;
use model::Layer;

/// Feature bits that say something about speed or safety.
const FEATURES: [(usize, &str); 16] = [
    (1, "size-max"),
    (2, "segment-max"),
    (5, "read-only"),
    (6, "block-size"),
    (9, "flush"),
    (10, "topology"),
    (11, "write-cache-switch"),
    (12, "multiple-queues"),
    (13, "discard"),
    (14, "write-zeroes"),
    (16, "secure-erase"),
    (28, "indirect-descriptors"),
    (29, "event-index"),
    (32, "version-1"),
    (33, "iommu"),
    (34, "packed-ring"),
];

/// `features` is a string of 0 and 1, bit 0 first.
pub(super) fn set_features(root: &Root, disk: &mut Layer, device: &str) {
    let text = root.text(&format!("{device}/features"));
    disk.set(facts::VIRTIO_FEATURES, text.as_deref().and_then(features));
}

fn features(text: &str) -> Option<Vec<String>> {
    let bits = text.as_bytes();
    if bits.iter().any(|b| !matches!(b, b'0' | b'1')) {
        return None;
    }
    let on = FEATURES.iter().filter(|(bit, _)| bits.get(*bit) == Some(&b'1'));
    Some(on.map(|(_, name)| (*name).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::features;

    #[test]
    fn bit_0_comes_first() {
        assert_eq!(features("0010001001001").unwrap(), ["segment-max", "block-size", "flush", "multiple-queues"]);
        assert_eq!(features(""), Some(Vec::new()));
        assert_eq!(features("01x"), None);
    }
}
