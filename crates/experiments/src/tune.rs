//! A search for the settings between a program and its storage that make a metric better: what could be set, measurements of a few
//! seconds as [`judge::search`] asks for them, pairs that prove what is left, and what keeps it. Every setting is applied
//! through the journal and restored after each measurement, as those of an experiment.

mod candidate;
mod candidates;
mod confirm;
mod keep;
pub mod kept;
mod known;
mod lock;
mod objective;
mod outcome;
mod schedule;
mod state;
mod trial;
mod trial_kept;
mod verify;
mod walk;

pub use candidate::Candidate;
pub use candidates::Choice;
pub use known::{Known, exported, known};
pub use lock::Lock;
pub use objective::{Objective, objective};
pub use schedule::cell_ns;
pub use state::{State, absolute};
pub use trial::Trial;
pub use verify::{Kept, KeptSearch, kept as look_at_kept};

use conduct::admission::FileIdentity;
use conduct::{Opened, WriteAllowance, plan};
use conduct::{WallClock, random_u64};
use judge::search::{Design, GUARDED_PAIRS, provable_percent};
use model::{Failure, NotTried, Ns, Stack, TargetKind, TunePlan, Tuning, random};
use schedule::{OVERHEAD_NS, Schedule};
use settings::Tree;
use spec::{Readiness, Workload};

/// Noise of a measurement for which it is told what can be proven.
const NOISES: [f64; 3] = [0.03, 0.05, 0.10];

/// What a search is asked.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    pub objective: Objective,
    /// Names of settings; empty: all.
    pub only: &'a [String],
    /// Whether what can lose data is tried.
    pub allow_unsafe: bool,
    /// Whether registers are tried.
    pub allow_registers: bool,
    /// All the time it has.
    pub budget_ns: Ns,
    /// The least gain that is worth a setting.
    pub margin_percent: f64,
    pub seed: u64,
    /// What others proved: only the order in which settings are tried follows from it.
    pub known: &'a [Known],
    /// A search that was left, which is to go on.
    pub resumed: Option<State>,
}

/// A search that can begin.
pub struct Prepared<'a> {
    asked: Asked<'a>,
    id: String,
    target: String,
    candidates: Vec<Candidate>,
    guards: Workload,
    cell_ns: Ns,
    guards_ns: Ns,
    schedule: Schedule,
    stack: Stack,
    /// The file whose content the user gave up.
    file: Option<FileIdentity>,
    bytes_at_most: Option<u64>,
    state: State,
}

