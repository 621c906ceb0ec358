//! What `record` takes.

use crate::names::{Names, offer};
use clap::{Args, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A format in which frames are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordExport {
    /// A file for each picture, in the directory --into
    Jpeg,
    /// Pictures back to back
    Mjpeg,
    /// Matroska video, with the times of the frames
    Mkv,
    /// The bytes of the frames, back to back
    Raw,
}

/// What happens at the end of the recording's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordFull {
    /// Recording stops
    Stop,
    /// The oldest is overwritten
    Wrap,
}

/// Whether producers wait where the ring is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordRingFull {
    /// A producer is not read from until there is space
    Wait,
    /// What comes is lost, and counted
    Drop,
}

/// The priority that writes ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordPriority {
    /// Before those of others, where the scheduler of the disk orders by it
    RealTime,
    /// As those of others
    Normal,
}

/// Arguments of `record`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  narrows record -o /mnt/ssd --size 10GB --camera front=/dev/video0,1280x720@30
  ffmpeg -i CAMERA -f mjpeg - | narrows record -o /mnt/ssd --size 10GB
  narrows record -o /mnt/ssd --size 4GB --generate 4x2MB@30 --for 60s
  narrows record -o cam.nrec --size 10GB front=/run/cam0 back=/run/cam1   two named pipes
  narrows record -o /dev/sdb1 --destroy SERIAL-part1 --when-full wrap --listen /run/cams.sock
  narrows record -o sim:sata-ssd --generate 4x2MB@30 --for 1h             a simulated disk

