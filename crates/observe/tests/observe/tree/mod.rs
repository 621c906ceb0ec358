//! Builds a captured tree from a short text; the format is told in `tests/trees/README.md`. Tests of other rooms that may
//! import `observe` include this file by its path.

use observe::{Inventory, Locator, Root, inventory};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A tree on disk, removed when dropped.
pub struct Tree {
    directory: tempfile::TempDir,
}

/// A directory that goes when dropped: in memory where there is such a place, for trees are thousands of small files.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Where the trees are, also for a test of another room.
pub const TREES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../observe/tests/trees");

impl Tree {
    /// The tree of a file below [`TREES`], named without `.tree`.
    pub fn of(name: &str) -> Self {
        let tree = Self { directory: scratch() };
        tree.add_file(name);
        tree
    }

    pub fn build(text: &str) -> Self {
        let tree = Self { directory: scratch() };
        tree.add(text);
        tree
    }

    fn add_file(&self, name: &str) {
        let path = Path::new(TREES).join(format!("{name}.tree"));
        self.add(&fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    }

    fn add(&self, text: &str) {
        let mut base = String::from("/");
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let full = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
            if let Some(path) = line.strip_prefix("@ ") {
                base = path.trim_end_matches('/').to_owned();
            } else if let Some(other) = line.strip_prefix("< ") {
                self.add_file(other);
            } else if let Some(path) = line.strip_prefix("- ") {
                self.remove(&full(path));
            } else if let Some((path, target)) = line.split_once(" => ") {
                self.link(&full(path), target);
            } else if let Some((path, value)) = line.split_once(" = ") {
                self.file(&full(path), &unescaped(value));
            } else if let Some(path) = line.strip_suffix(" =") {
                self.file(&full(path), b"\n");
            } else if let Some(path) = line.strip_suffix(" /") {
                fs::create_dir_all(self.host(&full(path))).unwrap();
            } else {
                panic!("line {}: {line}", number + 1);
            }
        }
    }

    /// What another tree brought.
    fn remove(&self, path: &str) {
        let host = self.host(path);
        let metadata = fs::symlink_metadata(&host).unwrap_or_else(|e| panic!("{path} is not there to be removed: {e}"));
        if metadata.is_dir() { fs::remove_dir_all(&host) } else { fs::remove_file(&host) }.unwrap();
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
        if fs::symlink_metadata(&host).is_ok() {
            fs::remove_file(&host).unwrap();
        }
        let up = "../".repeat(Path::new(path.trim_start_matches('/')).components().count() - 1);
        symlink(format!("{up}{}", target.trim_start_matches('/')), host).unwrap();
    }

    pub fn at(&self, path: &str) -> Inventory {
        let place = Locator::Path { path: path.into(), device: None, mount_id: None, block_size_bytes: None };
        inventory(&self.root(), &place)
    }

    pub fn device(&self, name: &str) -> Inventory {
        inventory(&self.root(), &Locator::DeviceName(name.into()))
    }
}

/// `\n`, `\t`, `\\` and `\x00` to `\xff`, with a line end behind unless the last byte was written as a number.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut binary = false;
    while let Some(c) = rest.chars().next() {
        let escape = |code: &str| rest.strip_prefix(code);
        let number = escape("\\x").and_then(|r| r.get(..2)).and_then(|d| u8::from_str_radix(d, 16).ok());
        binary = number.is_some();
        rest = if let Some(number) = number {
            out.push(number);
            &rest[4..]
        } else if let Some(rest) = escape("\\n") {
            out.push(b'\n');
            rest
        } else if let Some(rest) = escape("\\t") {
            out.push(b'\t');
            rest
        } else if let Some(rest) = escape("\\\\") {
            out.push(b'\\');
            rest
        } else {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            &rest[c.len_utf8()..]
        };
    }
    if !binary {
        out.push(b'\n');
    }
    out
}

/// A path as text: layers with their known facts, then what is missing.
pub fn picture(seen: &Inventory) -> String {
    let mut out = String::new();
    for (at, layer) in seen.stack.layers.iter().enumerate() {
        let depth = seen.stack.layers.depth(at).unwrap_or(0) as usize;
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
        for (name, fact) in layer.facts.iter().filter(|(_, f)| !f.is_null()) {
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
