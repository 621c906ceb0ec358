//! The catalogue of findings as Markdown: the pages and the index of docs/findings.

use model::{CatalogueStatus, FindingText, LimitLayer, json_name};

/// Layers from the top of the path to its bottom, then what lies beside it: the order of the index.
pub(crate) const LAYERS: [LimitLayer; 14] = [
    LimitLayer::PageCache,
    LimitLayer::Filesystem,
    LimitLayer::Stacking,
    LimitLayer::BlockLayer,
    LimitLayer::Driver,
    LimitLayer::Controller,
    LimitLayer::Link,
    LimitLayer::Device,
    LimitLayer::Memory,
    LimitLayer::Cpu,
    LimitLayer::ThermalPower,
    LimitLayer::Throttle,
    LimitLayer::Generator,
    LimitLayer::Unknown,
];

/// Text in which nothing becomes mark-up by accident; code in back quotes stays code.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // An odd last piece has no closing quote: then the quote is a character.
    let pieces: Vec<&str> = text.split('`').collect();
    for (i, piece) in pieces.iter().enumerate() {
        let code = i % 2 == 1 && i + 1 < pieces.len();
        if code {
            out.push_str(&format!("`{piece}`"));
            continue;
        }
        if i % 2 == 1 {
            out.push_str("\\`");
        }
        let mut before = None;
        let mut characters = piece.chars().peekable();
        while let Some(c) = characters.next() {
            // An underscore inside a word is no emphasis.
            let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let in_word = inside(before) && inside(characters.peek().copied());
            before = Some(c);
            match c {
                '_' if in_word => out.push(c),
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '\\' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => {
                    out.push('\\');
                    out.push(c);
                }
                c => out.push(c),
            }
        }
    }
    out
}

/// Lines that were broken for an editor joined again; an empty line stays a new paragraph.
fn paragraphs(text: &str) -> String {
    let joined = |p: &str| escaped(&p.split_whitespace().collect::<Vec<_>>().join(" "));
    text.trim().split("\n\n").map(joined).collect::<Vec<_>>().join("\n\n")
}

fn bullets(items: &[String]) -> String {
    items.iter().map(|i| format!("- {}", escaped(i))).collect::<Vec<_>>().join("\n")
}

/// The first line of a fix stands alone; what follows is prose.
fn fix(text: &str) -> String {
    let (first, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let rest = paragraphs(rest);
    if rest.is_empty() { escaped(first) } else { format!("{}\n\n{rest}", escaped(first)) }
}

pub fn finding_markdown(page: &FindingText) -> String {
    let links: Vec<String> = page.links.iter().map(|l| format!("- <{l}>")).collect();
    let parts = [
        ("What it means", paragraphs(&page.meaning)),
        ("What it rests on", bullets(&page.evidence)),
        ("What fixing it can bring", paragraphs(&page.gain_basis)),
        ("What to do", fix(&page.fix)),
        ("How to undo it", paragraphs(&page.undo)),
        ("Sources", bullets(&page.sources)),
        ("Read more", links.join("\n")),
    ];
    let mut out = format!(
        "# {}\n\n`{}`, layer: {}, {}\n",
        escaped(&page.title),
        page.id,
        json_name(&page.layer),
        json_name(&page.status)
    );
    for (heading, text) in parts.iter().filter(|(_, text)| !text.is_empty()) {
        out.push_str(&format!("\n## {heading}\n\n{text}\n"));
    }
    out
}

/// The index of the catalogue, by layer; pages are `<id>.md` beside it.
pub fn findings_index(pages: &[FindingText]) -> String {
    let confirmed = pages.iter().filter(|p| p.status == CatalogueStatus::Confirmed).count();
    let mut out = format!(
        "# Findings\n\nConditions of the storage path that `narrows` recognises by name: {} of them, {confirmed} confirmed \
         in a primary source. A finding from a text that is only probable is never told with high confidence.\n\n\
         `narrows explain ID` prints a page. These files are made from the same texts by `cargo xtask docs`.\n",
        pages.len()
    );
    for layer in LAYERS {
        let mut of_layer = pages.iter().filter(|p| p.layer == layer).peekable();
        if of_layer.peek().is_none() {
            continue;
        }
        out.push_str(&format!("\n## {}\n\n| finding | what it is | status |\n|---|---|---|\n", json_name(&layer)));
        for page in of_layer {
            out.push_str(&format!(
                "| [{0}]({0}.md) | {1} | {2} |\n",
                page.id,
                escaped(&page.title),
                json_name(&page.status)
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> FindingText {
        FindingText {
            id: "some-finding".into(),
            title: "A disk_with *odd* _name_".into(),
            layer: LimitLayer::BlockLayer,
            status: CatalogueStatus::Probable,
            meaning: "One line\nand its end, `a_b` stays.\n\nAnother.".into(),
            evidence: vec!["x: /sys/block/X/queue/x_y".into()],
            gain_basis: "None.".into(),
            fix: "echo 1 > /sys/x\nThen\nlook.".into(),
            undo: "echo 0 > /sys/x".into(),
            sources: vec!["a ` alone".into()],
            links: vec!["https://example.org/a_b".into()],
        }
    }

    #[test]
    fn a_page_is_markdown_without_accidents() {
        let text = finding_markdown(&page());
        assert!(
            text.starts_with("# A disk_with \\*odd\\* \\_name\\_\n\n`some-finding`, layer: block-layer, probable\n")
        );
        assert!(text.contains("One line and its end, `a_b` stays.\n\nAnother.\n"));
        assert!(text.contains("echo 1 &gt; /sys/x\n\nThen look.\n"));
        assert!(text.contains("- a \\` alone\n"));
        assert!(text.contains("- <https://example.org/a_b>\n"));
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    }

    #[test]
    fn the_index_has_every_layer_in_its_order() {
        let other = FindingText { id: "other".into(), layer: LimitLayer::Filesystem, ..page() };
        let index = findings_index(&[page(), other]);
        let at = |needle: &str| index.find(needle).unwrap_or_else(|| panic!("{needle} is not in {index}"));
        assert!(at("## filesystem") < at("## block-layer"));
        assert!(index.contains("| [some-finding](some-finding.md) | A disk_with \\*odd\\* \\_name\\_ | probable |"));
        // No layer of the model is forgotten.
        for layer in LAYERS {
            assert!(findings_index(&[FindingText { layer, ..page() }]).contains(&format!("## {}", json_name(&layer))));
        }
    }
}
