//! What a page that is sent on does not say: the names of the machine and of its users, serial numbers, addresses, the boot,
//! what the kernel's command line and messages tell of networks. The rules of forms are those of a capture (`identity.rs`).

use crate::facts;
use crate::identity::{Hasher, by_form, identifies};
use model::{CompactSort as _, Environment, Fact, Layer, LayerKind, Mount, Run, Stack};
use std::collections::BTreeSet;

/// Shorter texts are found by chance in others.
const SHORTEST: usize = 6;
/// A host's name that is shorter is a word.
const SHORTEST_HOST: usize = 3;
/// Names that the kernel, an installer or a simulation gives to every machine.
const NO_NAMES: [&str; 4] = ["localhost", "(none)", "localhost.localdomain", "simulated"];
/// Directories whose entries are called like their users.
const HOMES: [&str; 5] = ["/home/", "/var/home/", "/Users/", "/run/media/", "/media/"];
/// Parameters of the kernel whose values concern storage, memory, processors or their drivers, by the beginning of their names
/// (Documentation/admin-guide/kernel-parameters.txt).
const PARAMETERS: &[&str] = &[
    "root",
    "ro",
    "rw",
    "mitigations",
    "nvme",
    "libata",
    "ata",
    "ahci",
    "scsi",
    "sd_mod",
    "usb-storage",
    "usbcore",
    "uas",
    "xhci",
    "sdhci",
    "mmc",
    "dm_mod",
    "dm-",
    "dm_",
    "md_mod",
    "raid",
    "zswap",
    "zram",
    "swiotlb",
    "pci",
    "iommu",
    "intel_iommu",
    "amd_iommu",
    "isolcpus",
    "nohz",
    "rcu",
    "idle",
    "processor",
    "intel_idle",
    "intel_pstate",
    "amd_pstate",
    "cpufreq",
    "cpuidle",
    "elevator",
    "transparent_hugepage",
    "hugepages",
    "default_hugepages",
    "mem",
    "maxcpus",
    "nosmt",
    "preempt",
    "threadirqs",
    "irqaffinity",
    "cgroup",
    "systemd.unified_cgroup",
    "psi",
    "coherent_pool",
    "cma",
    "clocksource",
    "tsc",
    "fsck",
    "console",
    "quiet",
    "splash",
    "noresume",
    "init_on",
    "page_poison",
    "slub",
    "kasan",
    "lockdep",
    "debug",
    "numa",
    "nr_cpus",
    "nvdimm",
];
/// Words of kernel messages about networks, logins and their checks; such lines say nothing of storage.
const NETWORK_WORDS: &[&str] = &[
    "ipv4",
    "ipv6",
    "ssid",
    "bssid",
    "netdev",
    "dhcp",
    "cfg80211",
    "mac80211",
    "wifi",
    "wlan",
    "ethernet",
    "bluetooth",
    "btusb",
    "audit",
    "apparmor",
    "selinux",
    "ufw",
    "iptables",
    "nftables",
    "hostname",
    "arp",
    "tcp",
    "udp",
    "wireguard",
    "nfs",
    "cifs",
    "smb",
    "login",
    "logind",
    "sudo",
    "sshd",
    "rfkill",
    "regulatory",
];
/// Beginnings of the names of network interfaces, which a digit follows (systemd.net-naming-scheme(7), and the kernel's own).
const INTERFACES: &[&str] = &[
    "eth", "wlan", "wwan", "eno", "enp", "ens", "end", "wlp", "wlo", "wls", "br", "docker", "virbr", "tun", "tap",
    "bond", "team", "vlan", "ppp", "wg", "can", "ib", "lxdbr", "vnet", "macvtap", "dummy", "sit",
];
/// The same, which hexadecimal digits follow.
const INTERFACES_HEX: &[&str] = &["enx", "wlx", "veth"];
/// Options of mounts that name users, machines or keys.
const MOUNT_OPTIONS: &[&str] = &[
    "user",
    "username",
    "domain",
    "credentials",
    "cred",
    "password",
    "addr",
    "clientaddr",
    "mountaddr",
    "mount_addr",
    "ip",
    "unc",
    "srcaddr",
    "workgroup",
    "key",
    "secret",
    "name",
    "mon_addr",
    "fsid",
];

