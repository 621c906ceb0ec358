//! From the command line and the launcher's environment to a place in a group.

use crate::args::GroupArgs;
use crate::output::Output;
use conduct::Interrupts;
use conduct::group::{Group, Invitation, Token, launcher, meeting_place};
use engine::Control;
use model::{Failure, FailureKind, GroupAnswer, Ns, RankOutcome, parse_duration_ns};
use std::time::Duration;

/// Ranks that are started by hand take their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place in a group, where one was asked for; `asked` is what all ranks must have been asked.
///
/// # Errors
/// Rank, size, meeting place or token is missing, or is none.
pub fn invitation(args: &GroupArgs, asked: String) -> Result<Option<Invitation>, Failure> {
    if !args.group {
        return Ok(None);
    }
    let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let usage = |option: &str, what: &str| Failure::usage(format!("{option}: {what}"));
    let found = match &args.rank {
        Some(text) => {
            let (rank, size) = launcher::given(text).map_err(|e| usage("--rank", &e))?;
            Some(launcher::Place { rank, size, meet: None })
        }
        None => launcher::place(&get).map_err(|e| usage("--group", &e))?,
    };
    let place = found.ok_or_else(|| {
        usage("--group", "no launcher says which rank this is").remedy(
            "start it by srun or mpirun, or say it: --rank 2/8 --meet HOST:PORT, with another rank for each copy",
        )
    })?;
    let meet = args.meet.clone().or(place.meet).ok_or_else(|| {
        usage("--group", "the launcher does not say where rank 0 runs")
            .remedy("--meet HOST:PORT   the host of rank 0, and a port that is free there")
    })?;
    let (host, port) = meeting_place(&meet).map_err(|e| usage("--meet", &e))?;
    let token = args.token.clone().or_else(|| get(launcher::TOKEN_VARIABLE)).ok_or_else(|| {
        usage("--group", "without a token anybody could take part").remedy(format!(
            "export {}=$(head -c 16 /dev/urandom | base64)   once, before the ranks are started",
            launcher::TOKEN_VARIABLE
        ))
    })?;
    let token = Token::of(&token).ok_or_else(|| usage("--token", "it has 8 to 256 characters"))?;
    let patience = args
        .meet_timeout
        .as_deref()
        .map(parse_duration_ns)
        .transpose()
        .map_err(|e| usage("--meet-timeout", &e.to_string()).remedy("for example --meet-timeout 5m"))?;
    if patience == Some(0) {
        return Err(usage("--meet-timeout", "in no time nobody comes").remedy("for example --meet-timeout 60s"));
    }
    let machine = observe::environment(&observe::Root::new("/")).hostname.unwrap_or_else(|| "unnamed".to_owned());
    let patience = patience.map_or(PATIENCE, Duration::from_nanos);
    let launcher::Place { rank, size, .. } = place;
    if args.scale && size < 2 {
        return Err(
            usage("--scale", "one rank alone shows nothing of how a rate grows").remedy("start 2 ranks or more")
        );
    }
    let asked = format!("{asked} {} {}", args.shared_file, args.scale);
    Ok(Some(Invitation { rank, size, host, port, token, patience, machine, scale: args.scale, asked }))
}

/// Meets the others for a command that is no run: what ends the group ends it, too.
///
/// # Errors
/// As [`invitation`]; what is asked is only for runs; the others were not met.
pub fn met(
    args: &GroupArgs,
    asked: String,
    interrupts: &Interrupts,
    control: &Control,
    output: &Output,
) -> Result<Option<Group>, Failure> {
    for (option, given) in [("--shared-file", args.shared_file), ("--scale", args.scale)] {
        if given {
            return Err(
                Failure::usage(format!("{option} is for workloads")).remedy("narrows run WORKLOAD TARGET --group")
            );
        }
    }
    let Some(invitation) = invitation(args, asked)? else { return Ok(None) };
    if !output.is_json() {
        let Invitation { rank, size, host, port, .. } = &invitation;
        output.aside(&format!("rank {rank} of {size} meets the others at {host}, port {port}\n"));
    }
    Ok(Some(invitation.meet(interrupts, control)?))
}

/// The answer of all, where there are others; that they are gone is said beside the own one. It began and ended at these moments;
/// `at_once` says whether the answer rests on that all did it at one time.
pub fn outcome(
    group: Option<&Group>,
    own: RankOutcome,
    times: (Ns, Ns),
    at_once: bool,
    output: &Output,
) -> Option<GroupAnswer> {
    group?.outcome(own, times, at_once).inspect_err(|failure| output.beside(failure)).ok()
}

/// What the others' answers make of the exit code of an own one: rank 0 says no, or nothing, for all.
pub fn exit_code(group: Option<&GroupAnswer>, was_asked: bool, own: u8) -> u8 {
    match group {
        None if was_asked && own == 0 => FailureKind::Invalid.exit_code(),
        Some(group) if own == 0 => match group.met() {
            Some(true) => 0,
            Some(false) => 1,
            None => FailureKind::Invalid.exit_code(),
        },
        _ => own,
    }
}

/// That a command does not do this as a group.
///
/// # Errors
/// It was asked for one.
pub fn refuse(args: &GroupArgs, what: &str) -> Result<(), Failure> {
    match args.group {
        true => Err(Failure::usage(format!("--group is for a workload or a check, and this is {what}"))
            .remedy("leave out --group; the runs of several groups are compared with narrows compare")),
        false => Ok(()),
    }
}
