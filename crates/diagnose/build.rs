//! Packs the texts of the findings: in the binary they take a third.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=findings");
    let mut files: Vec<_> =
        fs::read_dir("findings").expect("findings").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let text: String = files
        .iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            format!("{name}\0{}\0", fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        })
        .collect();
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 9);
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("findings.z"), packed).expect("the packed findings");
}