/// What is not told, learnt from all that stands on one page: the same text becomes the same other text everywhere.
#[derive(Clone, Debug)]
pub struct Redaction {
    scramble: Hasher,
    /// What is replaced wherever it is seen, longest first.
    secrets: Vec<String>,
    /// Names of machines, with what stands for them.
    hosts: Vec<(String, String)>,
}

/// Whether a fact tells one device from all others of its model.
fn is_serial(name: &str) -> bool {
    name == facts::SERIAL || name == facts::DM_UUID || ["serial", "uuid", "wwid"].iter().any(|part| name.contains(part))
}

impl Redaction {
    /// Learns what identifies in these runs. `salt`: a number that nobody can foresee, and that is not kept.
    pub fn of<'r>(runs: impl IntoIterator<Item = &'r Run>, salt: u64) -> Self {
        let scramble = Hasher::new(salt);
        let (mut secrets, mut names) = (BTreeSet::new(), BTreeSet::new());
        let mut words: BTreeSet<String> = BTreeSet::new();
        for run in runs {
            for (_, fact) in run.target.stack.layers.iter().flat_map(|l| &l.facts).filter(|(name, _)| is_serial(name)) {
                let text = fact.text().map(str::trim).filter(|t| t.len() >= SHORTEST && identifies(t));
                secrets
                    .extend(text.into_iter().flat_map(|t| [t, t.strip_prefix("0x").unwrap_or(t)]).map(str::to_owned));
            }
            let host = run.environment.hostname.as_deref().map(str::trim);
            for name in host.into_iter().flat_map(|h| [Some(h), h.split('.').next()]).flatten() {
                if name.len() >= SHORTEST_HOST && !NO_NAMES.contains(&name) {
                    names.insert(name.to_owned());
                }
            }
            words.extend(run.phases.iter().flat_map(|p| word_list(&p.plan.name)));
            words.extend(run.metrics().flat_map(|m| word_list(&m.id)));
        }
        // A machine that is called like a phase: its name is replaced where it is one, and nowhere else.
        names.retain(|name| !words.contains(&name.to_ascii_lowercase()));
        let mut secrets: Vec<String> = secrets.into_iter().collect();
        secrets.compact_sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let mut hosts: Vec<(String, String)> =
            names.into_iter().map(|name| (name.clone(), stand_in(scramble, &name))).collect();
        hosts.compact_sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { scramble, secrets, hosts }
    }

    /// A text without what identifies.
    pub fn text(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.scramble.secrets_and_forms(&self.secrets, &mut bytes);
        // Only ASCII letters and digits were changed, to such.
        let mut text = users(&String::from_utf8(bytes).unwrap_or_default());
        for (name, stand_in) in &self.hosts {
            text = replaced_word(&text, name, stand_in);
        }
        text
    }

    /// The same without the names of machines as words: of a machine that is called like a word of this program.
    pub fn without_hosts(&self) -> Self {
        Self { hosts: Vec::new(), ..self.clone() }
    }

    /// What stands for a machine.
    pub fn host(&self, name: &str) -> String {
        stand_in(self.scramble, name)
    }

    /// A command line of the kernel.
    pub fn command_line(&self, line: &str) -> String {
        self.text(&command_line(line))
    }

    /// The machine: its name and boot become others, its command line keeps what concerns storage.
    pub fn environment(&self, environment: &mut Environment) {
        if let Some(name) = &mut environment.hostname {
            *name = self.host(name);
        }
        for text in environment.missing.iter_mut().chain(&mut environment.machine).chain(&mut environment.distribution)
        {
            *text = self.text(text);
        }
        if let Some(boot) = &mut environment.boot_id {
            let mut bytes = std::mem::take(boot).into_bytes();
            let range = 0..bytes.len();
            self.scramble.apply(&mut bytes, range);
            *boot = String::from_utf8(bytes).unwrap_or_default();
        }
        if let Some(line) = &mut environment.kernel_command_line {
            *line = self.command_line(line);
        }
    }

    /// The storage path of a machine of this name: that, its command line, serial numbers too short to be looked for elsewhere, and where a mount comes from.
    pub fn stack(&self, stack: &mut Stack, host: Option<&str>) {
        for layer in &mut stack.layers {
            self.layer(layer, host);
        }
        if let Some(mount) = &mut stack.mount {
            self.mount(mount);
        }
    }

    fn layer(&self, layer: &mut Layer, host: Option<&str>) {
        if layer.kind == LayerKind::Host && host == Some(&layer.name) {
            layer.name = self.host(&layer.name);
        }
        if let Some(Fact::Text(line)) = layer.facts.get_mut(facts::KERNEL_COMMAND_LINE) {
            *line = self.command_line(line);
        }
        for (name, fact) in &mut layer.facts {
            if let Fact::Text(text) = fact
                && is_serial(name)
                && text.trim().len() < SHORTEST
                && identifies(text)
            {
                let mut bytes = std::mem::take(text).into_bytes();
                let range = 0..bytes.len();
                self.scramble.apply(&mut bytes, range);
                *text = String::from_utf8(bytes).unwrap_or_default();
            }
        }
    }

    fn mount(&self, mount: &mut Mount) {
        if mount.source.contains(":/") || mount.source.starts_with("//") {
            mount.source = "(on the network)".to_owned();
        }
        for option in &mut mount.options {
            if let Some((name, _)) = option.split_once('=').filter(|(name, _)| MOUNT_OPTIONS.contains(name)) {
                *option = format!("{name}=...");
            }
        }
    }

    /// Kernel messages: lines about networks and people are left out and counted, serial numbers replaced.
    pub fn kernel_log(&self, lines: &[String]) -> Vec<String> {
        let kept: Vec<String> = lines.iter().filter(|l| !is_of_network(l)).map(|l| self.text(&usb_serial(l))).collect();
        let left_out = lines.len() - kept.len();
        let note = (left_out > 0).then(|| format!("({left_out} lines about networks or people are left out)"));
        kept.into_iter().chain(note).collect()
    }
}

