//! What `record` takes.

use crate::names::{Names, offer};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// A format in which frames are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordExport {
    /// A file for each picture, in the directory --into
    Jpeg,
    /// Pictures one behind the other
    Mjpeg,
    /// A film (Matroska) that players take, with the times of the frames
    Mkv,
    /// The bytes of the frames, one behind the other
    Raw,
}

/// What happens at the end of the recording's room.
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
    /// A producer is not read from until there is room
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
#[command(after_help = "\
Examples:
  ffmpeg -i CAMERA -c:v mjpeg -f mjpeg - | narrows record -o /mnt/ssd --size 10GB
  narrows record -o cam.nrec --size 10GB front=/run/cam0 back=/run/cam1      two named pipes
  narrows record -o /dev/sdb1 --destroy SERIAL-part1 --when-full wrap --listen /run/cams.sock
  narrows record -o /mnt/ssd --size 10GB --camera front=/dev/video0,1280x720@30
  narrows record -o /mnt/ssd --size 4GB --generate 4x2MB@30 --for 60s        cameras that are made up
  narrows record -o sim:sata-ssd --generate 4x2MB@30 --for 1h                on a simulated disk
  narrows record --plan --streams 4x16Mbit -o /mnt/card                      how many this storage carries
  narrows record --list -o cam.nrec
  narrows record --verify -o cam.nrec
  narrows record --export mkv -o cam.nrec --stream front --into front.mkv
  narrows record --pin --last 2m -o cam.nrec                                 keep it, while recording goes on

Frames are JPEG pictures one behind the other, or have their length and time before them (docs/recorder.md). What was \
acknowledged is on the storage, whatever happens. Ctrl-C ends a recording as it should be. Exit code 1: frames were lost; 4: none came.")]
pub struct RecordArgs {
    /// Where frames come from: pipes and files, each with the name of its stream before it, or - for standard input
    #[arg(value_name = "[NAME=]PATH", value_hint = clap::ValueHint::AnyPath)]
    pub inputs: Vec<OsString>,
    /// The recording: a directory (a new file in it), a file, a block device (--destroy SERIAL), a simulated device
    #[arg(short = 'o', long = "output", value_name = "TARGET", add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub target: OsString,
    /// Record a camera (V4L2): its device, the name of its stream before it, and what is asked of it behind a comma, as
    /// front=/dev/video0,1280x720@30 or /dev/video2,YUYV; several times for several. JPEG where it has that, else what it is set to
    #[arg(long, value_name = "[NAME=]DEVICE[,FORMAT]", value_hint = clap::ValueHint::FilePath)]
    pub camera: Vec<OsString>,
    /// Cameras that are made up: how many, of which frames, how many a second (max: as fast as the storage)
    #[arg(long, value_name = "COUNTxSIZE@FPS")]
    pub generate: Option<String>,
    /// By how much sizes and moments of made-up frames differ, percent
    #[arg(long, value_name = "PERCENT", requires = "generate", value_parser = clap::value_parser!(u32).range(0..=90))]
    pub jitter: Option<u32>,
    /// Made-up frames come so many at once
    #[arg(long, value_name = "N", requires = "generate", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub burst: Option<u32>,
    /// Made-up frames of each camera
    #[arg(long, value_name = "N", requires = "generate")]
    pub frames: Option<u64>,
    /// Seed of what is made up
    #[arg(long, value_name = "N", requires = "generate")]
    pub seed: Option<u64>,
    /// Take producers by a Unix socket that is made there
    #[arg(long, value_name = "SOCKET", value_hint = clap::ValueHint::FilePath)]
    pub listen: Option<PathBuf>,
    /// How long to record [default: until the producers end, or Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// Room of a new recording, reserved at its start [default: all of a device, or of a file that is there; a new file takes room as
    /// it grows, and leaves a twentieth of the file system free]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Keep what was reserved and not used: else it is given back at the end
    #[arg(long)]
    pub keep_size: bool,
    /// At the end of the room [default: stop]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub when_full: Option<RecordFull>,
    /// The largest frame of a new recording [default: a quarter of a segment, 16 MiB]
    #[arg(long, value_name = "SIZE")]
    pub max_frame: Option<String>,
    /// Length of the segments of a new recording [default: 64 MiB, less where there is little room]
    #[arg(long, value_name = "SIZE")]
    pub segment: Option<String>,
    /// Memory for frames on their way: what a stall of the storage may cost [default: 256 MiB, at most a quarter of what is free]
    #[arg(long, value_name = "SIZE")]
    pub ring: Option<String>,
    /// Whether producers wait where the ring is full [default: wait; made-up cameras with a rate never do]
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
    /// Have this process, or all of this control group (its directory), stand still while a quarter of the ring holds frames;
    /// several times for several
    #[arg(long, value_name = "PID|CGROUP")]
    pub defer: Vec<String>,
    /// They stand still for no longer at a time, and have as long to themselves after it
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub defer_at_most: String,
    /// Limit this control group (its directory) meanwhile on the disks below TARGET: weight:N, latency:TIME, read:SIZE, write:SIZE
    /// (a second), read-iops:N, write-iops:N, several with commas; what was there before is put back
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
    /// Allow recording onto the block device TARGET with this serial number
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// Write as fast as the storage takes it for a minute (--for), at most --max-write, and say how many --streams it carries
    #[arg(long, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub plan: bool,
    /// The streams that are planned for: how many, and bits or bytes a second of each
    #[arg(long, value_name = "COUNTxRATE", requires = "plan", default_value = "4x16Mbit")]
    pub streams: String,
    /// What --plan writes to the device at most [default: as a check: 2 GiB, at most 2 % of the device]
    #[arg(long, value_name = "SIZE", requires = "plan")]
    pub max_write: Option<String>,
    /// Say what a recording holds
    #[arg(long, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub list: bool,
    /// Read all of a recording: is any frame missing or altered that was acknowledged?
    #[arg(long, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub verify: bool,
    /// The same after a crash; mend what is damaged of its head, and give back room that it does not use
    #[arg(long, group = "reading", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub recover: bool,
    /// Keep the segments that hold frames of this time (--from, --to, --last): a recording that wraps goes round them, also one
    /// that goes on now
    #[arg(long, groups = ["reading", "timed"], conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub pin: bool,
    /// Let them be overwritten again; without a time, all
    #[arg(long, groups = ["reading", "timed"], conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub unpin: bool,
    /// Write frames in this format to --into, else to stdout; also while recording goes on
    #[arg(long, groups = ["reading", "timed"], value_enum, value_name = "FORMAT", conflicts_with_all = ["inputs", "camera", "generate", "listen"])]
    pub export: Option<RecordExport>,
    /// Which stream; needed where there are several
    #[arg(long, value_name = "NAME", requires = "export")]
    pub stream: Option<String>,
    /// From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)
    #[arg(long, value_name = "TIME", requires = "timed")]
    pub from: Option<String>,
    /// Before this moment
    #[arg(long, value_name = "TIME", requires = "timed")]
    pub to: Option<String>,
    /// The last so long of what is recorded
    #[arg(long, value_name = "TIME", requires = "timed", conflicts_with_all = ["from", "to"])]
    pub last: Option<String>,
    /// Where exported frames go: a file, for jpeg a directory
    #[arg(long, value_name = "PATH", requires = "export", value_hint = clap::ValueHint::AnyPath)]
    pub into: Option<PathBuf>,
}
