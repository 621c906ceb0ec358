//! The pages of a site: an overview with the rankings, a page each device model and each machine, uses, findings, history, what is not
//! counted, and a search. Each is a file that loads nothing; only the search needs a script.

mod device;
mod machine;
mod parts;
mod rankings;

use super::{embed, frame, section, t};
use crate::quantity;
use maud::{Markup, PreEscaped, html};
use model::{Site, SiteRun};
use parts::{link, slug, table};
use std::collections::BTreeMap;

const STYLE: &str = include_str!("site.css");
const SEARCH: &str = include_str!("site/search.js");
/// Bundles that are not counted, named one by one.
const MOST_PROBLEMS: usize = 2_000;

/// Runs by a name, in their order.
type RunsBy<'a> = BTreeMap<&'a str, Vec<&'a SiteRun>>;

/// What a page of the site needs to know of the whole.
struct Context<'a> {
    site: &'a Site,
    version: &'a str,
    title: &'a str,
    devices: RunsBy<'a>,
    machines: RunsBy<'a>,
}

impl Context<'_> {
    /// A page; `up` is the way to the directory of the site.
    fn page(&self, heading: &str, up: &str, main: &Markup) -> String {
        self.scripted(heading, up, main, &[])
    }

    fn scripted(&self, heading: &str, up: &str, main: &Markup, scripts: &[&str]) -> String {
        let pages = [
            ("index.html", "Rankings"),
            ("devices.html", "Devices"),
            ("machines.html", "Machines"),
            ("uses.html", "Uses"),
            ("findings.html", "Findings"),
            ("history.html", "History"),
            ("not-counted.html", "Not counted"),
            ("search.html", "Search"),
        ];
        let body = html! {
            main {
                header { p.brand { (t(self.title)) } h1 { (t(heading)) } }
                nav.site aria-label="Pages" { @for (file, name) in pages { a href=(format!("{up}{file}")) { (name) } } }
                (main)
                footer {
                    p { "narrows site " (t(self.version)) ". MB/s is 10⁶ bytes per second. Every bundle was verified against its checksums; \
                         what was not as it was written is listed as not counted." }
                }
            }
            @for script in scripts { script { (PreEscaped(script)) } }
        };
        let style = format!("{}\n{STYLE}", super::assets::ASSETS.style);
        frame::document(&format!("{heading} - {}", self.title), self.version, &style, scripts, &body)
    }
}

/// Gives each page of the site with its path in it: `device/samsung-970-1a2b3c4d.html`.
///
/// # Errors
/// Those of `page`, at once.
pub fn site_pages<E>(
    site: &Site,
    title: &str,
    version: &str,
    mut page: impl FnMut(&str, String) -> Result<(), E>,
) -> Result<(), E> {
    let (mut devices, mut machines) = (RunsBy::new(), RunsBy::new());
    for run in &site.runs {
        run.device.iter().for_each(|device| devices.entry(device).or_default().push(run));
        machines.entry(&run.machine).or_default().push(run);
    }
    let context = Context { site, version, title, devices, machines };
    page("index.html", rankings::index(&context))?;
    for (path, html) in rankings::pages(&context) {
        page(&path, html)?;
    }
    page("devices.html", device::list(&context))?;
    for (name, runs) in &context.devices {
        page(&format!("device/{}.html", slug(name)), device::page(&context, name, runs))?;
    }
    page("machines.html", machine::list(&context))?;
    for (name, runs) in &context.machines {
        page(&format!("machine/{}.html", slug(name)), machine::page(&context, name, runs))?;
    }
    page("uses.html", uses(&context))?;
    page("findings.html", findings(&context))?;
    page("history.html", machine::history(&context))?;
    page("not-counted.html", problems(&context))?;
    page("search.html", search(&context))
}

