//! What a site says of the bundles of many machines.

use crate::{Better, HistoryKey, RunValidity, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A metric of a run on a site: id, unit, which direction is better, value.
pub type SiteMetric = (String, Unit, Option<Better>, f64);

/// What is kept of a bundle that was verified. Names are those that the site shows: without `--identify` they stand for others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteRun {
    pub id: String,
    /// Its place in the order in which runs ended.
    pub order: u64,
    /// When it began, RFC 3339.
    pub time: Option<String>,
    /// The same, seconds since 1970.
    pub at_s: Option<i64>,
    pub machine: String,
    /// Model of the disks; `None` where they do not tell, as of another tool's output.
    pub device: Option<String>,
    /// Which one of this model.
    pub unit: String,
    pub firmware: Option<String>,
    /// Board or system.
    pub board: Option<String>,
    pub kernel: Option<String>,
    pub workload: String,
    /// As in [`HistoryKey::plan`].
    pub plan: String,
    pub validity: RunValidity,
    /// Of each phase what it was made to answer, and its 99th percentile of latency.
    pub metrics: Vec<SiteMetric>,
    /// Ids and titles.
    pub findings: Vec<(String, String)>,
    /// Uses, and whether the run met what they need.
    pub fits: Vec<(String, Option<bool>)>,
}

impl SiteRun {
    /// The key of its series.
    pub fn key(&self) -> HistoryKey {
        let device = self.device.as_deref().unwrap_or("unknown device");
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        HistoryKey {
            machine: self.machine.clone(),
            device: format!("{device}{unit}"),
            workload: self.workload.clone(),
            plan: self.plan.clone(),
        }
    }
}

/// A bundle that is not among the numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteProblem {
    /// Its run, by the name of its directory.
    pub id: String,
    /// What is wrong with it, without paths.
    pub why: String,
}

/// A device model in the ranking of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteRank {
    pub device: String,
    /// Geometric mean over the medians of its units.
    pub value: f64,
    /// 95 % interval of that over units; `None` below three of them.
    pub interval: Option<(f64, f64)>,
    pub units: usize,
    pub runs: usize,
}

/// A metric of a workload, with the devices from the best on.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteRanking {
    pub workload: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub devices: Vec<SiteRank>,
}

/// How often something was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteFinding {
    pub title: String,
    pub runs: usize,
    pub machines: usize,
    pub devices: usize,
}

/// Of runs that could tell, how many met what a use needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteFit {
    pub met: usize,
    pub of: usize,
}

/// The whole.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// In the order of the runs.
    pub runs: Vec<SiteRun>,
    pub problems: Vec<SiteProblem>,
    pub rankings: Vec<SiteRanking>,
    /// By id.
    pub findings: BTreeMap<String, SiteFinding>,
    /// By device and use.
    pub fits: BTreeMap<String, BTreeMap<String, SiteFit>>,
    pub history: crate::History,
}
