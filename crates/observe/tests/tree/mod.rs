//! Builds a captured tree from a short text.
//!
//! ```text
//! # a comment
//! @ /sys/devices/x        what follows is relative to this directory
//! size = 2048             a file (\n, \t and \x00 are escapes); sysfs ends attributes with a line end, so does this
//! driver => /sys/bus/y    a symbolic link, written relative as in sysfs
//! mq/0 /                  an empty directory
//! ```

use observe::{Inventory, Place, Root, inventory};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A tree on disk, removed when dropped.
pub struct Tree {
    directory: tempfile::TempDir,
}

impl Tree {
    pub fn build(text: &str) -> Self {
        let tree = Self { directory: tempfile::tempdir().unwrap() };
        let mut base = String::from("/");
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let full = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
            if let Some(path) = line.strip_prefix("@ ") {
                base = path.trim_end_matches('/').to_owned();
            } else if let Some((path, target)) = line.split_once(" => ") {
                tree.link(&full(path), target);
            } else if let Some((path, value)) = line.split_once(" = ") {
                let value = value.replace("\\n", "\n").replace("\\t", "\t").replace("\\x00", "\0");
                tree.file(&full(path), format!("{value}\n").as_bytes());
            } else if let Some(path) = line.strip_suffix(" /") {
                fs::create_dir_all(tree.host(&full(path))).unwrap();
            } else {
                panic!("line {}: {line}", number + 1);
            }
        }
        tree
    }

    pub fn root(&self) -> Root {
        Root::new(self.directory.path())
    }

    pub fn host(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    pub fn file(&self, path: &str, bytes: &[u8]) {
        let host = self.host(path);
        fs::create_dir_all(host.parent().unwrap()).unwrap();
        fs::write(host, bytes).unwrap();
    }

    /// A link from `path` to `target`, both inside the tree, relative as in sysfs.
    pub fn link(&self, path: &str, target: &str) {
        let host = self.host(path);
        fs::create_dir_all(host.parent().unwrap()).unwrap();
        let up = "../".repeat(Path::new(path.trim_start_matches('/')).components().count() - 1);
        symlink(format!("{up}{}", target.trim_start_matches('/')), host).unwrap();
    }

    pub fn at(&self, path: &str) -> Inventory {
        let place = Place::Path { path: path.into(), device: None, mount_id: None, block_size_bytes: None };
        inventory(&self.root(), &place)
    }

    pub fn device(&self, name: &str) -> Inventory {
        inventory(&self.root(), &Place::DeviceName(name.into()))
    }
}

/// A path as text: layers with their known facts, then what is missing.
pub fn picture(seen: &Inventory) -> String {
    let mut out = String::new();
    for layer in &seen.stack.layers {
        let depth = layer.int("branch_depth").unwrap_or(0) as usize;
        let indent = "  ".repeat(depth);
        let kind = serde_json::to_value(layer.kind).unwrap();
        write!(out, "{indent}{} {}", kind.as_str().unwrap(), layer.name).unwrap();
        if let Some(driver) = &layer.driver {
            write!(out, " ({driver})").unwrap();
        }
        if let Some(device) = layer.device {
            write!(out, " {device}{}", if layer.counted { " counted" } else { "" }).unwrap();
        }
        if let (Some(ceiling), Some(source)) = (layer.ceiling_bytes_per_s, &layer.ceiling_source) {
            write!(out, " at most {ceiling} B/s: {source}").unwrap();
        }
        out.push('\n');
        for (name, fact) in layer.facts.iter().filter(|(n, f)| !f.is_null() && *n != "branch_depth") {
            writeln!(out, "{indent}  . {name}: {}", serde_json::to_string(fact).unwrap()).unwrap();
        }
        let unknown: Vec<&str> = layer.facts.iter().filter(|(_, f)| f.is_null()).map(|(n, _)| n.as_str()).collect();
        if !unknown.is_empty() {
            writeln!(out, "{indent}  . unknown: {}", unknown.join(", ")).unwrap();
        }
    }
    for line in &seen.missing {
        writeln!(out, "missing: {line}").unwrap();
    }
    out
}
