//! The subcommands of `record`: what is done with a recording, beside making one. Each is carried out as the option of `record` that it
//! was before, which still works.

use super::{GroupArgs, RecordExport};
use crate::names::{Names, offer};
use clap::{Args, Subcommand};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A recording that is there.
#[derive(Args, Clone, Debug)]
pub struct Recording {
    /// The recording: a file, a directory that holds one, or a block device
    #[arg(value_name = "RECORDING", value_hint = clap::ValueHint::AnyPath)]
    pub recording: OsString,
}

/// A part of a recording.
#[derive(Args, Clone, Debug, Default)]
pub struct Span {
    /// From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Before this moment
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// The last so long of what is recorded
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to"])]
    pub last: Option<String>,
}

#[derive(Subcommand, Clone, Debug)]
pub enum RecordCommand {
    /// What a recording holds: streams, frames, gaps
    #[command(after_help = "Examples:\n  narrows record list cam.nrec\n  narrows record list /mnt/ssd --json")]
    List(Recording),
    /// Write frames as pictures, MJPEG or Matroska
    #[command(after_help = "Examples:
  narrows record export cam.nrec --format mkv --stream front --into front.mkv
  narrows record export cam.nrec --format jpeg --last 10s --into pictures/
  narrows record export cam.nrec --format mjpeg | ffplay -")]
    Export {
        #[command(flatten)]
        recording: Recording,
        /// Which format
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: RecordExport,
        /// Which stream; needed where there are several
        #[arg(long, value_name = "NAME")]
        stream: Option<String>,
        #[command(flatten)]
        span: Span,
        /// Where frames go: a file, for jpeg a directory [default: stdout]
        #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
        into: Option<PathBuf>,
    },
    /// Is a frame that was acknowledged missing or altered?
    #[command(
        after_help = "Exit code 1: a frame that was acknowledged is missing or altered.\n\nExamples:\n  narrows record verify cam.nrec"
    )]
    Verify(Recording),
    /// After a crash: verify, fix a damaged header, return space
    #[command(after_help = "Examples:
  narrows record recover cam.nrec
  narrows record recover /dev/sdb1 --destroy SERIAL-part1")]
    Recover {
        #[command(flatten)]
        recording: Recording,
        /// Allow writing into a file that no longer begins as a recording
        #[arg(long)]
        overwrite: bool,
        /// Allow writing to the block device with this serial number
        #[arg(long, value_name = "SERIAL")]
        destroy: Option<String>,
    },
    /// Keep a span of a recording that overwrites its oldest
    #[command(after_help = "Examples:
  narrows record pin cam.nrec --last 2m
  narrows record pin cam.nrec --from 2026-11-25T13:00:00Z --to 2026-11-25T13:05:00Z")]
    Pin {
        #[command(flatten)]
        recording: Recording,
        #[command(flatten)]
        span: Span,
    },
    /// Let a pinned span be overwritten again; without a time, all
    #[command(after_help = "Examples:\n  narrows record unpin cam.nrec")]
    Unpin {
        #[command(flatten)]
        recording: Recording,
        #[command(flatten)]
        span: Span,
    },
    /// How many streams a storage carries, with how much memory
    #[command(after_help = "Writes as fast as the storage takes it for a minute (--for), at most --max-write.

Streams are written COUNTxRATE:
  4x16Mbit    bits a second of each (kbit, Mbit, Gbit)
  2x25MB      bytes a second of each
  4x2MB@30    bytes of a picture, and pictures a second
  4x1080p30   lines and pictures a second: 360p to 2160p (4k), up to 60; the rate that is
              usual for H.264 is assumed, 8 Mbit/s of 1080p30

Examples:
  narrows record plan /mnt/card --streams 4x16Mbit
  narrows record plan /mnt/card --streams 4x1080p30
  narrows record plan /mnt/ssd --streams 2x25MB --for 5m
  srun -N4 narrows record plan /mnt/shared --streams 4x16Mbit --group   four recorders on one store")]
    Plan {
        /// Directory, file, block device or simulated device
        #[arg(add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
        target: OsString,
        /// How many streams, and what each brings: 4x16Mbit, 2x40MB, 4x2MB@30, 4x1080p30 [default: 4x16Mbit]
        #[arg(long, value_name = "COUNTxRATE")]
        streams: Option<String>,
        /// How long it writes [default: 60s]
        #[arg(long = "for", value_name = "TIME")]
        time: Option<String>,
        /// What is written at most [default: as a check: 2 GiB, at most 2 % of the device]
        #[arg(long, value_name = "SIZE")]
        max_write: Option<String>,
        /// Allow writing into the regular file TARGET: its content is lost
        #[arg(long)]
        overwrite: bool,
        /// Allow writing to the block device TARGET with this serial number
        #[arg(long, value_name = "SERIAL")]
        destroy: Option<String>,
        #[command(flatten)]
        group: GroupArgs,
    },
}

/// Options of `record`, each in one word, so that a value that begins with - stays one.
#[derive(Default)]
struct Options(Vec<OsString>);

impl Options {
    fn flag(mut self, name: &str, is_given: bool) -> Self {
        self.0.extend(is_given.then(|| name.into()));
        self
    }

    fn value(mut self, name: &str, value: Option<impl AsRef<OsStr>>) -> Self {
        self.0.extend(value.map(|value| {
            let mut word = OsString::from(format!("{name}="));
            word.push(value.as_ref());
            word
        }));
        self
    }

    fn span(self, span: &Span) -> Self {
        let Span { from, to, last } = span;
        self.value("--from", from.as_ref()).value("--to", to.as_ref()).value("--last", last.as_ref())
    }
}

impl RecordCommand {
    /// The ranks that it is started with, where there are some.
    pub fn group(&self) -> GroupArgs {
        match self {
            Self::Plan { group, .. } => group.clone(),
            _ => GroupArgs::default(),
        }
    }

    /// The options of `record` that say the same.
    pub fn as_options(&self) -> Vec<OsString> {
        use clap::ValueEnum;
        let on = |recording: &Recording, mode: &str| {
            Options::default().value("--output", Some(&recording.recording)).flag(mode, true)
        };
        let options = match self {
            Self::List(recording) => on(recording, "--list"),
            Self::Verify(recording) => on(recording, "--verify"),
            Self::Recover { recording, overwrite, destroy } => {
                on(recording, "--recover").flag("--overwrite", *overwrite).value("--destroy", destroy.as_ref())
            }
            Self::Pin { recording, span } => on(recording, "--pin").span(span),
            Self::Unpin { recording, span } => on(recording, "--unpin").span(span),
            Self::Export { recording, format, stream, span, into } => {
                let format = format.to_possible_value();
                Options::default()
                    .value("--output", Some(&recording.recording))
                    .value("--export", format.as_ref().map(|f| f.get_name()))
                    .value("--stream", stream.as_ref())
                    .span(span)
                    .value("--into", into.as_ref())
            }
            Self::Plan { target, streams, time, max_write, overwrite, destroy, group: _ } => Options::default()
                .value("--output", Some(target))
                .flag("--plan", true)
                .value("--streams", streams.as_ref())
                .value("--for", time.as_ref())
                .value("--max-write", max_write.as_ref())
                .flag("--overwrite", *overwrite)
                .value("--destroy", destroy.as_ref()),
        };
        options.0
    }
}
