//! Run bundles from a stranger: loaded, verified, listed, recovered, concluded from, shown and exported.

use super::imports::{files, kind};
use super::pieces::{self, Piece};
use super::{Fuzzer, mutate::hash};
use archive::Archive;
use exchange::Options;
use model::Run;
use report::{Check, Style};
use std::fs;
use std::path::{Path, PathBuf};

const ID: &str = "20261121T100000Z-0123abcd";

struct Bundles {
    scratch: PathBuf,
}

/// Makes it; bundles are written below the directory.
pub fn make(directory: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Bundles { scratch: directory.join("archive") }))
}

impl Fuzzer for Bundles {
    fn corpus(&self) -> Vec<Vec<u8>> {
        files(&["crates/xtask/fuzz/bundles"], |_| true)
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "==> run.json <==\n",
            "==> series.csv <==\n",
            "==> system.csv <==\n",
            "==> latency.csv <==\n",
            "==> SHA256SUMS <==\n",
            "==> kernel.log <==\n",
            "==> raw/x <==\n",
            "==> run.json -> /etc/hostname <==\n",
            "==> raw -> / <==\n",
            "\"phases\": [",
            "\"record\": null",
            "\"value\": 1e308",
            "\"streams\": [",
            "\"layers\": [",
            "\"samples\"",
            "disk:",
            "cpu:0:khz",
            "temperature:x:millidegrees_c",
            ID,
            "\"../../x\"",
            "narrows/bundle/1",
            "18446744073709551615",
            "\"status\": \"measured\"",
            "\"complete\"",
            "\"truncated\"",
            "\"kind\": \"foreign\"",
            "null",
            "-",
            "\"ended_ns\": 0",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let pieces = pieces::split(input);
        fs::remove_dir_all(&self.scratch).ok();
        let whole = self.whole(&pieces)?;
        fs::remove_dir_all(&self.scratch).ok();
        let partial = self.partial(&pieces)?;
        Ok(hash(format!("{whole} {partial}").as_bytes()))
    }
}

impl Bundles {
    /// As a bundle that has its name.
    fn whole(&self, pieces: &[Piece]) -> Result<String, String> {
        let directory = self.scratch.join("runs").join(ID);
        fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        pieces::write(&directory, pieces);
        let archive = Archive::open(&self.scratch);
        let verified = archive.verify(ID).map_or_else(|e| kind(&e.to_string()), |v| v.is_clean().to_string());
        let listed = archive.list().map(|l| l.len()).map_err(|e| format!("no list: {e}"))?;
        let summary = archive.load_summary(ID).is_ok();
        let loaded = match archive::load_bundle(&directory) {
            Ok(run) => self.show(&run)?,
            Err(error) => kind(&error.to_string()),
        };
        Ok(format!("{verified} {listed} {summary} {loaded}"))
    }

    /// As what a crash left behind.
    fn partial(&self, pieces: &[Piece]) -> Result<String, String> {
        let outside = self.scratch.join("outside");
        fs::create_dir_all(&outside).map_err(|e| e.to_string())?;
        fs::write(outside.join("file"), "as it was").map_err(|e| e.to_string())?;
        let directory = self.scratch.join("runs").join(format!(".{ID}.partial"));
        fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        // A link that leads out, in the place of each file that recovery writes.
        let link = |name: &str| (format!("{name} -> {}", outside.join("file").display()), Vec::new());
        let mut with_links = pieces.to_vec();
        with_links.extend(["run.json.tmp", "series.csv", "SHA256SUMS", "kernel.log"].map(link));
        pieces::write(&directory, &with_links);
        let archive = Archive::open(&self.scratch);
        let recovered = match archive.recover() {
            Ok(all) => all.iter().map(|r| kind(&format!("{:?}", r.outcome))).collect::<String>(),
            Err(error) => kind(&error.to_string()),
        };
        match fs::read_to_string(outside.join("file")) {
            Ok(content) if content == "as it was" => Ok(recovered),
            _ => Err("recovery wrote outside of the bundle".to_owned()),
        }
    }

    /// All that is drawn from a run.
    fn show(&self, run: &Run) -> Result<String, String> {
        let conclusions = conclusions::of_run(run);
        let check = Check::of(run, &conclusions, "2026-11-21 10:00 UTC");
        let style = Style::default();
        let texts = [report::card(&check, &style), report::markdown(&check)];
        if texts.iter().any(|t| t.contains('\u{1b}')) {
            return Err("a control sequence in a text".to_owned());
        }
        let page = report::page(&check);
        if page.matches("<script").count() != page.matches("</script>").count() {
            return Err("a script on the page that does not end".to_owned());
        }
        let options = Options { bins: true, keep_refused: true, ..Options::default() };
        let exported = [
            exchange::fio_json(run, &options).is_ok(),
            exchange::fio_json_files(run, &options).is_ok(),
            exchange::fio_logs(run, &options).is_ok(),
            exchange::csv(std::slice::from_ref(run), &options).is_ok(),
            exchange::hlog(run, &options).is_ok(),
            exchange::iozone(run, &options).is_ok(),
            exchange::bonnie_csv(run, &options).is_ok(),
        ];
        Ok(format!("{:?} {} {exported:?}", conclusions.limit.layer, conclusions.findings.len().min(4)))
    }
}
