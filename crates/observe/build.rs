//! Packs the PCI ID database: in the binary it takes a quarter of its text.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=data/pci.ids");
    let text = fs::read("data/pci.ids").expect("data/pci.ids");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, 9);
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("pci.ids.z"), packed).expect("the packed database");
}
