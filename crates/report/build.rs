//! Packs what every page has in it, its look and the script of its plots: in the binary they take a third of their text.

use std::path::Path;
use std::{env, fs};

/// In the order in which `page/assets.rs` takes them apart.
const FILES: [&str; 4] =
    ["src/page/page.css", "vendor/uplot/uPlot.min.css", "vendor/uplot/uPlot.iife.min.js", "src/page/plots.js"];

fn main() {
    let read = |file| {
        println!("cargo::rerun-if-changed={file}");
        fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"))
    };
    let texts: Vec<String> = FILES.into_iter().map(read).collect();
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(texts.join("\0").as_bytes(), 9);
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("page.z"), packed).expect("the packed assets");
}
