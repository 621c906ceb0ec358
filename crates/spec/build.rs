//! Packs the recorded boot: in the binary it takes a quarter of its text.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=workloads/boot.trace");
    let text = fs::read("workloads/boot.trace").expect("workloads/boot.trace");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, 9);
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("boot.trace.z"), packed).expect("the packed boot");
}
