//! What `trace` takes.

use crate::names::{Names, offer};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of `trace`.
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "What the command and all that it starts do to files is recorded as text of strace's form: each call, when it was and how
long it took. It is seen by ptrace(2), which needs no rights; each call stops twice for it, so the command is slower meanwhile. `narrows run FILE
TARGET` replays it on another target. It ends with the command's exit code; after a signal the file has what was recorded.

With --device the requests of a disk or a partition are recorded instead, whoever makes them (block events of tracefs, as root), as
blkparse writes them: while the command runs, for a time, or until Ctrl-C.

Examples:
  narrows trace -o build.trace -- make -j4
  narrows trace -o db.trace --root /srv/db -- ./load.sh   only what is below /srv/db
  narrows run db.trace /mnt/card                          at its own speed
  narrows run db.trace /mnt/card --set outside=map --set speed=max
  narrows trace -o disk.trace --device /dev/sda --for 60s
  narrows run disk.trace /dev/sdb --destroy SERIAL        on another disk"
)]
pub struct TraceArgs {
    /// The file that the recording goes to
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: PathBuf,
    /// The directory whose files are replayed [default: the current one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub root: Option<PathBuf>,
    /// Record the requests of this disk or partition
    #[arg(long, value_name = "DEV", conflicts_with = "root", add = offer(&[Names::Devices, Names::Paths]))]
    pub device: Option<PathBuf>,
    /// For so long [default: until the command ends, or Ctrl-C]
    #[arg(long = "for", value_name = "TIME", requires = "device")]
    pub time: Option<String>,
    /// The command with its arguments
    #[arg(required_unless_present = "device", trailing_var_arg = true, value_name = "COMMAND", add = offer(&[Names::Programs, Names::Paths]))]
    pub command: Vec<OsString>,
}
