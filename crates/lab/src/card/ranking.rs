//! A study of several cards: each is put into the same machine, the same workload is run on it, and they are ranked.
//!
//! The guest is named after the card, so that the runs tell their cards apart in any archive: an emulated SD card has one
//! model and one serial number for all.

use super::by_metric::CardsByMetric;
use super::slot::Slot;
use crate::initrd::{GuestJob, quoted};
use crate::interrupts::{self, Interrupted};
use crate::session::GuestResult;
use crate::session_options::SessionOptions;
use crate::study::StudyCheck;
use crate::watch::GuestFailure;
use crate::{page, progress, transport};
use anyhow::{Context, bail, ensure};
use archive::Archive;
use judge::{RankAsked, TargetRuns};
use report::{Rank, Style};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the guest finds the workload.
const TEXT_IN_GUEST: &str = "lab/in/cards.toml";

/// Tag of the runs.
const TAG: &str = "lab-cards";

/// The table `lab.cards` of a study's file; the rest of the file is the workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// The machine that they are put into.
    pub machine: String,
    /// Where the guest sees them, a block device.
    target: String,
    /// Names of `lab/cards`, in any order.
    cards: Vec<String>,
    /// What all times of the cards are multiplied by, so that the emulator's own time is small beside them.
    #[serde(default = "one")]
    slowness: f64,
    /// What is shown side by side, what matters most first; all, without any.
    #[serde(default)]
    metrics: Vec<String>,
    /// The metric that is to be predicted from the others.
    #[serde(default)]
    predict: Option<String>,
    /// Metrics in which the cards must be in the order of their files.
    #[serde(default)]
    ordered: Vec<String>,
    /// Cards are told apart whose files give one this many times as much as the other.
    #[serde(default = "a_quarter_more")]
    apart: f64,
}

fn a_quarter_more() -> f64 {
    1.25
}

fn one() -> f64 {
    1.0
}

/// What a study of cards showed.
pub struct Ranked {
    pub text: String,
    pub page: PathBuf,
    /// What was measured against what the cards' files say, for each metric of which they say something.
    pub against: Vec<CardsByMetric>,
    /// What their times were multiplied by.
    pub slowness: f64,
    /// Cards are told apart whose files give one this many times as much as the other.
    pub apart: f64,
    /// Whether the cards are in order.
    pub seen: Vec<StudyCheck>,
}

impl Plan {
    /// The cards, which must all be there.
    ///
    /// # Errors
    /// There is no such card, or fewer than two.
    pub fn slots(&self) -> anyhow::Result<Vec<(String, Slot)>> {
        ensure!(self.cards.len() > 1, "a ranking needs at least two cards");
        ensure!(self.target.starts_with("/dev/"), "'{}': the target of cards is a block device", self.target);
        let slot = |name: &String| anyhow::Ok((name.clone(), Slot { slowness: self.slowness, ..Slot::of(name)? }));
        self.cards.iter().map(slot).collect()
    }

    /// Runs the workload on one card after the other, and ranks them. `boot` boots the machine.
    ///
    /// # Errors
    /// A guest failed, or made no run.
    pub fn run(
        &self,
        workload: &str,
        work: &Path,
        mut boot: impl FnMut(&GuestJob, &SessionOptions) -> anyhow::Result<GuestResult>,
    ) -> anyhow::Result<Ranked> {
        let own = work.join("archive");
        if own.exists() {
            fs::remove_dir_all(&own).with_context(|| format!("cannot clear {}", own.display()))?;
        }
        let archive = Archive::open(&own);
        let mut targets: Vec<TargetRuns> = Vec::new();
        let mut accounts = String::from("\nWhat each card did by its own account, its times multiplied:\n");
        let slots = self.slots()?;
        for (number, (name, slot)) in slots.iter().enumerate() {
            progress::print_status(&format!("card {} of {}: {}", number + 1, slots.len(), slot.card.title));
            let options = SessionOptions { card: Some(slot.clone()), progress: true, ..SessionOptions::default() };
            let job = self.job(name, workload);
            // One guest that fails should not cost the cards before it.
            let outcome = boot(&job, &options).or_else(|error| {
                if !error.is::<GuestFailure>() {
                    return Err(error);
                }
                progress::print_status(&format!("{name}: once more, after: {error}"));
                boot(&job, &options)
            })?;
            let brought = transport::import_results(&outcome.out.path().join("archive"), &archive)?;
            let [id] = brought.runs.as_slice() else {
                bail!(
                    "{name}: the guest made {} runs instead of one (exit code {}): {}; the console is kept in {}",
                    brought.runs.len(),
                    outcome.exit,
                    outcome.text("stderr").lines().rfind(|l| !l.trim().is_empty()).unwrap_or("it printed nothing"),
                    outcome.console.display()
                );
            };
            archive.tag_add(TAG, id).context("the tag of the study")?;
            if let Some(card) = &outcome.card {
                let account = format!("{name}: {}", card.line());
                progress::print_status(&account);
                accounts.push_str(&format!("- {account}\n"));
            }
            targets
                .push(TargetRuns { name: name.clone(), runs: vec![archive.load(id).context("a run of the study")?] });
            if interrupts::is_interrupted() {
                return Err(Interrupted.into());
            }
        }
        let home = crate::host_archive()?;
        transport::import_results(&own, &home)?;
        progress::print_status(&format!("the runs are in the archive: narrows rank {TAG}"));
        // Beside the study's page, which points to it.
        let (mut text, page) = self.rank(&targets, &home.reports_dir())?;
        text.push_str(&accounts);
        println!("{text}");
        let against: Vec<CardsByMetric> =
            self.metrics.iter().filter_map(|m| CardsByMetric::of(m, &slots, &targets)).collect();
        let seen = self.ordered.iter().map(|metric| self.in_order(metric, &against)).collect();
        Ok(Ranked { text, page, against, slowness: self.slowness, apart: self.apart, seen })
    }

