//! What another tool did to get a figure: which uses and classes it can answer for follows from that.

/// The work behind figures of a run of another tool whose ids begin alike.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignWork {
    /// The ids without their quantity: `job.read`, `crystaldiskmark.rnd4k-q1t1.write`.
    pub prefix: String,
    /// Whether it was written; else it was read.
    pub write: bool,
    pub random: bool,
    /// Bytes of an operation; `None` where not known.
    pub block_bytes: Option<f64>,
    /// Operations in flight; `None` where not known.
    pub in_flight: Option<u32>,
    /// Whether past the page cache; `None` where not known.
    pub direct: Option<bool>,
}
