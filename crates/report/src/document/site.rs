//! `narrows/site/1`: what a site was made of.

use model::SiteProblem;
use serde::Serialize;

/// What `narrows site --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/site/1")]
pub struct SiteDocument<'a> {
    /// Runs that are counted.
    pub runs: usize,
    /// Bundles that were read now; the others were known.
    pub read: usize,
    /// Bundles of a run that lies elsewhere as well, byte for byte.
    pub duplicates: usize,
    /// Bundles that are not counted.
    pub problems: &'a [SiteProblem],
    pub machines: usize,
    /// Device models.
    pub devices: usize,
    /// Events of the history.
    pub events: usize,
    /// Files of the site.
    pub pages: usize,
    /// Files that changed and were written.
    pub written: usize,
    /// Files that are no longer of it and were removed.
    pub removed: usize,
    /// Its first page.
    pub site: String,
}
