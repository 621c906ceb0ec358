//! The card of an emulated machine: put in before the emulator starts, taken out when it has ended.

use super::parameters::Card;
use super::server::{CardServer, Listen};
use super::{Summary, find, insert};
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Longest path of a Unix socket, without the zero at its end (unix(7)).
const LONGEST_SOCKET_PATH: usize = 107;

/// A machine's card was in use: so much of it is data. Reads of what was never written measure nothing.
const IN_USE_BYTES: u64 = 64 << 20;

/// What a command says of the card of a machine.
#[derive(clap::Args, Clone, Debug)]
pub struct Choice {
    /// The card that is put into the machine: a name of lab/cards, or the path of a TOML file
    #[arg(long, value_name = "CARD")]
    card: Option<String>,
    /// Where the faults of the card come from
    #[arg(long = "card-seed", value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Multiply all times of the card, where the emulator is too slow for the truth
    #[arg(long = "card-slowness", value_name = "FACTOR", default_value_t = 1.0)]
    slowness: f64,
}

impl Choice {
    /// The card for a machine of this name, whose `own` card it is; `None` if it has no slot.
    ///
    /// # Errors
    /// A card was named for a machine without a slot, or it is no card.
    pub fn slot(&self, machine: &str, own: Option<&str>) -> anyhow::Result<Option<Slot>> {
        let name = match (self.card.as_deref(), own) {
            (Some(name), Some(_)) => name,
            (None, Some(own)) => own,
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err(anyhow::anyhow!("{machine} has no slot for a card; q35-sdcard has"));
            }
        };
        let slot = Slot::of(name).with_context(|| format!("{machine}: its card cannot be used"))?;
        Ok(Some(Slot { seed: self.seed, slowness: self.slowness, ..slot }))
    }
}

/// Which card, and how.
#[derive(Clone, Debug)]
pub struct Slot {
    pub card: Card,
    /// The file that it keeps its content in; `None`: one that is gone with it.
    pub backing: Option<PathBuf>,
    /// Where its faults come from.
    pub seed: u64,
    /// What its times are multiplied by.
    pub slowness: f64,
    /// So many bytes at its beginning are data already.
    pub filled_bytes: u64,
}

impl Slot {
    /// A new card of a name in `lab/cards`, or of a path.
    ///
    /// # Errors
    /// There is none, or it is no card.
    pub fn of(name: &str) -> anyhow::Result<Self> {
        Ok(Self { card: find(name)?, backing: None, seed: 1, slowness: 1.0, filled_bytes: IN_USE_BYTES })
    }

    /// Starts to serve it, in a directory if the path of a socket there is short enough.
    ///
    /// # Errors
    /// There is no place for its content or for the socket.
    pub fn serve(&self, directory: &Path) -> anyhow::Result<ServedCard> {
        let mut socket = directory.join("card");
        if socket.as_os_str().len() > LONGEST_SOCKET_PATH {
            socket =
                std::env::temp_dir().join(format!("narrows-card-{}-{:x}", std::process::id(), sys::monotonic_ns()));
        }
        let device = insert(self.card.clone(), self.backing.as_deref(), self.seed, self.slowness)?;
        device.fill(self.filled_bytes).context("the card cannot be filled")?;
        let server = CardServer::start(device, &Listen::Path(socket.clone()), false)?;
        Ok(ServedCard { server, socket })
    }
}

/// A card that is served.
#[derive(Debug)]
pub struct ServedCard {
    server: CardServer,
    socket: PathBuf,
}

impl ServedCard {
    /// Where the emulator finds it.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Takes it out; what it did.
    pub fn stop(self) -> Summary {
        self.server.stop()
    }
}