Frames are JPEG pictures back to back, or have their length and time before them (docs/recorder.md). What was \
acknowledged is on the storage, whatever happens. Ctrl-C ends a recording as it should be. Exit code 1: frames were lost; 4: none came."
)]
pub struct RecordArgs {
    #[command(subcommand)]
    pub command: Option<super::RecordCommand>,
    /// Of `record plan`.
    #[arg(skip)]
    pub group: super::GroupArgs,
    /// Pipes and files with frames, and their names; - is stdin
    #[arg(value_name = "[NAME=]PATH", value_hint = clap::ValueHint::AnyPath)]
    pub inputs: Vec<OsString>,
    /// The recording: directory, file, block device, sim:NAME
    ///
    /// In a directory it is a new file; a block device needs --destroy SERIAL.
    #[arg(short = 'o', long = "output", value_name = "TARGET", required = true, add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub output: Option<OsString>,
    /// Record a camera (V4L2): front=/dev/video0,1280x720@30
    ///
    /// NAME=DEVICE,FORMAT: the name of its stream, its device, and what is asked of it (or YUYV and so on); NAME= and FORMAT may
    /// be left out: then it is JPEG where the camera has that, else what it is set to. Several times for several cameras.
    #[arg(long, value_name = "CAMERA", value_hint = clap::ValueHint::FilePath)]
    pub camera: Vec<OsString>,
    /// Generated cameras, for a test
    ///
    /// How many, of which frames, how many a second; with max for the rate, as fast as the storage.
    #[arg(long, value_name = "NxSIZE@FPS")]
    pub generate: Option<String>,
    /// By how much sizes and moments of generated frames differ, percent
    #[arg(long, value_name = "PERCENT", requires = "generate", value_parser = clap::value_parser!(u32).range(0..=90))]
    pub jitter: Option<u32>,
    /// Generated frames come so many at once
    #[arg(long, value_name = "N", requires = "generate", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub burst: Option<u32>,
    /// Generated frames of each camera
    #[arg(long, value_name = "N", requires = "generate")]
    pub frames: Option<u64>,
    /// Seed of the generated frames
    #[arg(long, value_name = "N", requires = "generate")]
    pub seed: Option<u64>,
    /// Take producers by a Unix socket that is made there
    #[arg(long, value_name = "SOCKET", value_hint = clap::ValueHint::FilePath)]
    pub listen: Option<PathBuf>,
    /// How long to record [default: until the producers end, or Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// Size of a new recording, reserved at its start
    ///
    /// Without it all of a device, or of a file that is there; a new file grows, and leaves a twentieth of the file system free.
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Keep what was reserved and not used: else it is given back at the end
    #[arg(long)]
    pub keep_size: bool,
    /// At the end of that size: stop, or wrap [default: stop]
    ///
    /// stop ends the recording; wrap overwrites the oldest.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub when_full: Option<RecordFull>,
    /// The largest frame of a new recording [default: a quarter of a segment, 16 MiB]
    #[arg(long, value_name = "SIZE")]
    pub max_frame: Option<String>,
    /// Length of the segments of a new recording [default: 64 MiB, less where there is little room]
    #[arg(long, value_name = "SIZE")]
    pub segment: Option<String>,
    /// Memory for buffered frames [default: 256 MiB]
    ///
    /// At most a quarter of what is free. It decides how long a gap of the storage may be.
    #[arg(long, value_name = "SIZE")]
    pub ring: Option<String>,
    /// Whether producers wait where the ring is full [default: wait; generated cameras with a rate never do]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub ring_full: Option<RecordRingFull>,
    /// A frame is durable so long after it came, and the time of a flush
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    pub max_latency: String,
    /// The priority that writes ask for
    #[arg(long, value_enum, value_name = "PRIORITY", default_value_t = RecordPriority::RealTime)]
    pub priority: RecordPriority,
    /// Nice value of the recorder, -20 (before others) to 19 [default: as it is]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub nice: Option<i32>,
    /// The CPUs that the recorder runs on, as 0-1,3 [default: as it is]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Pause this process, or all of this control group (its directory), while a quarter of the ring holds frames;
    /// several times for several
    #[arg(long, value_name = "PID|CGROUP")]
    pub defer: Vec<String>,
    /// They are paused for no longer at a time, and have as long to themselves after it
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub defer_at_most: String,
    /// Limit this control group (its directory) meanwhile on the disks below TARGET: weight:N, latency:TIME, read:SIZE, write:SIZE
    /// (a second), read-iops:N, write-iops:N, several with commas; what was there before is restored
    #[arg(long, value_name = "CGROUP=KEY:VALUE")]
    pub limit: Vec<OsString>,
    /// Write metrics there every second (OpenMetrics text): to a file, or, where the name ends in .sock, to whoever connects
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
    /// Give up what was recorded there before
    #[arg(long)]
    pub new: bool,
    /// Allow recording into the regular file TARGET that holds something else: its content is lost
    #[arg(long)]
    pub overwrite: bool,
    /// Allow recording onto the block device with this serial number
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// Write as fast as the storage takes it for a minute (--for), at most --max-write, and say how many --streams it carries
    #[arg(long, hide = true, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub plan: bool,
    /// The streams that are planned for: how many, and what each brings: 4x16Mbit, 2x40MB, 4x2MB@30, 4x1080p30
    #[arg(long, hide = true, value_name = "COUNTxRATE", requires = "plan", default_value = "4x16Mbit")]
    pub streams: String,
    /// What --plan writes to the device at most [default: as a check: 2 GiB, at most 2 % of the device]
    #[arg(long, hide = true, value_name = "SIZE", requires = "plan")]
    pub max_write: Option<String>,
    /// Say what a recording holds
    #[arg(long, hide = true, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub list: bool,
    /// Read all of a recording: is any frame missing or altered that was acknowledged?
    #[arg(long, hide = true, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub verify: bool,
    /// The same after a crash; fix a damaged header, and return unused space
    #[arg(long, hide = true, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub recover: bool,
    /// Keep the segments that hold frames of this time (--from, --to, --last): a recording that wraps keeps them, also one
    /// that runs now
    #[arg(long, hide = true, groups = ["reading", "timed"], conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub pin: bool,
    /// Let them be overwritten again; without a time, all
    #[arg(long, hide = true, groups = ["reading", "timed"], conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub unpin: bool,
    /// Write frames in this format to --into, else to stdout; also while recording continues
    #[arg(long, hide = true, groups = ["reading", "timed"], value_enum, value_name = "FORMAT", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub export: Option<RecordExport>,
    /// Which stream; needed where there are several
    #[arg(long, hide = true, value_name = "NAME", requires = "export")]
    pub stream: Option<String>,
    /// From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)
    #[arg(long, hide = true, value_name = "TIME", requires = "timed")]
    pub from: Option<String>,
    /// Before this moment
    #[arg(long, hide = true, value_name = "TIME", requires = "timed")]
    pub to: Option<String>,
    /// The last so long of what is recorded
    #[arg(long, hide = true, value_name = "TIME", requires = "timed", conflicts_with_all = ["from", "to"])]
    pub last: Option<String>,
    /// Where exported frames go: a file, for jpeg a directory
    #[arg(long, hide = true, value_name = "PATH", requires = "export", value_hint = clap::ValueHint::AnyPath)]
    pub into: Option<PathBuf>,
}

impl RecordArgs {
    /// What is recorded to, or read; without a subcommand it is required.
    pub fn target(&self) -> &OsStr {
        self.output.as_deref().unwrap_or_default()
    }
}
