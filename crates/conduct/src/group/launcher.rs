//! Rank and size of this process, as its launcher says them in the environment, and where the group meets if that follows.
//!
//! Variables: Open MPI (ompi_info(1), "OMPI_COMM_WORLD_*"), Slurm (srun(1), "OUTPUT ENVIRONMENT VARIABLES"), PMI of MPICH and Intel
//! MPI (`PMI_RANK`, `PMI_SIZE`), an indexed Job of Kubernetes (`JOB_COMPLETION_INDEX`), whose size its manifest has to say.

/// The size of a group where the launcher says the rank alone.
pub const SIZE_VARIABLE: &str = "NARROWS_GROUP_SIZE";
/// The token, where it is not to stand on the command line, which all users of a machine see.
pub const TOKEN_VARIABLE: &str = "NARROWS_GROUP_TOKEN";
/// Ports that follow from the number of a job: from the first on, so many.
const PORTS: (u64, u64) = (20_000, 10_000);

/// A place in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub rank: u32,
    pub size: u32,
    /// Host and port, where the launcher says enough.
    pub meet: Option<String>,
}

/// The place of this process; `None` where no launcher says one. `get` has the environment.
///
/// # Errors
/// What the launcher says is no place.
pub fn place(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<Place>, String> {
    let number = |name: &str| get(name).map(|text| text.parse().map_err(|_| format!("{name}={text} is not a number")));
    let pair = |rank: &str, size: &str| -> Result<Option<(u32, u32)>, String> {
        match (number(rank).transpose()?, number(size).transpose()?) {
            (Some(rank), Some(size)) => Ok(Some((rank, size))),
            _ => Ok(None),
        }
    };
    // One that starts others by another (mpirun by srun) leaves the other's variables in place: the inner one counts.
    let (found, meet) = if let Some(found) = pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")? {
        let all_here = number("OMPI_COMM_WORLD_LOCAL_SIZE").transpose()? == Some(found.1);
        let job = get("PMIX_NAMESPACE").or_else(|| get("OMPI_MCA_ess_base_jobid"));
        (found, job.filter(|_| all_here).map(|job| format!("127.0.0.1:{}", port(&job))))
    } else if let Some(found) = pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")? {
        let job = format!("{}.{}", get("SLURM_JOB_ID").unwrap_or_default(), get("SLURM_STEP_ID").unwrap_or_default());
        let host = get("SLURM_STEP_NODELIST").as_deref().and_then(first_host);
        (found, host.map(|host| format!("{host}:{}", port(&job))))
    } else if let Some(found) = pair("PMI_RANK", "PMI_SIZE")? {
        (found, None)
    } else if let Some(rank) = number("JOB_COMPLETION_INDEX").transpose()? {
        let size = number(SIZE_VARIABLE).transpose()?;
        let size = size.ok_or_else(|| {
            format!(
                "JOB_COMPLETION_INDEX says the rank, and nothing the size: set {SIZE_VARIABLE} to the Job's completions"
            )
        })?;
        ((rank, size), None)
    } else {
        return Ok(None);
    };
    checked(found.0, found.1).map(|(rank, size)| Some(Place { rank, size, meet }))
}

/// `RANK/SIZE`, as `--rank` has it.
///
/// # Errors
/// It is no place.
pub fn given(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(rank, size)| Some((rank.parse().ok()?, size.parse().ok()?)));
    let (rank, size) = parts.ok_or_else(|| format!("'{text}' is not RANK/SIZE, for example 2/8"))?;
    checked(rank, size)
}

fn checked(rank: u32, size: u32) -> Result<(u32, u32), String> {
    let most = super::message::MOST_RANKS;
    match () {
        () if size == 0 || size > most => Err(format!("a group has 1 to {most} ranks, not {size}")),
        () if rank >= size => Err(format!("there is no rank {rank} of {size}: ranks are counted from 0 on")),
        () => Ok((rank, size)),
    }
}

/// A port that follows from the number of a job: two jobs of one host meet at different ones, as a rule.
fn port(job: &str) -> u64 {
    // FNV-1a.
    let hash = job.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    PORTS.0 + hash % PORTS.1
}

/// The first host of a list as Slurm writes it: `n[1-4,7],login` begins with `n1`.
fn first_host(list: &str) -> Option<String> {
    let end = list.find([',', '[']).unwrap_or(list.len());
    let (prefix, rest) = list.split_at(end);
    let host = match rest.strip_prefix('[') {
        None => prefix.to_owned(),
        Some(range) => {
            let (range, suffix) = range.split_once(']')?;
            let suffix = suffix.split(',').next().unwrap_or_default();
            let first = range.split([',', '-']).next()?;
            format!("{prefix}{first}{suffix}")
        }
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    (!host.is_empty() && host.chars().all(plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Place>, String> {
        place(&|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_launcher_says_rank_and_size_in_its_own_way() {
        assert_eq!(of(&[]), Ok(None));
        let slurm = [
            ("SLURM_PROCID", "2"),
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_STEP_NODELIST", "n[1-4]"),
            ("SLURM_JOB_ID", "17"),
            ("SLURM_STEP_ID", "0"),
        ];
        let found = of(&slurm).unwrap().unwrap();
        assert_eq!((found.rank, found.size), (2, 4));
        assert!(found.meet.unwrap().starts_with("n1:2"));
        // A script of sbatch is no step, although it has a rank.
        assert_eq!(of(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), Ok(None));
        let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "2")];
        let here = [&mpi[..], &[("PMIX_NAMESPACE", "42")]].concat();
        assert!(of(&here).unwrap().unwrap().meet.unwrap().starts_with("127.0.0.1:2"));
        let far = [&here[..2], &[("OMPI_COMM_WORLD_LOCAL_SIZE", "1"), ("PMIX_NAMESPACE", "42")]].concat();
        assert_eq!(of(&far).unwrap().unwrap().meet, None);
        let by_slurm = [&slurm[..], &here[..]].concat();
        assert_eq!(of(&by_slurm).unwrap().unwrap().rank, 1, "what mpirun says counts where srun started it");
        assert_eq!(of(&[("PMI_RANK", "3"), ("PMI_SIZE", "9")]).unwrap().unwrap().size, 9);
        assert!(of(&[("JOB_COMPLETION_INDEX", "3")]).unwrap_err().contains(SIZE_VARIABLE));
        let job = of(&[("JOB_COMPLETION_INDEX", "3"), (SIZE_VARIABLE, "4")]).unwrap().unwrap();
        assert_eq!((job.rank, job.size, job.meet), (3, 4, None));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        assert_eq!(given("2/8"), Ok((2, 8)));
        for bad in ["8/8", "0/0", "1", "a/b", "-1/2", "1/2/3", "0/100000"] {
            assert!(given(bad).is_err(), "{bad}");
        }
        assert!(of(&[("PMI_RANK", "x"), ("PMI_SIZE", "2")]).unwrap_err().contains("PMI_RANK=x"));
        assert!(of(&[("PMI_RANK", "2"), ("PMI_SIZE", "2")]).unwrap_err().contains("from 0 on"));
    }

    #[test]
    fn the_first_host_of_a_list() {
        let first = |list| first_host(list);
        assert_eq!(first("n[1-4]").as_deref(), Some("n1"));
        assert_eq!(first("n[007-009,11]-ib,login").as_deref(), Some("n007-ib"));
        assert_eq!(first("login,n[1-4]").as_deref(), Some("login"));
        assert_eq!(first("alone").as_deref(), Some("alone"));
        assert_eq!((first(""), first("n[1"), first("$(x)")), (None, None, None));
    }
}
