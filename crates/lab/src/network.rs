//! The network of a machine and the guests beside it: Ethernet frames over Unix sockets between their emulators, in the directory of the
//! session. The machine's own emulator is the hub. Nothing leads out of it: no port, no address of the host, no router.
//!
//! Multicast over loopback, the emulator's other way without privileges, can be joined by any process of the host, and needs a port that no
//! other session has.

use super::machine::{GuestBeside, Machine};
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest path of a Unix socket, without the zero at its end (unix(7)).
const LONGEST_SOCKET_PATH: usize = 107;

/// An emulator that has not opened its sockets by then never will.
const LISTEN_LIMIT: Duration = Duration::from_secs(120);

/// How an emulator is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// It listens at these sockets, one for each guest beside it.
    Hub(Vec<PathBuf>),
    /// It connects to this one.
    Guest {
        /// From 0 on, in the order of the file.
        number: usize,
        /// Where the hub listens for it.
        socket: PathBuf,
    },
}

/// The hub of a machine with its sockets in a directory.
///
/// # Errors
/// The directory's path is too long for a socket in it.
pub fn hub(machine: &Machine, directory: &Path) -> anyhow::Result<Option<Port>> {
    if machine.guests.is_empty() {
        return Ok(None);
    }
    let sockets: Vec<PathBuf> = (0..machine.guests.len()).map(|i| directory.join(format!("net{i}"))).collect();
    if let Some(long) = sockets.iter().find(|s| s.as_os_str().len() > LONGEST_SOCKET_PATH) {
        bail!(
            "{} is too long for the path of a socket (at most {LONGEST_SOCKET_PATH} bytes): set CARGO_TARGET_DIR to a shorter place",
            long.display()
        );
    }
    Ok(Some(Port::Hub(sockets)))
}

/// Arguments of the emulator: its network interface, and what that is connected to.
pub fn arguments(port: &Port, is_microvm: bool) -> Vec<String> {
    let device = if is_microvm { "virtio-net-device" } else { "virtio-net-pci" };
    let escaped = |path: &Path| path.to_string_lossy().replace(',', ",,");
    let mut all = Vec::new();
    let seat = match port {
        Port::Hub(sockets) => {
            all.extend(["-netdev".into(), "hubport,id=net,hubid=0".into()]);
            for (i, socket) in sockets.iter().enumerate() {
                let path = escaped(socket);
                all.extend(["-netdev".into(), format!("stream,id=link{i},server=on,addr.type=unix,addr.path={path}")]);
                all.extend(["-netdev".into(), format!("hubport,id=port{i},hubid=0,netdev=link{i}")]);
            }
            0
        }
        Port::Guest { number, socket } => {
            let path = escaped(socket);
            all.extend(["-netdev".into(), format!("stream,id=net,server=off,addr.type=unix,addr.path={path}")]);
            number + 1
        }
    };
    // Of the range that no vendor has: the second bit of the first byte (IEEE 802).
    all.extend(["-device".into(), format!("{device},netdev=net,mac=52:54:00:6c:61:{:02x}", seat + 1)]);
    all
}

/// What the first process of a guest is told of the network: its host name, its address, that it is beside another, and all names with
/// their addresses.
pub fn session(machine: &Machine, beside: Option<usize>) -> Vec<(&'static str, String)> {
    if machine.guests.is_empty() {
        return Vec::new();
    }
    let address = |seat: usize| format!("10.0.0.{}", seat + 1);
    let mut hosts = format!("127.0.0.1 localhost\n{} lab-{}\n", address(0), machine.name);
    for (i, guest) in machine.guests.iter().enumerate() {
        hosts.push_str(&format!("{} {}\n", address(i + 1), guest.name));
    }
    let name = |guest: &GuestBeside| guest.name.clone();
    let others: Vec<String> = machine.guests.iter().filter(|_| beside.is_none()).map(name).collect();
    vec![
        ("ADDRESS", address(beside.map_or(0, |number| number + 1))),
        ("HOSTS", hosts),
        ("GUESTS", others.join(" ")),
        ("BESIDE", if beside.is_some() { "yes" } else { "no" }.to_owned()),
    ]
}