/// Looks at everything that can be wrong before anything is changed.
///
/// # Errors
/// The target cannot be measured, nothing of it can be set, or the time is too short to prove anything.
pub fn prepare<'a>(asked: Asked<'a>, trial: &Trial<'_>) -> Result<Prepared<'a>, Failure> {
    let workload = &asked.objective.workload;
    let opened = trial.open(workload, None)?;
    let target = opened.target.name.clone();
    if matches!(opened.target.kind, TargetKind::Sim | TargetKind::Null | TargetKind::Region | TargetKind::Foreign) {
        let message = format!("{target} has no settings of the kernel: nothing can be searched");
        return Err(Failure::usage(message).remedy("narrows tune /mnt/data   a directory or a device"));
    }
    let stack = opened.target.stack.clone();
    let order = || known::order(asked.known, asked.objective.metric.as_deref(), &stack);
    let tried_first = asked.resumed.as_ref().map_or_else(order, |state| state.tried_first.clone());
    let choice = Choice {
        only: asked.only,
        tried_first: &tried_first,
        allow_unsafe: asked.allow_unsafe,
        allow_registers: asked.allow_registers,
        passes_page_cache: workload.passes_page_cache(),
    };
    let known = observe::registers::on_path(&observe::Root::new("/"), &stack);
    let candidates = candidates::candidates(&stack, &Tree::machine(), known, &choice)?;
    something_to_try(&candidates, asked.only, &target)?;
    let writable = opened.readiness == Readiness::Writable;
    let rows = schedule::guard_rows(asked.budget_ns);
    let (guards, guards_ns) = objective::guards(&asked.objective, rows, cell_ns(asked.budget_ns), writable)?;
    let [cell, guarded] = [workload, &guards].map(|workload| foreseen(workload, &opened, asked.seed));
    let (cell, guarded) = (cell?, guarded?);
    let guards_ns = guards_ns + OVERHEAD_NS;
    let cell_ns = cell.ns + OVERHEAD_NS;
    let schedule =
        Schedule::new(asked.budget_ns, cell_ns, guards_ns).map_err(|needed| too_short(asked.budget_ns, needed))?;
    let sides = 2 * u64::from(schedule.pairs);
    let cells = schedule.cells as u64 + 1 + sides;
    let guarded_sides = sides.min(2 * u64::from(GUARDED_PAIRS));
    let bytes_at_most = cell.bytes.zip(guarded.bytes).map(|(of_cell, of_guards)| {
        of_cell.saturating_mul(cells).saturating_add(of_guards.saturating_mul(guarded_sides))
    });
    let file = opened.object.filter(|_| opened.target.kind == TargetKind::File && opened.target.writable);
    let state = match asked.resumed.clone() {
        Some(state) => {
            state.fits(&candidates)?;
            state
        }
        None => {
            let id = format!("tune-{}-{:04x}", WallClock::start().compact(), random_u64()? & 0xffff);
            State::new(&asked, &id, &absolute(trial.target)?, &candidates, tried_first)
        }
    };
    let id = state.id.clone();
    Ok(Prepared {
        state,
        asked,
        id,
        target,
        candidates,
        guards,
        cell_ns,
        guards_ns,
        schedule,
        stack,
        file,
        bytes_at_most,
    })
}

/// That a budget proves nothing, and which would.
fn too_short(given: Ns, needed: Ns) -> Failure {
    let seconds = |ns: Ns| ns.div_ceil(model::NS_PER_S);
    let message = format!("a budget of {} s is too short to prove anything", seconds(given));
    // What was foreseen may take a little longer here.
    let needed = seconds(needed + needed / 10);
    Failure::usage(message).remedy(format!("--budget {needed}s   is the least for one change and its proof"))
}

/// What one measurement takes.
struct Foreseen {
    ns: Ns,
    bytes: Option<u64>,
}

fn foreseen(workload: &Workload, opened: &Opened, seed: u64) -> Result<Foreseen, Failure> {
    let plan = plan::plan_within(workload, opened, seed, Some(WriteAllowance::Usual))?;
    let live = || plan.phases.iter().filter(|p| p.skip.is_none());
    if !live().any(model::PhasePlan::measures_target) {
        let why = plan.phases.iter().filter(|p| p.measures_target()).find_map(|p| p.skip.as_ref());
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        return Err(Failure::refused(format!("{} measures nothing on this target{why}", plan.name))
            .remedy("a directory needs no permission; a file: --overwrite; a block device: --destroy SERIAL"));
    }
    let phases = live().map(model::PhasePlan::usual_time_ns).fold(0, u64::saturating_add);
    let ns = if plan.budget_ns > 0 { plan.budget_ns } else { phases };
    Ok(Foreseen { ns, bytes: plan::device_bytes_at_most(&plan, opened) })
}

/// Something has to be left to try.
fn something_to_try(candidates: &[Candidate], only: &[String], target: &str) -> Result<(), Failure> {
    if candidates.iter().any(|c| !c.values.is_empty()) {
        return Ok(());
    }
    let named = candidates.iter().filter(|c| only.iter().any(|name| *name == c.name()));
    if let Some((what, how)) = named.filter_map(not_felt).next() {
        return Err(Failure::usage(what).remedy(how));
    }
    let fixed = candidates.iter().find_map(|c| match &c.not_tried {
        Some(NotTried::Fixed(why)) => Some(why),
        _ => None,
    });
    let list = format!("narrows settings list {target}   shows what there is");
    Err(match fixed {
        Some(why) if !rustix::process::geteuid().is_root() => {
            let message = format!("no setting of {target} can be changed by this user: {why}");
            Failure::environment(message).remedy(format!("run it as root; {list}"))
        }
        Some(why) => Failure::environment(format!("no setting of {target} can be changed: {why}")).remedy(list),
        None => {
            let is_register = |c: &Candidate| c.not_tried == Some(NotTried::Register);
            let how = if candidates.iter().any(is_register) {
                "--read-registers --allow-registers tries the device registers of this path"
            } else {
                "--only NAME,... tries settings that you name"
            };
            Failure::usage(format!("no setting of {target} is worth a try for this workload"))
                .remedy(format!("{how}; {list}"))
        }
    })
}

