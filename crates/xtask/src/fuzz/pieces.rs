//! Several files as one input: each after a line with its name, so that names and contents are changed alike.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

const MARK: &[u8] = b"==> ";
const END: &[u8] = b" <==\n";
/// Between the name of a symbolic link and where it leads.
const LEADS: &str = " -> ";
/// Files of one input.
const MAX_FILES: usize = 2000;

/// A name with its content.
pub type Piece = (String, Vec<u8>);

/// The pieces as one input.
pub fn join(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(|(name, content)| [MARK, name.as_bytes(), END, content, b"\n"].concat()).collect()
}

/// The pieces of an input.
pub fn split(input: &[u8]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for line in input.split_inclusive(|b| *b == b'\n') {
        let name = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(END));
        match name.filter(|_| pieces.len() < MAX_FILES) {
            Some(name) => pieces.push((String::from_utf8_lossy(name).into_owned(), Vec::new())),
            None => {
                if let Some((_, content)) = pieces.last_mut() {
                    content.extend_from_slice(line);
                }
            }
        }
    }
    for (_, content) in &mut pieces {
        if content.last() == Some(&b'\n') {
            content.pop();
        }
    }
    pieces
}

/// A path below a directory, whatever the name is; `None` for one that is none.
fn below(directory: &Path, name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = Path::new(name)
        .components()
        .filter_map(|c| match c {
            Component::Normal(part) => part.to_str().filter(|p| p.len() < 200 && !p.contains('\0')),
            _ => None,
        })
        .take(24)
        .collect();
    (!parts.is_empty()).then(|| parts.iter().fold(directory.to_owned(), |path, part| path.join(part)))
}

/// Writes the pieces below a directory; what cannot be written there (a file in the place of a directory) is left out.
/// Links may lead anywhere; nothing is written through them, as names whose directory is a link are left out too.
pub fn write(directory: &Path, pieces: &[Piece]) {
    for (name, content) in pieces {
        let (name, target) = name.split_once(LEADS).map_or((name.as_str(), None), |(n, t)| (n, Some(t)));
        let Some(path) = below(directory, name) else { continue };
        let Some(parent) = path.parent() else { continue };
        if fs::create_dir_all(parent).is_err() || !stays_inside(directory, parent) || path.symlink_metadata().is_ok() {
            continue;
        }
        // Neither failure matters: the tree is then another one.
        match target {
            Some(target) => drop(symlink(target, &path)),
            None => drop(fs::write(&path, content)),
        }
    }
}

/// Whether no directory on the way from the top is a link.
fn stays_inside(top: &Path, directory: &Path) -> bool {
    let links = directory.ancestors().take_while(|a| *a != top);
    links.into_iter().all(|a| a.symlink_metadata().is_ok_and(|m| m.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back() {
        let pieces = vec![("a".to_owned(), b"1\n2".to_vec()), ("b/c".to_owned(), Vec::new())];
        assert_eq!(split(&join(&pieces)), pieces);
    }

    #[test]
    fn nothing_is_written_outside() {
        let directory = tempfile::tempdir().unwrap();
        let (top, outside) = (directory.path().join("top"), directory.path().join("outside"));
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(&top).unwrap();
        let link = format!("link -> {}", outside.display());
        let pieces = ["../x", "/y", &link, "link/z", "link", "ok"].map(|n| (n.to_owned(), b"1".to_vec()));
        write(&top, &pieces);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
        assert!(top.join("ok").is_file() && top.join("x").is_file() && top.join("y").is_file());
    }
}
