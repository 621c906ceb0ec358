//! A table that grows: series.csv and system.csv, written as a stream of any length.
//!
//! Rows stand phase after phase. Where the table grows beyond [`LIMIT_BYTES`], the phase with the most rows is thinned by half,
//! and again, until the table has half of that: so a long phase gives way to the next one, and short ones keep all they have.
//! Of the phase that runs, what comes from then on is thinned alike before it is written.

use crate::csv::{RewrittenTable, Row, Tolerance, Writer};
use crate::storage::{Storage, open_regular};
use crate::{ArchiveError, Result};
use std::io::{BufReader, Read};
use std::path::Path;

/// A table has no more, but for moments: some days of a series of 100 ms, or a day of a machine with two processors.
pub(crate) const LIMIT_BYTES: u64 = 64 << 20;

/// What the rows of a table are.
pub(crate) trait Form: Clone {
    /// What a row says.
    type Item: Clone + std::fmt::Debug;
    /// Where the columns are.
    type Columns;
    /// By which the rows of a phase are compared with what the run has of it.
    type Tally: Clone + Default + PartialEq + std::fmt::Debug;
    /// Whether the first row of a phase stays as it is.
    const KEEPS_FIRST: bool;

    /// The header line.
    fn header(&self) -> String;
    /// Writes a row.
    fn write(&self, phase: &str, item: &Self::Item, w: &mut Writer);
    /// Finds the columns.
    fn columns(header: &Row<'_>) -> std::result::Result<Self::Columns, String>;
    /// Reads a row.
    fn read(columns: &Self::Columns, row: &Row<'_>) -> std::result::Result<Self::Item, String>;
    /// Joins two neighbouring rows into the first.
    fn join(first: &mut Self::Item, later: &Self::Item);
    /// Adds a row.
    fn add(tally: &mut Self::Tally, item: &Self::Item);
}

/// The rows of one phase.
#[derive(Clone, Debug)]
struct Segment<F: Form> {
    phase: String,
    rows: u64,
    bytes: u64,
    tally: F::Tally,
    /// More may come.
    open: bool,
    group: Group<F>,
}

/// So many that come are one row.
#[derive(Clone, Debug)]
struct Group<F: Form> {
    size: u64,
    held: Option<F::Item>,
    count: u64,
}

impl<F: Form> Group<F> {
    fn of(size: u64) -> Self {
        Self { size, held: None, count: 0 }
    }

    /// Takes the next one; gives a row when it is whole.
    fn take(&mut self, item: &F::Item, is_first: bool) -> Option<F::Item> {
        match &mut self.held {
            Some(held) => F::join(held, item),
            None => self.held = Some(item.clone()),
        }
        self.count += 1;
        if self.count >= self.size || (is_first && F::KEEPS_FIRST) { self.rest() } else { None }
    }

    /// Rows of a group that is not complete yet, joined.
    fn rest(&mut self) -> Option<F::Item> {
        self.count = 0;
        self.held.take()
    }
}

/// Rows that a table is to take.
pub(crate) struct PendingRows<'a, F: Form> {
    pub phase: &'a str,
    /// Rows to append, in order.
    pub items: &'a [F::Item],
    /// Whether no more come.
    pub ended: bool,
}

/// The table, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Table<F: Form> {
    form: F,
    pub(crate) limit_bytes: u64,
    /// Bytes known to be good and synced.
    length_bytes: u64,
    segments: Vec<Segment<F>>,
    /// Whether its name leads to another file than the last sync of the directory made durable.
    is_replaced: bool,
}

/// A table that is written anew is durable only after [`Storage::sync_dir`].
impl<F: Form> Table<F> {
    /// A table without rows.
    pub fn new(form: F) -> Self {
        Self { form, limit_bytes: LIMIT_BYTES, length_bytes: 0, segments: Vec::new(), is_replaced: false }
    }

    /// Whether it was written anew since this was last asked.
    pub fn take_replaced(&mut self) -> bool {
        std::mem::take(&mut self.is_replaced)
    }

    /// What its columns follow from.
    pub fn form(&self) -> &F {
        &self.form
    }

    /// Whether it has rows of a phase of which more may come.
    pub fn grows(&self) -> bool {
        self.segments.last().is_some_and(|last| last.open)
    }

    /// What its rows of that phase amount to.
    pub fn growing(&self) -> Option<&F::Tally> {
        self.segments.last().filter(|last| last.open).map(|last| &last.tally)
    }

