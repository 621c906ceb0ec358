//! docs/findings: the catalogue of the diagnosis as pages, with an index by layer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The directory of the pages.
pub const FINDINGS: &str = "docs/findings";

/// One page for each finding, and the index.
pub fn pages(files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let catalogue = diagnose::catalogue();
    files.insert(Path::new(FINDINGS).join("README.md"), report::findings_index(catalogue).into_bytes());
    for page in catalogue {
        let path = Path::new(FINDINGS).join(format!("{}.md", page.id));
        files.insert(path, report::finding_markdown(page).into_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_links_every_page_and_every_page_has_its_parts() {
        let mut files = BTreeMap::new();
        pages(&mut files);
        let text = |path: &Path| String::from_utf8_lossy(&files[path]).into_owned();
        let index = text(&Path::new(FINDINGS).join("README.md"));
        assert!(files.len() > 48, "{} files", files.len());
        for page in diagnose::catalogue() {
            assert!(index.contains(&format!("({}.md)", page.id)), "{} is not in the index", page.id);
            let page = text(&Path::new(FINDINGS).join(format!("{}.md", page.id)));
            for part in ["What it means", "What it rests on", "What to do", "How to undo it", "Sources"] {
                assert!(page.contains(&format!("\n## {part}\n\n")), "{page} lacks {part}");
            }
        }
    }
}