    /// Whether the cards are in the order of their files.
    fn in_order(&self, metric: &str, against: &[CardsByMetric]) -> StudyCheck {
        let found = against.iter().find(|a| a.metric == metric);
        let (pairs, reversed) = found.map_or((0, Vec::new()), |a| a.order(self.apart));
        let words = format!("{} of {pairs} pairs in order", pairs - reversed.len());
        let lacks = found.into_iter().flat_map(|a| &a.points).filter(|p| p.measured.is_none());
        let mut wrong: Vec<String> = lacks.map(|p| format!("{}: nothing was measured", p.card)).collect();
        let measured = reversed.iter().filter(|(a, b)| a.measured.is_some() && b.measured.is_some());
        wrong.extend(measured.map(|(a, b)| format!("{} was not measured above {}", a.card, b.card)));
        if pairs == 0 {
            wrong.push("the files separate no two cards".to_owned());
        }
        StudyCheck {
            what: format!("{metric}: cards whose files differ by {} % or more are in that order", self.percent_apart()),
            command: format!("narrows run, then narrows rank {TAG}"),
            telling: vec![words],
            output: String::new(),
            wrong,
        }
    }

    fn percent_apart(&self) -> String {
        format!("{:.0}", (self.apart - 1.0) * 100.0)
    }

    /// What the guest does with a card: `--destroy` because a device is written to only by its serial number.
    fn job(&self, name: &str, workload: &str) -> GuestJob {
        let device = self.target.trim_start_matches("/dev/");
        let mut job = GuestJob::script(format!(
            "hostname {}\nnarrows run /{TEXT_IN_GUEST} {} --destroy \"$(cat /sys/block/{device}/device/serial)\"\n",
            quoted([name]),
            quoted([self.target.as_str()]),
        ));
        job.files.push((TEXT_IN_GUEST.into(), 0o644, workload.as_bytes().to_vec()));
        job
    }

    /// The ranking as text, and where its page is.
    fn rank(&self, targets: &[TargetRuns], directory: &Path) -> anyhow::Result<(String, PathBuf)> {
        let asked =
            RankAsked { metrics: self.metrics.clone(), predicted: self.predict.clone(), ..RankAsked::default() };
        let mut ranking = judge::rank(targets, &asked).map_err(|error| anyhow::anyhow!("no ranking: {error:?}"))?;
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let path = directory.join(format!("{TAG}-rank.html"));
        let predicted = self.predict.as_deref();
        let chosen = !self.metrics.is_empty();
        let html = {
            let rank = Rank { ranking: &ranking, predicted, chosen, page: None };
            report::rank_page("cards of the lab", env!("CARGO_PKG_VERSION"), &rank)
        };
        fs::write(&path, page::marked(&html)).with_context(|| format!("cannot write {}", path.display()))?;
        // The page has it at its top.
        ranking.reasons.insert(0, model::Reason::of("emulated", page::EMULATED));
        let rank = Rank { ranking: &ranking, predicted, chosen, page: None };
        let style = Style { ascii: true, colour: false, width: 120 };
        Ok((report::rank(&rank).text(&style), path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(more: &str) -> Plan {
        let text = format!("machine = \"q35-sdcard\"\ntarget = \"/dev/mmcblk0\"\n{more}");
        toml::from_str(&text).expect("a plan")
    }

    #[test]
    fn cards_must_be_there_and_more_than_one() {
        let two = plan("cards = [\"intenso-class4\", \"samsung-emmc\"]\nslowness = 4.0");
        let slots = two.slots().expect("both are there");
        assert!(slots.iter().all(|(_, slot)| slot.slowness == 4.0) && slots[1].1.card.title.starts_with("Samsung"));
        assert!(plan("cards = [\"intenso-class4\"]").slots().is_err());
        let error = plan("cards = [\"intenso-class4\", \"no-such\"]").slots().expect_err("not there").to_string();
        assert!(error.contains("no-such"), "{error}");
    }

    #[test]
    fn the_guest_is_named_after_its_card() {
        let job = plan("cards = []").job("samsung-emmc", "name = 'x'");
        let script = job.script.as_deref().unwrap_or_default();
        assert!(script.contains("hostname 'samsung-emmc'") && script.contains("/sys/block/mmcblk0/device/serial"));
        assert_eq!(job.files[0].2, b"name = 'x'");
    }
}