fn stand_in(scramble: Hasher, name: &str) -> String {
    // Letters become letters of all: enough to tell machines apart, and not the name.
    let mut bytes = format!("zz{}", name.trim().to_ascii_lowercase()).into_bytes();
    bytes.resize(12, b'z');
    let range = 0..bytes.len();
    scramble.apply(&mut bytes, range);
    let letters: String = bytes.iter().filter(|b| b.is_ascii_lowercase()).take(4).map(|b| char::from(*b)).collect();
    format!("host-{letters}")
}

fn word_list(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    parts.chain(std::iter::once(text.to_ascii_lowercase()))
}

/// A word replaced where it stands alone; `-`, `_`, `.`, `/` and `:` end words, as in names of volumes.
fn replaced_word(text: &str, word: &str, by: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.to_ascii_lowercase().find(&word.to_ascii_lowercase()) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let alone = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if alone { by } else { &rest[at..at + word.len()] });
        rest = after;
    }
    out + rest
}

/// Names of users in paths.
fn users(text: &str) -> String {
    let mut text = text.to_owned();
    for home in HOMES {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(at) = rest.find(home) {
            let (before, after) = rest.split_at(at + home.len());
            let end =
                after.find(|c: char| c == '/' || c.is_whitespace() || "'\",;:)".contains(c)).unwrap_or(after.len());
            out.push_str(before);
            out.push_str(if end > 0 { "user" } else { "" });
            rest = &after[end..];
        }
        out.push_str(rest);
        text = out;
    }
    text
}

