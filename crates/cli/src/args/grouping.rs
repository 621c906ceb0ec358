//! Of commands that are started many times and measure together.

use clap::Args;

/// Which rank of which group this process is.
#[derive(Args, Debug, Clone, Default)]
pub struct GroupArgs {
    /// Measure together with the other ranks of this group
    ///
    /// Rank and size are the launcher's: Slurm, Open MPI, PMI, an indexed Job (with NARROWS_GROUP_SIZE); else --rank says them. All begin each
    /// phase at one moment, and rank 0 gives the sum with the slowest rank.
    #[arg(long)]
    pub group: bool,
    /// Rank and size, where no launcher says them: 0/8 to 7/8
    #[arg(long, value_name = "RANK/SIZE", requires = "group")]
    pub rank: Option<String>,
    /// Where the group meets: rank 0 listens there, the others come
    ///
    /// Without it the first host of a Slurm step, or this machine where Open MPI has all ranks on it, and a port that follows from the
    /// job's number. Write an IPv6 address in brackets.
    #[arg(long, value_name = "HOST:PORT", requires = "group")]
    pub meet: Option<String>,
    /// What all ranks know and nobody else: 8 characters or more
    ///
    /// It is not sent. Other users of the machine see a command line: NARROWS_GROUP_TOKEN in the environment is better.
    #[arg(long, value_name = "TOKEN", requires = "group")]
    pub token: Option<String>,
    /// All ranks work in one file, each in a region of its own
    ///
    /// Rank 0 makes it in the target, a directory on storage that all share, and it is gone at the end. Files of operations on whole files
    /// (create, stat, delete) are in one directory, too.
    #[arg(long, requires = "group")]
    pub shared_file: bool,
    /// Each phase by 1, 2, 4, ... ranks: how the rate grows, and where more of them stop to pay
    ///
    /// The first so many ranks do it and the others wait. For workloads without a budget of time.
    #[arg(long, requires = "group")]
    pub scale: bool,
    /// How long the ranks may take to come [default: 60s]
    #[arg(long, value_name = "TIME", requires = "group")]
    pub meet_timeout: Option<String>,
}