/// Whether somebody listens at a Unix socket, by the text of /proc/net/unix.
fn is_listening(table: &str, socket: &Path) -> bool {
    // Num RefCount Protocol Flags Type St Inode Path; a socket that listens has __SO_ACCEPTCON (k:include/linux/net.h, k:net/unix/af_unix.c).
    table.lines().any(|line| {
        let mut words = line.split_ascii_whitespace();
        let flags = words.nth(3).and_then(|flags| u32::from_str_radix(flags, 16).ok()).unwrap_or(0);
        flags & 0x1_0000 != 0 && line.ends_with(&*socket.to_string_lossy())
    })
}

/// Waits until the hub's emulator listens; `false` if it need not any more.
///
/// # Errors
/// It does not, for too long.
pub fn wait_for_hub(socket: &Path, is_over: impl Fn() -> bool) -> anyhow::Result<bool> {
    let begun = Instant::now();
    while !is_over() {
        let table = fs::read_to_string("/proc/net/unix").context("cannot read /proc/net/unix")?;
        if is_listening(&table, socket) {
            return Ok(true);
        }
        if begun.elapsed() > LISTEN_LIMIT {
            bail!("nobody listens at {}", socket.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    const MACHINE: &str = r#"title = "m"
machine = "microvm"
arch = "amd64"
kernel = "linux-image-amd64"
memory = "512MiB"
console = "ttyS0"
modules = ["virtio_net"]
transport = "virtio-serial"
[[guest]]
name = "server"
[[guest]]
name = "client1"
"#;

    #[test]
    fn each_guest_has_a_link_to_the_hub_and_an_address_of_its_own() {
        let machine = Machine::parse("m", MACHINE).expect("sound");
        let port = hub(&machine, Path::new("/w/a,b")).expect("short").expect("guests");
        let line = arguments(&port, true).join(" ");
        assert_eq!(
            line,
            "-netdev hubport,id=net,hubid=0 \
             -netdev stream,id=link0,server=on,addr.type=unix,addr.path=/w/a,,b/net0 -netdev hubport,id=port0,hubid=0,netdev=link0 \
             -netdev stream,id=link1,server=on,addr.type=unix,addr.path=/w/a,,b/net1 -netdev hubport,id=port1,hubid=0,netdev=link1 \
             -device virtio-net-device,netdev=net,mac=52:54:00:6c:61:01"
        );
        let guest = Port::Guest { number: 1, socket: "/w/net1".into() };
        assert_eq!(
            arguments(&guest, false).join(" "),
            "-netdev stream,id=net,server=off,addr.type=unix,addr.path=/w/net1 \
             -device virtio-net-pci,netdev=net,mac=52:54:00:6c:61:03"
        );
    }

    #[test]
    fn a_guest_is_told_who_is_there() {
        let machine = Machine::parse("m", MACHINE).expect("sound");
        let told = |beside| session(&machine, beside);
        let hosts = "127.0.0.1 localhost\n10.0.0.1 lab-m\n10.0.0.2 server\n10.0.0.3 client1\n";
        let own: Vec<(&str, String)> = vec![
            ("ADDRESS", "10.0.0.1".into()),
            ("HOSTS", hosts.into()),
            ("GUESTS", "server client1".into()),
            ("BESIDE", "no".into()),
        ];
        assert_eq!(told(None), own);
        assert_eq!(told(Some(1))[0], ("ADDRESS", "10.0.0.3".into()));
        assert_eq!(told(Some(1))[3], ("BESIDE", "yes".into()));
        let alone = Machine::load(&crate::machines_directory(), "microvm").expect("the machine");
        assert!(session(&alone, None).is_empty() && hub(&alone, Path::new("/w")).expect("none").is_none());
    }

    #[test]
    fn a_directory_whose_path_is_too_long_is_told_with_the_remedy() {
        let machine = Machine::parse("m", MACHINE).expect("sound");
        let error = hub(&machine, &Path::new("/").join("x".repeat(120))).expect_err("too long").to_string();
        assert!(error.contains("CARGO_TARGET_DIR"), "{error}");
    }

    #[test]
    fn the_hub_is_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("net0");
        assert!(!wait_for_hub(&path, || true).expect("not waited for"));
        let _hub = UnixListener::bind(&path).expect("a socket");
        assert!(wait_for_hub(&path, || false).expect("it listens"));
        // Bound, but nobody listens yet; and the socket of another with a name that begins alike.
        let table = "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 00000000 0001 01 1 /w/net1\n0: 2 0 00010000 0001 01 1 /w/net10\n";
        assert!(!is_listening(table, Path::new("/w/net1")) && is_listening(table, Path::new("/w/net10")));
    }
}
