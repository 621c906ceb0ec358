//! Writes the page of a constructed run, for work on its design: `cargo run -p narrows-report --example page -- KIND FILE`
//! with KIND one of `whole`, `troubled`, `simulated`, `null`, `hostile` (checks), `depth`, `grid`, `kdiskmark`, `latency`,
//! `steady`, `jobs` (runs).

#[path = "../tests/report/fixture.rs"]
#[allow(dead_code, unused_imports)]
mod fixture;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let sample = match arguments.next().as_deref() {
        Some("whole") | None => fixture::sd_card(),
        Some("troubled") => fixture::troubled(),
        Some("simulated") => fixture::simulated(),
        Some("null") => fixture::null_target(),
        Some("hostile") => fixture::hostile(),
        Some("depth") => fixture::depth(),
        Some("grid") => fixture::grid(),
        Some("kdiskmark") => fixture::kdiskmark(),
        Some("latency") => fixture::latency(),
        Some("steady") => fixture::steady(),
        Some("jobs") => fixture::jobs_and_changes(),
        Some(other) => {
            return Err(std::io::Error::other(format!("unknown kind '{other}': see the head of the example")));
        }
    };
    let html = report::page(&sample.check());
    std::fs::write(arguments.next().unwrap_or_else(|| "page.html".into()), html)
}
