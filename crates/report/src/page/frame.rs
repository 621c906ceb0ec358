//! What all pages have in common: the head of the document, its look, and a policy that lets it load nothing.

use super::assets::ASSETS;
use super::{embed, t};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A whole document in the look of the program's pages: `style` is added to it, `main` is what it says. Text in `main` must have
/// gone through [`text_of`].
pub fn framed(title: &str, version: &str, style: &str, main: &Markup) -> String {
    document(title, version, &format!("{}\n{style}", ASSETS.style), &[], &html! { main { (main) } })
}

/// The document around a body, of which no block but `style` and `scripts` is carried out.
pub(super) fn document(title: &str, version: &str, style: &str, scripts: &[&str], body: &Markup) -> String {
    let policy = embed::policy(scripts, &[style]);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content=(format!("narrows {}", t(version)));
                title { (t(title)) }
                style { (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
    .into_string()
}

/// Text from outside, for a page: what could act or reorder is written as an escape; maud escapes the mark-up.
pub fn text_of(text: &str) -> String {
    t(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_whole_and_loads_nothing() {
        let page = framed("lab <x>", "1.0", ".mine{color:red}", &html! { h1 { (text_of("a\u{202e}b <c>")) } });
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>lab &lt;x&gt;</title>"));
        assert!(page.contains(".mine{color:red}") && page.contains("default-src 'none'"), "{page}");
        assert!(page.contains("&lt;c&gt;") && !page.contains('\u{202e}'));
    }
}
