//! Ordinary texts: manuals, logs, tables, chats. No storage tool has printed anything of them, so nothing may be found.

use super::{Fuzzer, mutate::hash};
use std::path::Path;
use test_runs::OrdinaryText;

struct Ordinary;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Ordinary))
}

/// The text that the bytes of an input choose; a longer input has more lines.
fn text(input: &[u8]) -> String {
    let mut chosen = 0_u64;
    let mut bytes = input.iter().cycle();
    let next = || {
        chosen = chosen.wrapping_mul(0x100_0000_01b3) ^ u64::from(bytes.next().copied().unwrap_or(1));
        (chosen ^ (chosen >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    };
    OrdinaryText(next).text(input.len().min(60))
}

impl Fuzzer for Ordinary {
    fn corpus(&self) -> Vec<Vec<u8>> {
        (1..=64_u8).map(|n| (0..n).map(|i| i.wrapping_mul(n)).collect()).collect()
    }

    fn words(&self) -> &'static [&'static str] {
        &["a", "bc", "def", "\u{1}", "\u{7f}"]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let text = text(input);
        match exchange::import("file", text.as_bytes()) {
            Ok(imported) => match imported.runs.first() {
                // What is new is another language with another count of lines.
                None => Ok(hash(text.split(' ').next().unwrap_or_default().as_bytes()) ^ text.lines().count() as u64),
                Some(run) => {
                    Err(format!("{} was found in this text: {:?}\n{text}", run.source_format, run.metrics().next()))
                }
            },
            Err(error) => Ok(hash(error.remedy().as_bytes())),
        }
    }
}