    /// The same of this phase.
    pub fn grows_by(&self, phase: &str) -> bool {
        self.segments.last().is_some_and(|last| last.open && last.phase == phase)
    }

    /// Adds rows; they are durable when this returns, but for those that are held until their group is whole. Returns the
    /// bytes that it wrote.
    pub fn append(&mut self, storage: &Storage, path: &Path, parts: &[PendingRows<'_, F>]) -> Result<u64> {
        let before = self.segments.len();
        let last = self.segments.last().cloned();
        let mut w = Writer::default();
        if self.length_bytes == 0 {
            w.raw(&self.form.header());
        }
        parts.iter().for_each(|part| self.take(part, &mut w));
        let text = w.into_text();
        if text.is_empty() {
            return Ok(0);
        }
        if let Err(error) = storage.append(path, self.length_bytes, text.as_bytes()) {
            self.segments.truncate(before);
            if let (Some(now), Some(last)) = (self.segments.last_mut(), last) {
                // Something is missing: what the run has of it will take its place.
                *now = Segment { tally: F::Tally::default(), ..last };
            }
            return Err(error);
        }
        self.length_bytes += text.len() as u64;
        let thinned = if self.length_bytes > self.limit_bytes { self.thin(storage, path)? } else { 0 };
        Ok(text.len() as u64 + thinned)
    }

    fn take(&mut self, part: &PendingRows<'_, F>, w: &mut Writer) {
        if !self.grows_by(part.phase) {
            let phase = part.phase.to_owned();
            let tally = F::Tally::default();
            let group = Group::of(1);
            self.segments.push(Segment { phase, rows: 0, bytes: 0, tally, open: true, group });
        }
        let Some(segment) = self.segments.last_mut() else { return };
        let start = w.len();
        for item in part.items {
            F::add(&mut segment.tally, item);
            if let Some(row) = segment.group.take(item, segment.rows == 0) {
                self.form.write(part.phase, &row, w);
                segment.rows += 1;
            }
        }
        if part.ended {
            segment.open = false;
            if let Some(row) = segment.group.rest() {
                self.form.write(part.phase, &row, w);
                segment.rows += 1;
            }
        }
        segment.bytes += (w.len() - start) as u64;
    }

    /// Ends the phase of which more might have come: its rows stand if they amount to what the run has of it, else those of
    /// the run take their place.
    pub fn end(&mut self, storage: &Storage, path: &Path, phase: &str, items: &[F::Item]) -> Result<()> {
        let mut tally = F::Tally::default();
        items.iter().for_each(|item| F::add(&mut tally, item));
        if self.segments.last().is_some_and(|last| last.tally == tally) {
            return self.append(storage, path, &[PendingRows { phase, items: &[], ended: true }]).map(drop);
        }
        self.replace_last(storage, path, Some(PendingRows { phase, items, ended: true }))
    }

    /// Takes away the rows of the phase of which more might have come: nothing came of it.
    pub fn forget(&mut self, storage: &Storage, path: &Path) -> Result<()> {
        self.replace_last(storage, path, None)
    }

    fn replace_last(&mut self, storage: &Storage, path: &Path, part: Option<PendingRows<'_, F>>) -> Result<()> {
        let mut new = self.clone();
        let Some(last) = new.segments.pop() else { return Ok(()) };
        let mut w = Writer::default();
        part.iter().for_each(|part| new.take(part, &mut w));
        let text = w.into_text();
        new.length_bytes -= last.bytes;
        let old = open(path)?.take(new.length_bytes);
        storage.replace_unsynced(path, &mut old.chain(text.as_bytes()))?;
        new.length_bytes += text.len() as u64;
        *self = Self { is_replaced: true, ..new };
        if self.length_bytes > self.limit_bytes { self.thin(storage, path).map(drop) } else { Ok(()) }
    }

    /// Gives it the columns of another form.
    pub fn reform(&mut self, storage: &Storage, path: &Path, form: F) -> Result<u64> {
        if self.length_bytes == 0 {
            self.form = form;
            return Ok(0);
        }
        let sizes = vec![1; self.segments.len()];
        self.remake(storage, path, form, &sizes)
    }

    fn thin(&mut self, storage: &Storage, path: &Path) -> Result<u64> {
        let mut sizes = vec![1; self.segments.len()];
        let mut left = self.length_bytes;
        while left > self.limit_bytes / 2 {
            let rows = |(place, size): (usize, &u64)| self.segments[place].rows / size;
            let longest = (0..sizes.len()).max_by_key(|place| rows((*place, &sizes[*place])));
            let Some(longest) = longest.filter(|place| rows((*place, &sizes[*place])) > 2) else { break };
            left -= self.segments[longest].bytes / sizes[longest] / 2;
            sizes[longest] *= 2;
        }
        self.remake(storage, path, self.form.clone(), &sizes)
    }

    /// Writes it anew, in another form, with so many rows of each phase made one. A crash leaves the old one or the new one.
    fn remake(&mut self, storage: &Storage, path: &Path, form: F, sizes: &[u64]) -> Result<u64> {
        let mut segments = self.segments.clone();
        for (segment, size) in segments.iter_mut().zip(sizes) {
            segment.group.size *= size;
            (segment.rows, segment.bytes) = (0, 0);
        }
        let old: Vec<u64> = self.segments.iter().map(|s| s.rows).collect();
        let mut columns = None;
        let mut place = 0;
        let mut seen = 0;
        let mut group = Group::<F>::of(sizes.first().copied().unwrap_or(1));
        let mut make = |row: Option<&Row<'_>>, w: &mut Writer| {
            let Some(row) = row else { return Ok(()) };
            let Some(columns) = &columns else {
                columns = Some(F::columns(row)?);
                w.raw(&form.header());
                return Ok(());
            };
            while seen == *old.get(place).ok_or("it has more rows than were written")? {
                (place, seen) = (place + 1, 0);
                group = Group::of(sizes.get(place).copied().unwrap_or(1));
            }
            let item = F::read(columns, row)?;
            let Some(segment) = segments.get_mut(place) else {
                return Err("it has more rows than were written".into());
            };
            seen += 1;
            let start = w.len();
            let whole = group.take(&item, seen == 1);
            let rest = if seen == old[place] { group.rest() } else { None };
            for row in whole.iter().chain(&rest) {
                form.write(&segment.phase, row, w);
                segment.rows += 1;
            }
            segment.bytes += (w.len() - start) as u64;
            Ok(())
        };
        let source = BufReader::new(open(path)?.take(self.length_bytes));
        storage.replace_unsynced(path, &mut RewrittenTable::new(source, Tolerance::Strict, &mut make))?;
        let length_bytes = form.header().len() as u64 + segments.iter().map(|s| s.bytes).sum::<u64>();
        *self = Self { form, limit_bytes: self.limit_bytes, length_bytes, segments, is_replaced: true };
        Ok(length_bytes)
    }
}

