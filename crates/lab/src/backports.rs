//! The backports of the host's Debian release as a source of apt. No mirror is known here: it is the host's own entry of its
//! release, with its options and keys, whose suite is another one.

use super::apt::SourceFile;
use anyhow::{Context, bail};
use std::fs;
use std::path::Path;

/// An entry of the host's sources that is Debian's own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReleaseEntry<'a> {
    /// The file that it is in.
    file: &'a str,
    uri: &'a str,
    /// As the file has it: `bookworm`, or `stable`.
    suite: &'a str,
    /// As the archive calls itself: `bookworm`.
    codename: &'a str,
}

/// The sources of the backports; `targets` is what `apt-get indextargets` prints for the host's.
///
/// # Errors
/// The host's sources have no release of Debian, or one of their files cannot be read.
pub fn sources(targets: &str) -> anyhow::Result<Vec<SourceFile>> {
    let os_release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let entries = of_host(entries(targets), codename_of(&os_release));
    let mut sources = Vec::new();
    for entry in &entries {
        let text = fs::read_to_string(entry.file).with_context(|| format!("cannot read {}", entry.file))?;
        sources.extend(with_suite(entry, &text));
    }
    if sources.is_empty() {
        bail!("the host's sources of packages have no release of Debian whose backports there could be");
    }
    Ok(sources)
}

/// The entries of releases, each once.
fn entries(targets: &str) -> Vec<ReleaseEntry<'_>> {
    let mut entries = Vec::new();
    for target in targets.split("\n\n") {
        let field = |name: &str| target.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let entry = || {
            // Security and backports have other labels, updates and experimental ("rc-buggy") a dash in their codenames.
            let is_release = field("Origin")? == "Debian" && field("Label")? == "Debian";
            let codename = field("Codename").filter(|name| is_release && !name.contains('-'))?;
            // The number behind the file is of a line or of a paragraph.
            let (file, _) = field("Sourcesentry")?.rsplit_once(':')?;
            Some(ReleaseEntry { file, uri: field("Repo-URI")?, suite: field("Release")?, codename })
        };
        entries.extend(entry().filter(|entry| !entries.contains(entry)));
    }
    entries
}

/// Those of the release that the host runs, where its sources have several.
fn of_host<'a>(mut entries: Vec<ReleaseEntry<'a>>, codename: Option<&str>) -> Vec<ReleaseEntry<'a>> {
    if entries.iter().any(|entry| Some(entry.codename) == codename) {
        entries.retain(|entry| Some(entry.codename) == codename);
    }
    entries
}

/// The codename in a host's `/etc/os-release`.
fn codename_of(os_release: &str) -> Option<&str> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(value.trim().trim_matches('"'))
}

/// An entry as its file has it, for the backports.
fn with_suite(entry: &ReleaseEntry<'_>, text: &str) -> Option<SourceFile> {
    if Path::new(entry.file).extension().is_some_and(|extension| extension == "sources") {
        let found = paragraphs(text).into_iter().find_map(|paragraph| in_paragraph(entry, &paragraph))?;
        return Some(SourceFile { extension: "sources", text: found });
    }
    let found = text.lines().find_map(|line| in_line(entry, line))?;
    Some(SourceFile { extension: "list", text: found })
}

/// Whether two addresses of a repository are the same: apt ends what it tells with a slash (a list of mirrors is none with one).
fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// The fields of each paragraph (deb822(5)), a value with its further lines.
fn paragraphs(text: &str) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let current: &mut Vec<(String, String)> = match all.last_mut() {
            Some(last) if !line.trim().is_empty() => last,
            _ => {
                all.push(Vec::new());
                continue;
            }
        };
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = current.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            current.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    all
}

/// The form of `*.sources` (sources.list(5)).
fn in_paragraph(entry: &ReleaseEntry<'_>, fields: &[(String, String)]) -> Option<String> {
    let is = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
    let value = |name: &str| fields.iter().find(|(key, _)| is(key, name)).map(|(_, value)| value.as_str());
    let words = |name: &str, holds: &dyn Fn(&str) -> bool| value(name)?.split_whitespace().find(|w| holds(w));
    words("Types", &|word| word == "deb")?;
    let uri = words("URIs", &|word| is_same(word, entry.uri))?;
    words("Suites", &|word| word == entry.suite)?;
    let mut text = format!("Types: deb\nURIs: {uri}\nSuites: {}-backports\n", entry.codename);
    for (key, value) in fields {
        if !["Types", "URIs", "Suites", "Enabled"].iter().any(|name| is(key, name)) {
            text.push_str(&format!("{key}: {value}\n"));
        }
    }
    Some(text)
}

