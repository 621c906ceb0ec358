//! `narrows inspect`: the storage path layer by layer, or all disks.

use crate::args::InspectArgs;
use crate::output::Output;
use crate::{capture, inspect_place};
use diagnose::Assessment;
use engine::SimRig;
use model::{DiskSummary, Environment, Fact, Failure, FailureKind, LayerKind, NS_PER_S, Stack};
use observe::{CaptureOptions, Locator, ProbeOptions, Root};
use report::Inspection;
use report::document::{CaptureEntry, InspectDocument};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// Executes the command.
pub fn command(args: &InspectArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.keep_serials && args.capture.is_none() {
        let failure = Failure::usage("--keep-serials is about a capture, and there is no --capture");
        return Err(failure.remedy("--capture FILE.tar --keep-serials"));
    }
    if let Some(name) = args.target.as_deref().filter(|t| inspect_place::is_no_place(t)) {
        return simulated(&name.to_string_lossy(), args, output);
    }
    let root = root(args.root.as_deref())?;
    let place = args.target.as_deref().map(|t| inspect_place::place(&root, t)).transpose()?;
    let look = ProbeOptions { health: true, kernel_log: true, registers: args.read_registers };
    let captured = match &args.capture {
        Some(path) => {
            let options = CaptureOptions { keep_serials: args.keep_serials, salt: salt()?, look };
            let places: Vec<Locator> = place.iter().cloned().collect();
            let entry = capture::write(&root, &places, &options, path)?;
            if capture::is_stdout(path) {
                return Ok(ExitCode::SUCCESS);
            }
            Some(entry)
        }
        None => None,
    };
    let root_name = args.root.as_ref().map(|r| r.display().to_string());
    let environment = observe::environment(&root);
    let Some(place) = place else {
        let disks = all_disks(&root);
        // What is missing of the machine matters to the list only if there is none.
        let missing = if disks.is_empty() { environment.missing.as_slice() } else { &[] };
        let document = InspectDocument::of_disks(&disks, root_name.as_deref(), &environment, captured.as_ref());
        output.answer(&document, || report::disks(&disks, missing, captured.as_ref()));
        return Ok(ExitCode::SUCCESS);
    };
    let inventory = observe::inventory_with(&root, &place, look);
    let log = kernel_log(&inventory.stack);
    let mut missing = inventory.missing;
    missing.extend(environment.missing.iter().filter(|m| !missing.contains(m)).cloned().collect::<Vec<_>>());
    let target = args.target.as_ref().map(|t| t.to_string_lossy().into_owned()).unwrap_or_default();
    let seen = InspectedTarget {
        target: &target,
        root: root_name.as_deref(),
        stack: &inventory.stack,
        environment,
        missing,
        verbose: args.verbose,
    };
    Ok(seen.show(log.as_deref(), captured.as_ref(), output))
}

/// What was found out about a target.
struct InspectedTarget<'a> {
    target: &'a str,
    root: Option<&'a str>,
    stack: &'a Stack,
    environment: Environment,
    missing: Vec<String>,
    verbose: bool,
}

impl InspectedTarget<'_> {
    /// Shows it with what the catalogue says of it. The answer is none if nothing of the path but the host was seen.
    fn show(&self, log: Option<&[String]>, captured: Option<&CaptureEntry>, output: &Output) -> ExitCode {
        let Assessment { findings, unknown } = diagnose::findings_of_stack(self.stack, &self.environment, log);
        let inspection = Inspection {
            target: self.target,
            root: self.root,
            stack: self.stack,
            environment: &self.environment,
            findings: &findings,
            unknown: &unknown,
            missing: &self.missing,
            verbose: self.verbose,
            read_from: |fact| observe::facts::ALL.iter().find(|f| f.name == fact).map(|f| f.source),
        };
        output.answer(&InspectDocument::of_target(&inspection, captured), || report::inspection(&inspection, captured));
        match self.stack.layers.iter().any(|l| l.kind != LayerKind::Host) {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(FailureKind::Invalid.exit_code()),
        }
    }
}

fn simulated(name: &str, args: &InspectArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.root.is_some() || args.capture.is_some() || args.read_registers {
        let message = format!("{name} is not a machine: --root, --capture and --read-registers mean nothing to it");
        return Err(Failure::usage(message));
    }
    if name == "null:" {
        let failure = Failure::usage("null: has no device below it, so there is nothing to inspect");
        return Err(failure.remedy("narrows check null:   measures the program's own overhead"));
    }
    let model = spec::parse_sim(name).map_err(|e| {
        Failure::usage(e.to_string()).remedy("sim:help   lists devices and parameters, with their defaults")
    })?;
    let rig = SimRig::new(model, NS_PER_S);
    let environment = rig.environment();
    let missing = environment.missing.clone();
    let seen =
        InspectedTarget { target: name, root: None, stack: &rig.stack(), environment, missing, verbose: args.verbose };
    Ok(seen.show(None, None, output))
}

/// This machine, or a captured tree.
fn root(directory: Option<&Path>) -> Result<Root, Failure> {
    let Some(directory) = directory else { return Ok(Root::new("/")) };
    let shown = directory.display();
    let wrong = |why: String| {
        Failure::usage(why)
            .remedy("--root takes the directory that a capture was unpacked into: it holds proc/ and sys/")
    };
    let metadata = directory.metadata().map_err(|e| wrong(format!("--root {shown}: {e}")))?;
    if !metadata.is_dir() {
        return Err(wrong(format!("--root {shown} is not a directory")));
    }
    let is_tree = |root: &Root| root.exists("/sys") || root.exists("/proc");
    // What `tar xf` leaves has one directory above the tree.
    let root = [directory.to_owned(), directory.join(capture::TOP)].iter().map(Root::new).find(is_tree);
    let Some(root) = root else {
        return Err(wrong(format!("--root {shown} is not a captured tree: it has neither proc nor sys")));
    };
    Ok(root)
}

/// The kernel's messages about storage, where they could be read.
fn kernel_log(stack: &Stack) -> Option<Vec<String>> {
    match stack.first(LayerKind::Host)?.fact(observe::facts::KERNEL_LOG_STORAGE) {
        Some(Fact::List(lines)) => Some(lines.clone()),
        _ => None,
    }
}

fn all_disks(root: &Root) -> Vec<DiskSummary> {
    let mut disks = observe::disks(root);
    let mut mounted = mounted(root);
    disks.iter_mut().for_each(|disk| disk.mounted = mounted.remove(&disk.name).unwrap_or_default());
    disks
}

/// Where each disk, or a partition of it, is mounted. File systems of several devices are not among them: their number
/// is no device's.
fn mounted(root: &Root) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mount in observe::mounts(root).iter().filter(|m| m.device.major != 0) {
        let Some(directory) = root.canonical(&format!("/sys/dev/block/{}", mount.device)) else { continue };
        // .../block/sda/sda1: the disk follows "block", and its partition the disk.
        let mut parts = directory.split('/').skip_while(|p| *p != "block").skip(1);
        let Some(disk) = parts.next() else { continue };
        let points = out.entry(disk.to_owned()).or_default();
        if !points.contains(&mount.mount_point) {
            points.push(mount.mount_point.clone());
        }
    }
    out
}

fn salt() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| Failure::environment(format!("no random numbers from the kernel: {e}")))?;
    Ok(u64::from_le_bytes(bytes))
}