/// Why a setting that was named is not tried, where that is for what was asked beside it; and what tries it.
fn not_felt(candidate: &Candidate) -> Option<(String, String)> {
    let name = candidate.name();
    let through_cache =
        |way: &str| format!("only {way} through the page cache feel {name}, and what is measured has none");
    Some(match candidate.not_tried.as_ref()? {
        NotTried::OnlyBufferedReads => (through_cache("reads"), "--for buffered-read".to_owned()),
        NotTried::OnlyBufferedWrites => (through_cache("writes"), "--for buffered-write".to_owned()),
        NotTried::NoOtherValue => (
            format!("no other value of {name} is known to be worth a try"),
            format!("narrows compare WORKLOAD --with {name}=VALUE   tries one of yours"),
        ),
        NotTried::Unsafe => (format!("{name} can lose data on a power cut"), "--allow-unsafe tries it".to_owned()),
        NotTried::Register => (format!("{name} is a register of a device"), "--allow-registers tries it".to_owned()),
        _ => return None,
    })
}

/// Whether the changed values come first or second in a pair: at random.
fn order_of_pairs(pair: u32, seed: u64) -> [bool; 2] {
    let first = random::mix(seed ^ u64::from(pair).wrapping_mul(random::STEP)) >> 63 == 1;
    [first, !first]
}

impl Prepared<'_> {
    /// What it will do.
    pub fn plan(&self) -> TunePlan {
        let alternatives: Vec<usize> = self.candidates.iter().map(|c| c.values.len()).collect();
        let settings = alternatives.iter().filter(|n| **n > 0).count();
        let design = Design::new(alternatives.iter().sum(), settings, self.schedule.cells);
        TunePlan {
            target: self.target.clone(),
            asked: self.asked.objective.asked.clone(),
            metric: self.asked.objective.metric.clone(),
            candidates: self.candidates.iter().map(Candidate::described).collect(),
            cells: design.map_or(0, |d| d.cells()),
            changes: design.map_or(0, |d| d.changes),
            screened: design.is_some_and(|d| d.screen > 0 && !d.is_brief()),
            pairs: self.schedule.pairs,
            guards: self.guards.phase_names().map(str::to_owned).collect(),
            budget_ns: self.asked.budget_ns,
            bytes_at_most: self.bytes_at_most,
            provable: NOISES.map(|noise| (noise * 100.0, provable_percent(noise, self.schedule.pairs))).to_vec(),
        }
    }

    /// Searches and proves, while no other search does.
    ///
    /// # Errors
    /// It was interrupted, or a number cannot be had; the settings are as they were, or the failure says what is not.
    pub fn search(&self, trial: &Trial<'_>, _held: &Lock) -> Result<Tuning, Failure> {
        outcome::search(self, trial)
    }

    /// What the confirmation of a finalist is called.
    fn round(&self, finalist: usize) -> String {
        if finalist == 0 { self.id.clone() } else { format!("{}-{}", self.id, finalist + 1) }
    }

    /// Tags of the runs of one side of the confirmation: of the metric, and of the guards.
    fn tags(&self, finalist: usize, changed: bool) -> [String; 2] {
        let (id, side) = (self.round(finalist), if changed { "changed" } else { "present" });
        [format!("{id}-{side}"), format!("{id}-guards-{side}")]
    }

    fn all_tags(&self, finalist: usize) -> Vec<String> {
        [false, true].into_iter().flat_map(|changed| self.tags(finalist, changed)).collect()
    }
}
