//! The server: a Unix socket or a loopback port, one thread a client, one card for all of them.
//!
//! Invariants:
//! - A client that sends garbage, goes away or never answers costs a thread and its own connection, never another's.
//! - When [`CardServer::stop`] returns, or the server is dropped, no thread and no socket file of it is left.

use super::device::{Device, Summary};
use super::handshake::{HandshakeEnd, shake_hands};
use super::socket::Socket;
use super::transmission;
use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Clients at once; each may hold the longest request in memory.
const MAX_CLIENTS: usize = 8;
/// How often the listener looks whether it is to end, nanoseconds.
const LOOK_EVERY_NS: i64 = 50_000_000;

#[derive(Clone, Debug)]
pub enum Listen {
    /// A Unix socket at this path.
    Path(PathBuf),
    /// A port of the loopback address; 0: a free one.
    Port(u16),
}

#[derive(Debug)]
enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Socket::Unix(stream)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct CardServer {
    device: Arc<Device>,
    address: String,
    path: Option<PathBuf>,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    clients: Mutex<Vec<(Socket, JoinHandle<()>)>>,
    served: AtomicU64,
    quiet: bool,
}

impl CardServer {
    /// Starts to listen. `quiet`: what clients do wrong is not said on standard error.
    ///
    /// # Errors
    /// Why it cannot listen there.
    pub fn start(device: Device, listen: &Listen, quiet: bool) -> anyhow::Result<Self> {
        let (listener, address, path) = match listen {
            Listen::Path(path) => {
                let listener = listen_at(path)?;
                listener.set_nonblocking(true)?;
                (Listener::Unix(listener), format!("nbd+unix:///?socket={}", path.display()), Some(path.clone()))
            }
            Listen::Port(port) => {
                let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, *port)))
                    .with_context(|| format!("the card server cannot listen on port {port}"))?;
                listener.set_nonblocking(true)?;
                let address = format!("nbd://{}", listener.local_addr()?);
                (Listener::Tcp(listener), address, None)
            }
        };
        let device = Arc::new(device);
        let shared = Arc::new(Shared { quiet, ..Shared::default() });
        let thread = std::thread::Builder::new().name("card".into());
        let listener = {
            let (device, shared) = (device.clone(), shared.clone());
            thread.spawn(move || accept_clients(&listener, &device, &shared))
        };
        let listener = Some(listener.context("no thread for the card server")?);
        Ok(Self { device, address, path, shared, listener })
    }

    /// Where it listens, as an NBD URI.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether a client came, and all have left.
    pub fn all_clients_left(&self) -> bool {
        self.shared.served.load(Ordering::Relaxed) > 0
            && self.shared.lock().iter().all(|(_, thread)| thread.is_finished())
    }

    /// Ends all connections, and says what the card did.
    pub fn stop(mut self) -> Summary {
        self.end();
        self.device.summary()
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            // A thread that panicked has said so.
            let _ = listener.join();
        }
        let clients = std::mem::take(&mut *self.shared.lock());
        clients.iter().for_each(|(socket, _)| socket.end());
        for (_, thread) in clients {
            let _ = thread.join();
        }
        if let Some(path) = self.path.take() {
            // Gone already: as it should be.
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for CardServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Socket, JoinHandle<()>)>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, what: &str) {
        if !self.quiet {
            eprintln!("card: {what}");
        }
    }
}

/// A socket file that a server left behind is replaced; anything else that is there is left alone.
fn listen_at(path: &Path) -> anyhow::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            bail!("{}: there is something else than a socket; give another path", path.display())
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            bail!("{}: another server listens there; end it, or give another path", path.display())
        }
        Ok(_) => fs::remove_file(path).with_context(|| format!("{}: cannot be replaced", path.display()))?,
        Err(_) => {}
    }
    UnixListener::bind(path).with_context(|| {
        format!(
            "{}: no socket can be made there (a path of at most 107 bytes, in a directory of yours)",
            path.display()
        )
    })
}

fn accept_clients(listener: &Listener, device: &Arc<Device>, shared: &Arc<Shared>) {
    while !shared.stop.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY_NS as _ };
        if !poll(&mut fds, Some(&wait)).is_ok_and(|ready| ready > 0) {
            continue;
        }
        match listener.accept() {
            Ok(socket) => accept_client(socket, device, shared),
            // Another thread's client, or one that left again.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                shared.log(&format!("a client could not be taken: {error}"));
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    }
}

fn accept_client(mut socket: Socket, device: &Arc<Device>, shared: &Arc<Shared>) {
    let mut clients = shared.lock();
    clients.retain(|(_, thread)| !thread.is_finished());
    if clients.len() >= MAX_CLIENTS {
        shared.log(&format!("a client was turned away: {MAX_CLIENTS} are served at once"));
        return;
    }
    let Ok(handle) = socket.again() else { return };
    let (device, of_thread) = (device.clone(), shared.clone());
    let thread = std::thread::Builder::new().name("card client".into()).spawn(move || {
        // The kernel may be 50 us late for a thread that did not say that it matters (prctl(2), PR_SET_TIMERSLACK).
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        if let Err(error) = serve_requests(&mut socket, &device, &of_thread)
            && !of_thread.stop.load(Ordering::Relaxed)
        {
            of_thread.log(&format!("a connection was closed: {error}"));
        }
        socket.end();
    });
    match thread {
        Ok(thread) => clients.push((handle, thread)),
        Err(error) => shared.log(&format!("no thread for a client: {error}")),
    }
}

fn serve_requests(socket: &mut Socket, device: &Device, shared: &Shared) -> io::Result<()> {
    match shake_hands(socket, device.card())? {
        HandshakeEnd::Aborted => Ok(()),
        HandshakeEnd::Transmission => {
            shared.served.fetch_add(1, Ordering::Relaxed);
            transmission::serve(socket, device, &shared.stop)
        }
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