fn uses(context: &Context<'_>) -> String {
    let mut names: Vec<&str> = context.site.fits.values().flat_map(|of| of.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let row = |(device, fits): (&String, &BTreeMap<String, model::SiteFit>)| {
        let first = link("device", device, "");
        let cell = |name: &&str| match fits.get(*name) {
            Some(fit) => html! { (fit.met) " of " (fit.of) },
            None => html! { "-" },
        };
        std::iter::once(first).chain(names.iter().map(cell)).collect()
    };
    let head: Vec<&str> = std::iter::once("device").chain(names.iter().copied()).collect();
    let rows: Vec<Vec<Markup>> = context.site.fits.iter().map(row).collect();
    let main = section(
        "uses",
        "What each device is good for",
        "Of the runs that could tell, how many met what the use needs (narrows explain USE says what that is)",
        table(&head, rows, "No run could tell: a check does."),
    );
    context.page("Uses", "", &main)
}

fn findings(context: &Context<'_>) -> String {
    let mut all: Vec<(&String, &model::SiteFinding)> = context.site.findings.iter().collect();
    all.sort_by(|a, b| b.1.runs.cmp(&a.1.runs).then(a.0.cmp(b.0)));
    let total = context.site.runs.len().max(1);
    let row = |(id, f): (&String, &model::SiteFinding)| {
        let share = quantity::significant(f.runs as f64 * 100.0 / total as f64, 2);
        vec![
            html! { (t(&f.title)) " " small { code { (t(id)) } } },
            html! { (f.runs) " (" (share) " %)" },
            html! { (f.machines) },
            html! { (f.devices) },
        ]
    };
    let main = section(
        "findings",
        "Findings by frequency",
        "Named conditions of the storage path; narrows explain ID says what each means and how to fix it",
        table(&["finding", "runs", "machines", "devices"], all.into_iter().map(row).collect(), "Nothing was found."),
    );
    context.page("Findings", "", &main)
}

fn problems(context: &Context<'_>) -> String {
    let all = &context.site.problems;
    let rows = all.iter().take(MOST_PROBLEMS).map(|p| vec![html! { code { (t(&p.id)) } }, html! { (t(&p.why)) }]);
    let main = html! {
        (section("problems", "Not counted", "Bundles that are damaged, were altered, are of a newer version, or say what another one says otherwise", html! {
            (table(&["run", "why"], rows.collect(), "Every bundle is as it was written."))
            @if all.len() > MOST_PROBLEMS { p.hint { "and " (all.len() - MOST_PROBLEMS) " more" } }
        }))
    };
    context.page("Not counted", "", &main)
}

/// Devices, machines, findings and rankings by their words.
fn search(context: &Context<'_>) -> String {
    let entry = |kind: &str, name: &str, page: String| serde_json::json!([kind, t(name), page]);
    let devices = context.devices.keys().map(|d| entry("device", d, format!("device/{}.html", slug(d))));
    let machines = context.machines.iter().map(|(m, runs)| {
        let board = runs.iter().rev().find_map(|r| r.board.as_deref()).unwrap_or_default();
        entry("machine", &format!("{m} {board}"), format!("machine/{}.html", slug(m)))
    });
    let findings = context.site.findings.iter();
    let findings = findings.map(|(id, f)| entry("finding", &format!("{id} {}", f.title), "findings.html".to_owned()));
    let rankings = context.site.rankings.iter();
    let rankings = rankings.map(|r| entry("ranking", &format!("{} {}", r.workload, r.metric), rankings::path(r)));
    let all: Vec<serde_json::Value> = devices.chain(machines).chain(findings).chain(rankings).collect();
    let main = html! {
        section id="search" {
            h2 { label for="words" { "Devices, machines, findings, rankings" } }
            p { input id="words" type="search" autocomplete="off"; }
            noscript { p.hint { "The search needs scripts; every page is in the lists above." } }
            ul id="found" aria-live="polite" {}
            script type="application/json" id="entries" { (PreEscaped(embed::json(&serde_json::Value::Array(all)))) }
        }
    };
    context.scripted("Search", "", &main, &[SEARCH])
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Better, RunValidity, SiteFinding, SiteProblem, SiteRank, SiteRanking, Unit};
    use std::collections::HashMap;

    fn site(hostile: &str) -> Site {
        let run = |i: usize| SiteRun {
            id: format!("run-{i}"),
            order: i as u64,
            time: Some("2026-01-02T03:04:05Z".into()),
            at_s: Some(i as i64),
            machine: format!("machine {}", i % 2),
            device: Some(format!("SSD {hostile}")),
            unit: format!("unit {}", i % 3),
            firmware: Some(hostile.into()),
            board: Some(hostile.into()),
            kernel: Some("6.1".into()),
            workload: hostile.into(),
            plan: "0".into(),
            validity: RunValidity::Valid,
            metrics: vec![("a.iops".into(), Unit::OpsPerS, Some(Better::Higher), 100.0 + i as f64)],
            findings: vec![("slow".into(), hostile.into())],
            fits: vec![("etcd".into(), Some(true))],
        };
        let rank = SiteRank {
            device: format!("SSD {hostile}"),
            value: 100.0,
            interval: Some((90.0, 110.0)),
            units: 3,
            runs: 9,
        };
        let ranking = SiteRanking {
            workload: hostile.into(),
            metric: "a.iops".into(),
            unit: Unit::OpsPerS,
            better: Better::Higher,
            devices: vec![rank],
        };
        let finding = SiteFinding { title: hostile.into(), runs: 9, machines: 2, devices: 1 };
        Site {
            runs: (0..9).map(run).collect(),
            problems: vec![SiteProblem { id: "run-x".into(), why: hostile.into() }],
            rankings: vec![ranking],
            findings: [("slow".to_owned(), finding)].into(),
            ..Site::default()
        }
    }

    fn pages(site: &Site) -> HashMap<String, String> {
        let mut all = HashMap::new();
        let kept = |path: &str, html: String| {
            assert!(all.insert(path.to_owned(), html).is_none(), "{path} twice");
            Ok::<(), ()>(())
        };
        site_pages(site, "cards <x>", "1.0", kept).unwrap();
        all
    }

    #[test]
    fn every_link_leads_to_a_page_and_names_from_outside_stay_text() {
        let hostile = "\"><script>alert(1)</script>../../etc\u{202e}";
        let all = pages(&site(hostile));
        assert!(
            all.keys().all(|p| p.chars().all(|c| c.is_ascii_alphanumeric() || "-/.".contains(c)) && !p.contains(".."))
        );
        for (path, html) in &all {
            assert!(!html.contains("<script>alert") && !html.contains('\u{202e}'), "{path}");
            assert!(html.contains("default-src 'none'") && html.contains("cards &lt;x&gt;"), "{path}");
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            for target in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                let target = target.split('#').next().unwrap();
                let full = match target.strip_prefix("../") {
                    Some(rest) => rest.to_owned(),
                    None if folder.is_empty() => target.to_owned(),
                    None => format!("{folder}/{target}"),
                };
                assert!(target.is_empty() || all.contains_key(&full), "{path} leads to {target}");
            }
        }
        assert!(all["index.html"].contains("100 IOPS") && all["not-counted.html"].contains("run-x"));
        assert_eq!(all.keys().filter(|p| p.starts_with("machine/")).count(), 2);
    }

    #[test]
    fn the_same_site_gives_the_same_bytes_and_an_empty_one_is_one() {
        assert_eq!(pages(&site("x")), pages(&site("x")));
        assert!(pages(&Site::default())["index.html"].contains("No run"));
    }
}
