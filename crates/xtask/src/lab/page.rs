//! The page of a study: what was looked at, what was seen, and, first of all, what the figures do not mean.

use super::study::{Shown, Study};
use std::path::Path;

/// Said on every page that comes out of the lab.
pub const EMULATED: &str = "Made in the lab: the drivers and the kernel are real, the hardware is emulated. Every rate, \
    latency and IOPS figure below is the emulator's and means nothing as a speed of any real device; what counts are \
    drivers, queues, findings, register writes and errors.";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A page that `narrows` wrote in a guest, with the warning at its top.
pub fn marked(page: &str) -> String {
    // The pages of `narrows` forbid styles that they did not bring (Content-Security-Policy): an element that is marked by
    // itself.
    let warning = format!("<p role=\"note\"><mark><strong>{}</strong></mark></p>", escaped(EMULATED));
    let body = page.find("<body").and_then(|at| Some(at + page[at..].find('>')? + 1));
    match body {
        Some(at) => format!("{}{warning}{}", &page[..at], &page[at..]),
        None => format!("{warning}{page}"),
    }
}

/// Longest output that is shown of one command.
const OUTPUT_LIMIT_BYTES: usize = 20_000;

fn output(text: &str) -> String {
    let mut end = text.len().min(OUTPUT_LIMIT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() { "\n..." } else { "" };
    format!("<pre>{}{more}</pre>", escaped(text[..end].trim_end()))
}

/// The page, as HTML without anything to fetch.
pub fn page(study: &Study, shown: &Shown) -> String {
    let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n", escaped(&study.plan.title), escaped(study.plan.about.trim()));
    for (title, seen) in &shown.steps {
        body.push_str(&format!("<h2>{}</h2>\n", escaped(title)));
        for one in seen {
            let (class, mark) = if one.wrong.is_empty() { ("ok", "as expected") } else { ("wrong", "NOT as expected") };
            body.push_str(&format!(
                "<h3>{} <span class=\"{class}\">{mark}</span></h3>\n<p><code>{}</code></p>\n",
                escaped(&one.what),
                escaped(&one.command)
            ));
            for wrong in &one.wrong {
                body.push_str(&format!("<p class=\"wrong\">{}</p>\n", escaped(wrong)));
            }
            if !one.output.trim().is_empty() {
                body.push_str(&format!("<details><summary>what was seen</summary>{}</details>\n", output(&one.output)));
            }
        }
    }
    if let Some((said, pages)) = &shown.comparison {
        body.push_str("<h2>The experiment</h2>\n");
        body.push_str(&output(said));
        for path in pages {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            body.push_str(&format!("<p><a href=\"{0}\">{0}</a></p>\n", escaped(&name)));
        }
    }
    body.push_str("<h2>Machines</h2>\n<ul>\n");
    shown.machines.iter().for_each(|m| body.push_str(&format!("<li>{}</li>\n", escaped(m))));
    body.push_str("</ul>\n");
    let style = "body{font:16px/1.5 sans-serif;max-width:60em;margin:auto;padding:0 1em 3em}\
        pre{background:#f4f4f4;padding:1em;overflow:auto;font-size:13px}.ok{color:#06752c}.wrong{color:#b00020}";
    let document = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        escaped(&study.plan.title)
    );
    marked(&document)
}

/// Shows a page in the person's browser, where there is a screen; elsewhere its path is enough.
pub fn open(path: &Path) {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some());
    if screen && std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        let _ = std::process::Command::new("xdg-open").arg(path).spawn();
    }
}

#[cfg(test)]
mod tests {
    use super::super::study::Seen;
    use super::*;

    #[test]
    fn the_warning_is_the_first_thing_in_a_page() {
        let page = marked("<html><body class=\"x\"><h1>Run</h1></body></html>");
        assert!(
            page.starts_with("<html><body class=\"x\"><p role=\"note\"") && page.contains("means nothing as a speed")
        );
        assert!(marked("no page").contains(EMULATED.split(':').next().unwrap_or_default()));
    }

    #[test]
    fn a_study_shows_what_was_seen_and_what_is_wrong() {
        let study = Study::parse(
            "x",
            "[lab]\ntitle = \"A < B\"\nabout = \"x\"\n[[lab.step]]\ntitle = \"s\"\nmachine = \"m\"\n\
             [[lab.step.check]]\nwhat = \"w\"\ncommand = \"c\"\n",
        )
        .expect("sound");
        let seen = |wrong: &[&str]| Seen {
            what: "the driver".into(),
            command: "narrows inspect".into(),
            output: "<ahci>".into(),
            wrong: wrong.iter().map(|w| (*w).to_owned()).collect(),
        };
        let shown = Shown {
            steps: vec![("step".into(), vec![seen(&[]), seen(&["driver x is missing"])])],
            comparison: Some(("same".into(), vec!["/a/reports/1.html".into()])),
            machines: vec!["m: kernel 6.1".into()],
        };
        let page = page(&study, &shown);
        for part in
            ["A &lt; B", "&lt;ahci&gt;", "NOT as expected", "driver x is missing", "href=\"1.html\"", "kernel 6.1"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<ahci>"));
    }
}