/// The command line of the kernel with the values that concern storage; of all else the names alone.
fn command_line(line: &str) -> String {
    let known = |name: &str| PARAMETERS.iter().any(|p| name.starts_with(p));
    let parameters = line.split_whitespace().map(|parameter| match parameter.split_once('=') {
        _ if known(parameter) => parameter.to_owned(),
        Some((name, _)) => format!("{name}=..."),
        None => "...".to_owned(),
    });
    parameters.collect::<Vec<_>>().join(" ")
}

/// Whether a line of the kernel is about a network interface, an address, or a login.
fn is_of_network(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let is_interface = |word: &str| {
        let followed_by = |names: &[&str], digit: fn(&u8) -> bool| {
            names.iter().any(|n| word.strip_prefix(n).is_some_and(|rest| rest.as_bytes().first().is_some_and(digit)))
        };
        followed_by(INTERFACES, u8::is_ascii_digit) || followed_by(INTERFACES_HEX, u8::is_ascii_hexdigit)
    };
    let mut words = words.filter(|w| !w.is_empty());
    words.any(|w| NETWORK_WORDS.contains(&w.as_str()) || is_interface(&w)) || has_mac(line) || has_ipv4(line)
}

/// Whether a text holds an EUI-48.
fn has_mac(text: &str) -> bool {
    by_form(text.as_bytes()).iter().any(|r| r.len() == 17 && text.as_bytes().get(r.start + 2) == Some(&b':'))
}

/// Whether a text holds an IPv4 address.
fn has_ipv4(text: &str) -> bool {
    let mut parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    parts.any(|part| part.parse::<std::net::Ipv4Addr>().is_ok())
}

