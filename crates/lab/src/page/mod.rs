//! Pages that come out of the lab: what was looked at, what was seen, and, first of all, what the figures do not mean.

mod cards;
mod study;
mod sweep;

pub use study::page;

use std::path::Path;

/// Said on every page that comes out of the lab.
pub const EMULATED: &str = "Made in the lab: the drivers and the kernel are real, the hardware is emulated. Every rate, \
    latency and IOPS figure below is the emulator's and means nothing as a speed of any real device; what counts are \
    drivers, queues, findings, register writes and errors.";

/// A page that `narrows` wrote in a guest, with the warning at its top.
pub fn marked(page: &str) -> String {
    // Styles that the pages did not bring are forbidden to them (Content-Security-Policy); `banner` is one of their own.
    let warning = format!("<p class=\"banner\" role=\"note\">{EMULATED}</p>");
    let after = |tag: &str| page.find(tag).and_then(|at| Some(at + page[at..].find('>')? + 1));
    match after("<main").or_else(|| after("<body")) {
        Some(at) => format!("{}{warning}{}", &page[..at], &page[at..]),
        None => format!("{warning}{page}"),
    }
}

/// Shows a page in the person's browser, where a person is looking and there is a screen; elsewhere its path is enough.
pub fn open(path: &Path) {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some_and(|v| !v.is_empty()));
    if screen && std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        // Without it nothing is lost: the path has been printed.
        let quiet = std::process::Stdio::null;
        let opener = std::process::Command::new("xdg-open").arg(path).stdout(quiet()).stderr(quiet()).spawn();
        drop(opener);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_is_the_first_thing_in_a_page() {
        let page = marked("<html><body class=\"x\"><a>skip</a><main id=\"m\"><h1>Run</h1></main></body></html>");
        assert!(page.contains("<main id=\"m\"><p class=\"banner\" role=\"note\">Made in the lab"), "{page}");
        assert!(page.contains("means nothing as a speed"));
        assert!(marked("<body><p>x").starts_with("<body><p class=\"banner\""));
        assert!(marked("no page").starts_with("<p class=\"banner\""));
    }
}
