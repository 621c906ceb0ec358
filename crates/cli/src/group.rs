//! From the command line and the launcher's environment to a place in a group.

use crate::args::GroupArgs;
use conduct::group::{Invitation, Token, launcher, meeting_place};
use model::{Failure, parse_duration_ns};
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
    let machine = observe::environment(&observe::Root::new("/")).hostname.unwrap_or_else(|| "unnamed".to_owned());
    let patience = patience.map_or(PATIENCE, Duration::from_nanos);
    Ok(Some(Invitation { rank: place.rank, size: place.size, host, port, token, patience, machine, asked }))
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