/// `usb 1-1: SerialNumber: 0123456789`: of devices that need not lie on the path.
fn usb_serial(line: &str) -> String {
    match line.find("SerialNumber: ") {
        Some(at) => format!("{}(replaced)", &line[..at + "SerialNumber: ".len()]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(hosts: &[&str], secrets: &[&str]) -> Redaction {
        let scramble = Hasher::new(7);
        let hosts = hosts.iter().map(|h| ((*h).to_owned(), stand_in(scramble, h))).collect();
        Redaction { scramble, secrets: secrets.iter().map(|s| (*s).to_owned()).collect(), hosts }
    }

    #[test]
    fn names_of_users_and_machines_go_and_other_words_stay() {
        let r = redaction(&["alpha"], &[]);
        let host = stand_in(Hasher::new(7), "alpha");
        assert!(host.starts_with("host-") && host.len() == 9 && !host.contains("alpha"));
        for (text, expected) in [
            ("/home/alice/disk.img", "/home/user/disk.img".to_owned()),
            (
                "file '/home/alice' and /run/media/bob/STICK/x",
                "file '/home/user' and /run/media/user/STICK/x".to_owned(),
            ),
            ("/home/", "/home/".to_owned()),
            ("vg_alpha-root, Alpha.local", format!("vg_{host}-root, {host}.local")),
            ("alphabet", "alphabet".to_owned()),
            ("0000:00:1f.2 sda 8:0 nvme0n1", "0000:00:1f.2 sda 8:0 nvme0n1".to_owned()),
        ] {
            assert_eq!(r.text(text), expected);
        }
    }

    #[test]
    fn two_machines_are_told_apart_and_one_is_the_same_everywhere() {
        let scramble = Hasher::new(7);
        assert_eq!(stand_in(scramble, "alpha"), stand_in(scramble, "Alpha "));
        assert_ne!(stand_in(scramble, "alpha"), stand_in(scramble, "beta"));
        assert_ne!(stand_in(scramble, "alpha"), stand_in(Hasher::new(8), "alpha"));
    }

    #[test]
    fn of_the_command_line_what_concerns_storage_stays() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=0b3c1d2e-1111-2222-3333-444455556666 rw quiet nvme_core.io_timeout=5 \
                    ip=192.168.1.2::gw:host rd.luks.name=secret hunter2 usb-storage.quirks=152d:0578:u password=x";
        let kept = redaction(&[], &[]).text(&command_line(line));
        for stays in [" rw quiet ", "nvme_core.io_timeout=5", "usb-storage.quirks=152d:0578:u", "root=UUID=", "ip=..."]
        {
            assert!(kept.contains(stays), "{stays}: {kept}");
        }
        for goes in ["0b3c1d2e", "192.168", "secret", "hunter2", "password=x"] {
            assert!(!kept.contains(goes), "{goes}: {kept}");
        }
    }

    #[test]
    fn lines_of_the_kernel_about_networks_are_left_out_and_those_of_storage_stay() {
        let storage = [
            "[   12.000001] <3> nvme nvme0: I/O 5 QID 3 timeout, aborting",
            "[   12.000002] <6> mmc0: new ultra high speed SDR104 SDHC card at address aaaa",
            "[   12.000003] <4> ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen",
            "[   12.000004] <6> EXT4-fs (sda1): mounted filesystem with ordered data mode",
            "[   12.000005] <6> usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd",
            "[   12.000006] <4> pcieport 0000:00:1c.0: AER: Corrected error received: 0000:01:00.0",
            "[   12.000007] <6> sd 2:0:0:0: [sdb] 15633408 512-byte logical blocks: (8.00 GB/7.45 GiB)",
        ];
        for line in storage {
            assert!(!is_of_network(line), "{line}");
        }
        let network = [
            "wlan0: authenticate with b8:27:eb:01:02:03",
            "wlp3s0: associated",
            "IPv6: ADDRCONF(NETDEV_CHANGE): enp0s31f6: link becomes ready",
            "e1000e 0000:00:1f.6 eth0: NIC Link is Up",
            "docker0: port 1(veth12ab) entered blocking state",
            "audit: type=1400 audit(1.2:3): apparmor=\"DENIED\" name=\"/home/alice\"",
            "random: from 10.0.0.7",
            "systemd[1]: Hostname set to <alpha>.",
        ];
        let mut lines: Vec<String> = storage.iter().chain(&network).map(|l| (*l).to_owned()).collect();
        lines.push("usb 1-1: SerialNumber: 4C530001".to_owned());
        let kept = redaction(&[], &[]).kernel_log(&lines);
        assert_eq!(kept.len(), storage.len() + 2, "{kept:?}");
        assert!(kept.iter().all(|l| !l.contains("4C530001")));
        assert_eq!(kept.last().unwrap(), "(8 lines about networks or people are left out)");
    }

    #[test]
    fn what_a_mount_comes_from_over_a_network_is_not_told() {
        let mut mount = Mount {
            fstype: "cifs".to_owned(),
            mount_point: "/mnt".to_owned(),
            source: "//nas/share".to_owned(),
            options: ["rw", "username=alice", "addr=10.0.0.7", "vers=3.1.1"].map(str::to_owned).to_vec(),
            read_only: false,
        };
        redaction(&[], &[]).mount(&mut mount);
        assert_eq!(mount.source, "(on the network)");
        assert_eq!(mount.options, ["rw", "username=...", "addr=...", "vers=3.1.1"]);
    }

    #[test]
    fn serial_numbers_go_wherever_they_stand() {
        let r = redaction(&[], &["S3Z9NB0K"]);
        let text = r.text("disk S3Z9NB0K at b8:27:eb:01:02:03");
        assert!(!text.contains("S3Z9NB0K") && !text.contains("b8:27"), "{text}");
        assert_eq!(r.text("S3Z9NB0K"), r.text("S3Z9NB0K"));
    }
}
