//! The look of the pages and the script of their plots, which are packed in the binary (`build.rs`).

use std::sync::LazyLock;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.z"));

/// Style sheets and scripts.
pub(super) struct Assets {
    pub style: &'static str,
    pub plot_style: &'static str,
    pub plot_script: &'static str,
    pub script: &'static str,
}

pub(super) static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let text = miniz_oxide::inflate::decompress_to_vec_zlib(PACKED).expect("what the build packed");
        String::from_utf8(text).expect("a text")
    });
    let mut texts = TEXT.split('\0');
    let mut next = || texts.next().expect("as many as the build packed");
    Assets { style: next(), plot_style: next(), plot_script: next(), script: next() }
});
