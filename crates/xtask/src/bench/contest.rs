//! Contestants take turns on one target, round after round, so that a drift of the machine hits all of them alike.

use super::contestants::{Contestant, Task};
use super::figures::{Figures, Spread};

/// All rounds of all contestants; the first contestant is the one the others are compared with.
pub struct Contest {
    pub title: String,
    pub rounds: Vec<(String, Vec<Figures>)>,
}

impl Contest {
    /// Lets them alternate. One that fails is left out from then on, and said so.
    pub fn run_rounds(title: String, task: &Task, contestants: &[Contestant], rounds: u32) -> Self {
        let mut figures: Vec<Vec<Figures>> = contestants.iter().map(|_| Vec::new()).collect();
        let mut out = vec![false; contestants.len()];
        for round in 1..=rounds {
            for (i, contestant) in contestants.iter().enumerate().filter(|(i, _)| !out[*i]).collect::<Vec<_>>() {
                eprintln!("{title}: round {round} of {rounds}: {}", contestant.name);
                match (contestant.run)(task) {
                    Ok(f) => figures[i].push(f),
                    Err(error) => {
                        println!("SKIPPED: {} on {title}: {error:#}", contestant.name);
                        out[i] = true;
                    }
                }
            }
        }
        let rounds = contestants.iter().map(|c| c.name.to_owned()).zip(figures).collect();
        Self { title, rounds }
    }

    /// The table: medians with their spread; the ratio of the first contestant's rate to each, and of each one's CPU time
    /// per operation to the first's, round by round. The second holds on a busy machine too.
    pub fn table(&self, markdown: bool) -> String {
        let header = ["contestant", "million IOPS", "user ns/op", "system ns/op", "narrows / it", "CPU: it / narrows"];
        let mut rows: Vec<[String; 6]> = Vec::new();
        let Some((_, ours)) = self.rounds.first() else { return String::new() };
        for (name, figures) in &self.rounds {
            let Some(iops) = Spread::of(figures.iter().map(|f| f.iops)) else { continue };
            let show = |values: Vec<f64>| Spread::of(values).map_or("-".to_owned(), |s| s.show(1.0, 0));
            let ratio = Spread::of(ours.iter().zip(figures).map(|(a, b)| a.iops / b.iops));
            let cpu = |f: &Figures| Some(f.user_ns_per_op? + f.system_ns_per_op?);
            let cost = Spread::of(ours.iter().zip(figures).filter_map(|(a, b)| Some(cpu(b)? / cpu(a)?)));
            rows.push([
                name.clone(),
                iops.show(1e6, 3),
                show(figures.iter().filter_map(|f| f.user_ns_per_op).collect()),
                show(figures.iter().filter_map(|f| f.system_ns_per_op).collect()),
                ratio.map_or("-".to_owned(), |r| r.show(1.0, 2)),
                cost.map_or("-".to_owned(), |r| r.show(1.0, 2)),
            ]);
        }
        let mut text = if markdown { format!("### {}\n\n", self.title) } else { format!("{}\n", self.title) };
        if markdown {
            text += &format!("| {} |\n|---|---|---|---|---|---|\n", header.join(" | "));
            for row in &rows {
                text += &format!("| {} |\n", row.join(" | "));
            }
        } else {
            for row in std::iter::once(header.map(str::to_owned)).chain(rows) {
                let [name, iops, user, system, ratio, cost] = row;
                text += &format!("  {name:<18} {iops:<24} {user:<20} {system:<20} {ratio:<20} {cost}\n");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_round_by_round() {
        let figures = |iops| Figures { iops, user_ns_per_op: Some(30.0), system_ns_per_op: None };
        let contest = Contest {
            title: "t".to_owned(),
            rounds: vec![
                ("narrows".to_owned(), vec![figures(2e6), figures(4e6)]),
                ("fio".to_owned(), vec![figures(1e6), figures(2e6)]),
            ],
        };
        let table = contest.table(true);
        assert!(
            table.contains("| fio | 1.500 (1.000 - 2.000) | 30 (30 - 30) | - | 2.00 (2.00 - 2.00) | - |"),
            "{table}"
        );
    }
}
