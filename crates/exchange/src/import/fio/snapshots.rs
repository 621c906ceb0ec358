//! Reports that fio printed while it went on (`--status-interval`, SIGUSR1): each counts from the start, so only the last
//! one is the run.

use super::job::{Direction, FioJob};
use super::report::{Printed, Report};

/// Lines that the remark names.
const MAX_LINES_TOLD: usize = 5;

/// How fio writes the local time at which a job ended (fio stat.c, ctime_r(3)).
const CTIME: &str = "%a %b %d %H:%M:%S %Y";

/// Leaves states of a run in its course away, with a remark in the run.
pub(super) fn fold(reports: Vec<Report>) -> Vec<Report> {
    let mut kept: Vec<Report> = Vec::new();
    // From the end: what went on is known by what it became.
    for report in reports.into_iter().rev() {
        // Nothing stands between states of one run but what was printed in other forms.
        let next = kept.iter_mut().rev().find(|later| later.format == report.format);
        match next.filter(|later| is_state_of(&report, later)) {
            Some(later) => later.absorb_earlier(report),
            None => kept.push(report),
        }
    }
    let with_remark = |mut run: Report| {
        run.states.sort_unstable();
        let lines: Vec<String> = run.states.iter().take(MAX_LINES_TOLD).map(usize::to_string).collect();
        let more = run.states.len() - lines.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !lines.is_empty() {
            run.remarks
                .push(format!("printed before as it was then, from line {}{more} on; it is one run", lines.join(", ")));
        }
        run
    };
    kept.into_iter().rev().map(with_remark).collect()
}

/// Whether the earlier report is a state of the run that the later one tells: the same jobs, nothing of which went back,
/// and the later one was under way already when the earlier one was printed. Of two runs, the second starts after that.
pub(super) fn is_state_of(earlier: &Report, later: &Report) -> bool {
    let alike = earlier.format == later.format
        && earlier.version.as_ref().zip(later.version.as_ref()).is_none_or(|(a, b)| a == b)
        && !earlier.truncated
        && earlier.has_result()
        && earlier.jobs.len() == later.jobs.len();
    let jobs = || earlier.jobs.iter().zip(&later.jobs);
    let (Some(then), Some(now)) = (printed(earlier), printed(later)) else { return false };
    let began_ns = now.at_ns - longest_ns(later);
    let same_in = |later: &FioJob, d: &Direction| later.directions.iter().find(|o| o.name == d.name).cloned();
    let mut directions = jobs().flat_map(|(a, b)| a.directions.iter().map(move |d| (d, same_in(b, d))));
    alike
        && began_ns + 2.0 * then.step_ns.max(now.step_ns) <= then.at_ns
        && now.at_ns >= then.at_ns
        && longest_ns(later) > longest_ns(earlier)
        && jobs().all(|(a, b)| a.name == b.name && a.host == b.host)
        && directions.all(|(a, b)| b.is_some_and(|b| can_follow(a, &b)))
}

fn longest_ns(report: &Report) -> f64 {
    report.jobs.iter().flat_map(|j| &j.directions).filter_map(|d| d.runtime_ns).fold(0.0, f64::max)
}

/// Whether what was counted of a direction may have grown from one to the other.
fn can_follow(earlier: &Direction, later: &Direction) -> bool {
    let not_less = |a: Option<f64>, b: Option<f64>| a.zip(b).is_none_or(|(a, b)| b >= a);
    let worst = |d: &Direction| d.total.max.as_ref().or(d.completion.max.as_ref()).map(|q| q.value);
    let operations = |d: &Direction| (d.operations > 0).then_some(d.operations as f64);
    not_less(earlier.runtime_ns, later.runtime_ns)
        && not_less(operations(earlier), operations(later))
        // As text they are rounded, in units that grow.
        && not_less(worst(earlier).map(|w| w * 0.98), worst(later))
}

fn printed(report: &Report) -> Option<Printed> {
    let of_text = || {
        let time = jiff::civil::DateTime::strptime(CTIME, report.local_time.as_ref()?).ok()?;
        let utc = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Printed { at_ns: utc.timestamp().as_millisecond() as f64 * 1e6, step_ns: 1e9 })
    };
    report.printed.or_else(of_text)
}

#[cfg(test)]
mod tests {
    use super::super::job::Quantity;
    use super::*;

    fn report(first_line: usize, at_s: f64, runtime_s: f64, operations: u64) -> Report {
        let read = Direction {
            operations,
            runtime_ns: Some(runtime_s * 1e9),
            iops: Some(Quantity::new(operations as f64 / runtime_s, "", "1/s")),
            ..Direction::new("read")
        };
        let job = FioJob { name: "a".to_owned(), directions: vec![read], ..FioJob::default() };
        let printed = Some(Printed { at_ns: at_s * 1e9, step_ns: 1e6 });
        Report { printed, jobs: vec![job], ..Report::new("fio-json", first_line, first_line + 9) }
    }

    #[test]
    fn states_of_a_run_are_no_runs() {
        let states = vec![report(1, 101.0, 1.0, 500), report(20, 102.0, 2.0, 900), report(40, 102.5, 2.5, 1200)];
        let runs = fold(states);
        assert_eq!(runs.iter().map(|r| r.first_line).collect::<Vec<_>>(), [40]);
        assert_eq!(runs[0].remarks, ["printed before as it was then, from line 1, 20 on; it is one run"]);
    }

    #[test]
    fn runs_after_one_another_stay() {
        // The second starts when the first is over, and is longer and larger.
        let runs = fold(vec![report(1, 101.0, 1.0, 500), report(20, 103.2, 2.0, 900), report(40, 106.3, 3.0, 1000)]);
        assert_eq!(runs.len(), 3);
        // Two machines at the same time: the later one did less.
        assert_eq!(fold(vec![report(1, 101.0, 3.0, 500), report(20, 102.0, 4.0, 400)]).len(), 2);
        // Of a coarse clock a run that follows at once is not told from one that goes on.
        let coarse = |mut r: Report| {
            r.printed = r.printed.map(|p| Printed { step_ns: 1e9, ..p });
            r
        };
        assert_eq!(fold(vec![coarse(report(1, 101.0, 1.0, 500)), coarse(report(20, 102.0, 2.0, 900))]).len(), 2);
        assert_eq!(fold(vec![coarse(report(1, 103.0, 3.0, 500)), coarse(report(20, 104.0, 4.0, 900))]).len(), 1);
    }
}
