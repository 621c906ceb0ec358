//! Captured trees of /proc and /sys, as `inspect --root` and every run on the machine would see them.

use super::imports::files;
use super::pieces::{self, Piece};
use super::{Fuzzer, mutate::hash};
use observe::{Locator, ProbeOptions, Root};
use report::{Inspection, Style};
use std::fs;
use std::path::{Path, PathBuf};

/// Disks that are looked at.
const MAX_DISKS: usize = 4;

struct Trees {
    scratch: PathBuf,
}

/// Makes it; trees are written below the directory.
pub fn make(directory: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Trees { scratch: directory.join("tree") }))
}

/// The pieces of a `.tree` file (crates/observe/tests/trees/README.md). Those that stand on another tree come without it:
/// a tree with parts missing is what this is about.
fn of_tree(text: &str) -> Vec<Piece> {
    let mut base = String::from("/");
    let mut pieces = Vec::new();
    for line in text.lines().map(str::trim_end).filter(|l| !l.is_empty() && !l.starts_with(['#', '<', '-'])) {
        let full = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
        if let Some(path) = line.strip_prefix("@ ") {
            base = path.trim_end_matches('/').to_owned();
        } else if let Some((path, target)) = line.split_once(" => ") {
            let path = full(path);
            let up = "../".repeat(path.trim_matches('/').matches('/').count());
            pieces.push((format!("{path} -> {up}{}", target.trim_start_matches('/')), Vec::new()));
        } else if let Some((path, value)) = line.split_once(" = ") {
            pieces.push((full(path), unescaped(value)));
        }
    }
    pieces
}

/// `\n`, `\t`, `\\` and `\x00` to `\xff`, and a line end.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut parts = text.split('\\');
    out.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    while let Some(part) = parts.next() {
        let number = part.strip_prefix('x').and_then(|p| p.get(..2)).and_then(|d| u8::from_str_radix(d, 16).ok());
        let (byte, rest) = match (part.as_bytes().first(), number) {
            (_, Some(number)) => (number, &part[3..]),
            (Some(b'n'), _) => (b'\n', &part[1..]),
            (Some(b't'), _) => (b'\t', &part[1..]),
            (None, _) => (b'\\', parts.next().unwrap_or_default()),
            _ => (b'\\', part),
        };
        out.push(byte);
        out.extend_from_slice(rest.as_bytes());
    }
    out.push(b'\n');
    out
}

impl Fuzzer for Trees {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let trees = files(&["crates/observe/tests/trees"], |p| p.extension().is_some_and(|e| e == "tree"));
        let texts = trees.iter().map(|tree| of_tree(&String::from_utf8_lossy(tree)));
        let inputs = texts.map(|pieces| pieces::join(&pieces));
        inputs.filter(|i| !i.is_empty() && i.len() < super::mutate::MAX_BYTES).collect()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "==> /sys/block/sda/size <==\n",
            "==> /sys/class/block/sda -> ../../devices/x <==\n",
            "==> /sys/block/sda -> sda <==\n",
            "==> /proc/mounts <==\n",
            "==> /proc/self/mountinfo <==\n",
            "/slaves/",
            "/holders/",
            "/queue/scheduler <==\n",
            "-> ../../../../../../etc/shadow <==\n",
            "-> . <==\n",
            "-> .. <==\n",
            "none [mq-deadline] kyber",
            "8:0",
            "253:0",
            "/sys/devices/virtual/block/dm-0/slaves/dm-0 -> .. <==\n",
            "PCI_SLOT_NAME=0000:00:1f.2",
            "MAJOR=8\nMINOR=0\n",
            "16.0 GT/s PCIe",
            "/dev/root",
            "/narrows/unreadable <==\ndenied /sys/block\n",
            "ext4 rw,errors=remount-ro",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        fs::remove_dir_all(&self.scratch).ok();
        fs::create_dir_all(&self.scratch).map_err(|e| e.to_string())?;
        pieces::write(&self.scratch, &pieces::split(input));
        let root = Root::new(&self.scratch);
        let environment = observe::environment(&root);
        let disks = observe::disks(&root);
        let mut places: Vec<Locator> =
            disks.iter().take(MAX_DISKS).map(|d| Locator::DeviceName(d.name.clone())).collect();
        places.extend(["/", "/home", "sda"].iter().filter_map(|name| observe::locate(&root, name).ok()));
        let look = ProbeOptions { health: true, kernel_log: true, registers: false };
        let mut outcome = format!("{}", disks.len().min(8));
        for inventory in observe::inventories(&root, &places, look) {
            let assessment = diagnose::findings_of_stack(&inventory.stack, &environment, None);
            let inspection = Inspection {
                target: "x",
                root: Some("tree"),
                stack: &inventory.stack,
                environment: &environment,
                findings: &assessment.findings,
                unknown: &assessment.unknown,
                missing: &inventory.missing,
                verbose: true,
                read_from: |_| None,
            };
            let text = report::inspection(&inspection, None).text(&Style::default());
            if text.contains('\u{1b}') {
                return Err("a control sequence in the text of an inspection".to_owned());
            }
            let ids: Vec<&str> = assessment.findings.iter().map(|f| f.id.as_str()).collect();
            outcome
                .push_str(&format!("{:?} {ids:?}", inventory.stack.layers.iter().map(|l| l.kind).collect::<Vec<_>>()));
        }
        Ok(hash(outcome.as_bytes()))
    }
}