fn open(path: &Path) -> Result<std::fs::File> {
    let file = open_regular(path)?.map(|(file, _)| file);
    file.ok_or_else(|| ArchiveError::corrupt(path, None, "it is missing"))
}

/// Leaves of a table the rows up to the first that cannot be read, as far as `keep` wants them; `false` where not even its
/// header can be read.
pub(crate) fn retain<F: Form>(
    storage: &Storage,
    path: &Path,
    mut keep: impl FnMut(&F::Columns, &Row<'_>) -> bool,
) -> Result<bool> {
    let Some((file, _)) = open_regular(path)? else { return Ok(false) };
    let mut columns = None;
    let mut make = |row: Option<&Row<'_>>, w: &mut Writer| {
        let Some(row) = row else { return Ok(()) };
        match &columns {
            None => columns = Some(F::columns(row)?),
            Some(columns) => {
                F::read(columns, row)?;
                if !keep(columns, row) {
                    return Ok(());
                }
            }
        }
        w.raw(row.raw);
        Ok(())
    };
    storage.replace_from(path, &mut RewrittenTable::new(BufReader::new(file), Tolerance::DropTail, &mut make))?;
    Ok(columns.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{self, SeriesForm};
    use crate::system::{self, Layout};
    use model::{CpuTicks, Interval, SystemSample};

    const LIMIT: u64 = 20_000;

    fn intervals(from: u64, count: u64) -> Vec<Interval> {
        let one = |start_ns| Interval { start_ns, length_ns: 1, operations: 3, bytes: start_ns, ..Interval::default() };
        (from..from + count).map(one).collect()
    }

    fn source(path: &Path) -> BufReader<std::fs::File> {
        BufReader::new(std::fs::File::open(path).unwrap())
    }

    fn rows(path: &Path, phase: &str) -> Vec<Interval> {
        series::read(path, source(path), Tolerance::Strict).unwrap().0.remove(phase).unwrap().into_items()
    }

    #[test]
    fn a_long_phase_is_thinned_and_short_ones_keep_all() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Storage::new(directory.path());
        let path = directory.path().join("series.csv");
        let mut table = Table::new(SeriesForm);
        table.limit_bytes = LIMIT;
        let short = intervals(0, 20);
        table.append(&storage, &path, &[PendingRows { phase: "short", items: &short, ended: true }]).unwrap();
        let long = intervals(1_000_000, 10_007);
        for piece in long.chunks(97) {
            table
                .append(&storage, &path, &[PendingRows { phase: "long, and \"quoted\"", items: piece, ended: false }])
                .unwrap();
            assert!(std::fs::metadata(&path).unwrap().len() <= LIMIT, "after each call it is within its limit");
            assert_eq!(std::fs::metadata(&path).unwrap().len(), table.length_bytes);
        }
        // What the run has of it in memory is coarser, and amounts to the same.
        let mut coarse = long.clone();
        (0..6).for_each(|_| Interval::halve(&mut coarse));
        table.end(&storage, &path, "long, and \"quoted\"", &coarse).unwrap();
        assert_eq!(rows(&path, "short"), short);
        let thinned = rows(&path, "long, and \"quoted\"");
        assert!(thinned.len() > coarse.len() && thinned.len() < 1000, "{}", thinned.len());
        assert!(thinned.windows(2).all(|w| w[0].start_ns + w[0].length_ns == w[1].start_ns), "without a gap");
        let sum = |all: &[Interval], of: fn(&Interval) -> u64| all.iter().map(of).sum::<u64>();
        assert_eq!(sum(&thinned, |i| i.operations), 3 * 10_007);
        assert_eq!(sum(&thinned, |i| i.bytes), sum(&long, |i| i.bytes));
        assert_eq!(sum(&thinned, |i| i.length_ns), 10_007);
        // The next phase finds room, and the long one gives way.
        let next = intervals(9_000_000, 200);
        table.append(&storage, &path, &[PendingRows { phase: "next", items: &next, ended: true }]).unwrap();
        assert_eq!((rows(&path, "next"), rows(&path, "short")), (next, short));
    }

    #[test]
    fn what_does_not_amount_to_the_same_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Storage::new(directory.path());
        let path = directory.path().join("series.csv");
        let mut table = Table::new(SeriesForm);
        let all = intervals(0, 50);
        table.append(&storage, &path, &[PendingRows { phase: "a", items: &all[..40], ended: false }]).unwrap();
        table.end(&storage, &path, "a", &all).unwrap();
        assert_eq!(rows(&path, "a"), all);
        table.append(&storage, &path, &[PendingRows { phase: "b", items: &all, ended: false }]).unwrap();
        table.forget(&storage, &path).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains("\nb,"));
        table.append(&storage, &path, &[PendingRows { phase: "c", items: &all, ended: true }]).unwrap();
        assert_eq!((rows(&path, "a"), rows(&path, "c")), (all.clone(), all));
    }

    #[test]
    fn of_samples_the_first_and_the_last_stay_and_columns_may_come() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Storage::new(directory.path());
        let path = directory.path().join("system.csv");
        let mut table = Table::new(Layout::default());
        table.limit_bytes = LIMIT;
        let sample =
            |at_ns: u64, cpus| SystemSample { at_ns, cpus: vec![CpuTicks::default(); cpus], ..SystemSample::default() };
        let all: Vec<SystemSample> = (10..3_000).map(|at| sample(at, if at < 2_000 { 1 } else { 2 })).collect();
        for piece in all.chunks(31) {
            if !table.form().fits_all(piece) {
                let layout = table.form().with(piece);
                table.reform(&storage, &path, layout).unwrap();
            }
            table.append(&storage, &path, &[PendingRows { phase: "p", items: piece, ended: false }]).unwrap();
        }
        let coarse = [all[0].clone(), all[all.len() - 1].clone()];
        table.end(&storage, &path, "p", &coarse).unwrap();
        let (kept, _) = system::read(&path, source(&path), Tolerance::Strict, |_| ()).unwrap();
        assert!(kept.len() > 50 && kept.len() < 1000, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (all.first(), all.last()));
        assert!(kept.iter().all(|s| all.contains(s)), "as they were taken");
        assert!(kept.is_sorted_by_key(|s| s.at_ns));
    }
}