/// The form of one line: `deb [option=value ...] URI SUITE COMPONENT ...` (sources.list(5)).
fn in_line(entry: &ReleaseEntry<'_>, line: &str) -> Option<String> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(inside) => inside.split_once(']').map(|(options, rest)| (format!("[{options}] "), rest))?,
        None => (String::new(), rest),
    };
    let mut words = rest.split_whitespace();
    let uri = words.next().filter(|uri| is_same(uri, entry.uri))?;
    words.next().filter(|suite| *suite == entry.suite)?;
    let components = words.collect::<Vec<_>>().join(" ");
    Some(format!("deb {options}{uri} {}-backports {components}\n", entry.codename))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As apt 2.6 prints them, the fields that are not read left out.
    fn target(file: &str, site: &str, release: &str, [codename, label, origin]: [&str; 3]) -> String {
        format!(
            "MetaKey: main/binary-amd64/Packages\nShortDesc: Packages\nCodename: {codename}\nLabel: {label}\n\
             Origin: {origin}\nSuite: oldstable\nComponent: main\nRelease: {release}\nRepo-URI: {site}/\nSite: {site}\n\
             Sourcesentry: {file}\nTarget-Of: deb\n"
        )
    }

    const DEBIAN: &str = "http://deb.example.org/debian";

    #[test]
    fn the_release_is_found_among_all_that_a_host_has() {
        let file = "/etc/apt/sources.list.d/debian.sources:1";
        let all = [
            target(
                "/etc/apt/sources.list:3",
                "https://tools.example.com/apt",
                "bookworm",
                ["bookworm", "Tools", "Tools"],
            ),
            target(file, DEBIAN, "stable", ["bookworm", "Debian", "Debian"]),
            // A component more.
            target(file, DEBIAN, "stable", ["bookworm", "Debian", "Debian"]),
            target(file, DEBIAN, "stable-updates", ["bookworm-updates", "Debian", "Debian"]),
            target(file, DEBIAN, "bookworm-security", ["bookworm-security", "Debian-Security", "Debian"]),
            target(file, DEBIAN, "bookworm-backports", ["bookworm-backports", "Debian Backports", "Debian"]),
            target(file, DEBIAN, "experimental", ["rc-buggy", "Debian", "Debian"]),
            target(file, DEBIAN, "trixie", ["trixie", "Debian", "Debian"]),
            // Lists that were never fetched do not say whose they are.
            "Release: bookworm\nRepo-URI: http://x.example/debian/\nSourcesentry: /etc/apt/sources.list:1".to_owned(),
        ]
        .join("\n");
        let found = entries(&all);
        let of_release = |suite, codename| ReleaseEntry {
            file: "/etc/apt/sources.list.d/debian.sources",
            uri: "http://deb.example.org/debian/",
            suite,
            codename,
        };
        assert_eq!(found, [of_release("stable", "bookworm"), of_release("trixie", "trixie")]);
        assert_eq!(of_host(found.clone(), Some("bookworm")), [of_release("stable", "bookworm")]);
        assert_eq!(of_host(found.clone(), Some("forky")), found);
        assert_eq!(codename_of("NAME=\"Debian\"\nVERSION_CODENAME=bookworm\n"), Some("bookworm"));
        assert_eq!(codename_of("ID=debian\nVERSION_CODENAME=\"trixie\"\n"), Some("trixie"));
        assert_eq!(codename_of("ID=debian\n"), None);
    }

    fn of(file: &str, suite: &str, text: &str) -> Option<(&'static str, String)> {
        let entry = ReleaseEntry { file, uri: "http://deb.example.org/debian/", suite, codename: "bookworm" };
        with_suite(&entry, text).map(|found| (found.extension, found.text))
    }

    #[test]
    fn a_paragraph_keeps_all_but_the_suite() {
        let text = "# The installer's\n\nTypes: deb deb-src\n# A snapshot:\nURIs: http://other.example/debian http://deb.example.org/debian\n\
            Suites: bookworm\n  bookworm-updates\nComponents: main contrib\nEnabled: yes\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBG\n\n\
            Types: deb\nURIs: http://deb.example.org/debian-security\nSuites: bookworm-security\nComponents: main\n";
        let expected = "Types: deb\nURIs: http://deb.example.org/debian\nSuites: bookworm-backports\nComponents: main contrib\n\
            Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBG\n";
        let file = "/etc/apt/sources.list.d/debian.sources";
        assert_eq!(of(file, "bookworm", text), Some(("sources", expected.to_owned())));
        assert_eq!(of(file, "stable", text), None);
        assert_eq!(of(file, "bookworm", &text.replace("deb deb-src", "deb-src")), None);
        assert_eq!(of(file, "bookworm", ""), None);
    }

    #[test]
    fn a_line_keeps_all_but_the_suite() {
        let file = "/etc/apt/sources.list";
        for (line, expected) in [
            (
                "deb http://deb.example.org/debian bookworm main",
                "deb http://deb.example.org/debian bookworm-backports main\n",
            ),
            (
                "deb\t[ arch=amd64 signed-by=/usr/share/keyrings/k.gpg ] http://deb.example.org/debian/  bookworm main contrib # the mirror",
                "deb [ arch=amd64 signed-by=/usr/share/keyrings/k.gpg ] http://deb.example.org/debian/ bookworm-backports main contrib\n",
            ),
        ] {
            let text = format!("# deb http://deb.example.org/debian bookworm main\n\n{line}\n");
            assert_eq!(of(file, "bookworm", &text), Some(("list", expected.to_owned())), "{line}");
        }
        for line in [
            "deb-src http://deb.example.org/debian bookworm main",
            "#deb http://deb.example.org/debian bookworm main",
            "deb http://deb.example.org/debian bookworm-updates main",
            "deb http://deb.example.org/debian-security bookworm main",
            "deb [arch=amd64 http://deb.example.org/debian bookworm main",
            "deb",
        ] {
            assert_eq!(of(file, "bookworm", line), None, "{line}");
        }
    }

    #[test]
    fn a_host_without_debian_is_told_so() {
        let ubuntu =
            target("/etc/apt/sources.list:1", "http://x.example/ubuntu", "noble", ["noble", "Ubuntu", "Ubuntu"]);
        for targets in [ubuntu.as_str(), ""] {
            let said = sources(targets).expect_err("no Debian").to_string();
            assert!(said.contains("no release of Debian"), "{said}");
        }
    }
}
