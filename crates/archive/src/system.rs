//! system.csv: one line per look at the machine, wide, so that a spreadsheet can plot any column against `at_ns`.
//!
//! Counters stand as the kernel gave them; rates are differences of two lines. Columns, in this order:
//!
//! | columns | what |
//! |---|---|
//! | `at_ns` | since the run's start |
//! | `memory_*_bytes`, `pressure_*_us`, `throttle_*`, `interrupts`, `context_switches` | the machine as a whole |
//! | `cpu:total:*_ticks` | sums over the CPUs, for readers; not read back |
//! | `disk:NAME:*` | one set per layer that counts, sectors of 512 bytes |
//! | `nfs:NAME:*` | one set per operation of an NFS mount that was used |
//! | `path:NAME:count` | one per other counter of the path (an SMB client's, ZFS's) |
//! | `temperature:NAME:millidegrees_c` | one per sensor |
//! | `cpu:N:*_ticks` | one set per online CPU, the N-th in the order of their numbers; ticks of 1/100 s |
//! | `cpu:N:khz`, `cpu:N:interrupts` | where the machine tells |
//!
//! A blank cell: there was no such thing, or the kernel did not say. `-` in `cpu:N:khz`: that CPU did not tell its
//! frequency while others did. Disks and sensors that come and go get their own columns, in an order of which every
//! line's own order is a part; two sensors of one name get two columns.

use crate::Result;
use crate::csv::{Dropped, Row, Tolerance, Writer, each_row};
use crate::table::Form;
use model::{
    Column, DISK_COLUMNS as DISK, DiskCounters, MACHINE_COLUMNS as FIXED, NFS_COLUMNS as NFS, NfsCounters, PathCounter,
    SystemSample, TICK_COLUMNS as TICKS, Temperature,
};
use std::io::BufRead;
use std::path::Path;

/// What the samples of a run take while its table is read, at most.
const HELD_LIMIT_BYTES: usize = 16 << 20;

/// Which columns a file has beyond the fixed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    disks: Vec<String>,
    nfs: Vec<String>,
    path: Vec<String>,
    temperatures: Vec<String>,
    cpus: usize,
    cpu_khz: usize,
    cpu_interrupts: usize,
}

/// For each slot whether the next of `names` belongs there; `None` if not all find one.
fn place<'a>(slots: &[String], names: impl Iterator<Item = &'a str>) -> Option<Vec<bool>> {
    let mut names = names.peekable();
    let taken = slots.iter().map(|slot| names.next_if_eq(&slot.as_str()).is_some()).collect();
    names.peek().is_none().then_some(taken)
}

/// Adds slots until every one of `names` finds one, in order.
fn extend<'a>(slots: &mut Vec<String>, names: impl Iterator<Item = &'a str>) {
    let mut at = 0;
    for name in names {
        match slots[at..].iter().position(|s| s == name) {
            Some(found) => at += found,
            None => slots.insert(at, name.to_owned()),
        }
        at += 1;
    }
}

fn disk_names(sample: &SystemSample) -> impl Iterator<Item = &str> {
    sample.disks.iter().map(|d| d.name.as_str())
}

fn nfs_names(sample: &SystemSample) -> impl Iterator<Item = &str> {
    sample.nfs.iter().map(|o| o.name.as_str())
}

fn path_names(sample: &SystemSample) -> impl Iterator<Item = &str> {
    sample.path.iter().map(|c| c.name.as_str())
}

fn temperature_names(sample: &SystemSample) -> impl Iterator<Item = &str> {
    sample.temperatures.iter().map(|t| t.name.as_str())
}

impl Layout {
    /// These columns, and those that these samples need beside them.
    pub fn with(&self, samples: &[SystemSample]) -> Self {
        let mut layout = self.clone();
        for sample in samples.iter().filter(|s| !layout.fits(s)).collect::<Vec<_>>() {
            extend(&mut layout.disks, disk_names(sample));
            extend(&mut layout.nfs, nfs_names(sample));
            extend(&mut layout.path, path_names(sample));
            extend(&mut layout.temperatures, temperature_names(sample));
        }
        let most =
            |has: usize, count: fn(&SystemSample) -> usize| samples.iter().map(count).max().unwrap_or(0).max(has);
        layout.cpus = most(layout.cpus, |s| s.cpus.len());
        layout.cpu_khz = most(layout.cpu_khz, |s| s.cpu_khz.len());
        layout.cpu_interrupts = most(layout.cpu_interrupts, |s| s.interrupts_by_cpu.len());
        layout
    }

    /// Whether a sample finds all its columns. (While [`Layout::with`] builds, only the names decide.)
    fn fits(&self, sample: &SystemSample) -> bool {
        place(&self.disks, disk_names(sample)).is_some()
            && place(&self.nfs, nfs_names(sample)).is_some()
            && place(&self.path, path_names(sample)).is_some()
            && place(&self.temperatures, temperature_names(sample)).is_some()
    }

    /// Whether all these samples can be added to a file with these columns.
    pub fn fits_all(&self, samples: &[SystemSample]) -> bool {
        samples.iter().all(|s| {
            self.fits(s)
                && s.cpus.len() <= self.cpus
                && s.cpu_khz.len() <= self.cpu_khz
                && s.interrupts_by_cpu.len() <= self.cpu_interrupts
        })
    }

    fn line(&self, w: &mut Writer, sample: &SystemSample) {
        let SystemSample { disks, nfs, path, cpus, cpu_khz, temperatures, interrupts_by_cpu, .. } = sample;
        write_all(w, &FIXED, sample);
        for column in TICKS {
            let sum = cpus.iter().filter_map(|c| (column.get)(c)).fold(0, u64::saturating_add);
            w.optional((!cpus.is_empty()).then_some(sum));
        }
        let mut next = disks.iter();
        for taken in place(&self.disks, disk_names(sample)).unwrap_or_default() {
            match next.next_if(taken) {
                Some(disk) => write_all(w, &DISK, disk),
                None => {
                    w.blanks(DISK.len());
                }
            }
        }
        let mut next = nfs.iter();
        for taken in place(&self.nfs, nfs_names(sample)).unwrap_or_default() {
            match next.next_if(taken) {
                Some(operation) => write_all(w, &NFS, operation),
                None => {
                    w.blanks(NFS.len());
                }
            }
        }
        let mut next = path.iter();
        for taken in place(&self.path, path_names(sample)).unwrap_or_default() {
            w.optional(next.next_if(taken).map(|counter| counter.value));
        }
        let mut next = temperatures.iter();
        for taken in place(&self.temperatures, temperature_names(sample)).unwrap_or_default() {
            match next.next_if(taken) {
                Some(t) => w.number(t.millidegrees_c),
                None => w.blanks(1),
            };
        }
        for n in 0..self.cpus {
            match cpus.get(n) {
                Some(cpu) => write_all(w, &TICKS, cpu),
                None => {
                    w.blanks(TICKS.len());
                }
            }
        }
        for n in 0..self.cpu_khz {
            match cpu_khz.get(n) {
                Some(Some(khz)) => w.number(khz),
                Some(None) => w.text("-"),
                None => w.blanks(1),
            };
        }
        for n in 0..self.cpu_interrupts {
            w.optional(interrupts_by_cpu.get(n).copied());
        }
        w.end();
    }
}

impl Form for Layout {
    type Item = SystemSample;
    type Columns = Columns;
    /// When the first and the last were taken.
    type Tally = Option<(u64, u64)>;
    const KEEPS_FIRST: bool = true;

    fn header(&self) -> String {
        let mut w = Writer::default();
        for column in FIXED {
            w.text(column.name);
        }
        for column in TICKS {
            w.text(&format!("cpu:total:{}", column.name));
        }
        for name in &self.disks {
            for column in DISK {
                w.text(&format!("disk:{name}:{}", column.name));
            }
        }
        for name in &self.nfs {
            for column in NFS {
                w.text(&format!("nfs:{name}:{}", column.name));
            }
        }
        for name in &self.path {
            w.text(&format!("path:{name}:count"));
        }
        for name in &self.temperatures {
            w.text(&format!("temperature:{name}:millidegrees_c"));
        }
        for n in 0..self.cpus {
            for column in TICKS {
                w.text(&format!("cpu:{n}:{}", column.name));
            }
        }
        for (count, field) in [(self.cpu_khz, "khz"), (self.cpu_interrupts, "interrupts")] {
            for n in 0..count {
                w.text(&format!("cpu:{n}:{field}"));
            }
        }
        w.end();
        w.into_text()
    }

    fn write(&self, _: &str, sample: &SystemSample, w: &mut Writer) {
        self.line(w, sample);
    }

    fn columns(header: &Row<'_>) -> Read<Columns> {
        Columns::of(header)
    }

    fn read(columns: &Columns, row: &Row<'_>) -> Read<SystemSample> {
        columns.sample(row)
    }

    /// Counters stand as the kernel gave them, so that one of two says what both did.
    fn join(first: &mut SystemSample, later: &SystemSample) {
        first.clone_from(later);
    }

    fn add(tally: &mut Self::Tally, sample: &SystemSample) {
        *tally = Some((tally.map_or(sample.at_ns, |(first, _)| first), sample.at_ns));
    }
}

/// An iterator's next item where there is one to take.
trait NextIf: Iterator {
    fn next_if(&mut self, condition: bool) -> Option<Self::Item> {
        if condition { self.next() } else { None }
    }
}
impl<I: Iterator> NextIf for I {}

fn write_all<T>(w: &mut Writer, columns: &[Column<T>], of: &T) {
    columns.iter().for_each(|column| {
        w.optional((column.get)(of));
    });
}

/// Where the columns of a file are.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    fixed: [usize; FIXED.len()],
    disks: Vec<(String, [usize; DISK.len()])>,
    nfs: Vec<(String, [usize; NFS.len()])>,
    path: Vec<(String, usize)>,
    temperatures: Vec<(String, usize)>,
    cpus: Vec<[usize; TICKS.len()]>,
    cpu_khz: Vec<usize>,
    cpu_interrupts: Vec<usize>,
}

type Read<T> = std::result::Result<T, String>;

/// The positions of a whole set of columns `<prefix>:<field>` that must stand together from `at` on.
fn set<T, const N: usize>(header: &Row<'_>, at: usize, prefix: &str, columns: [Column<T>; N]) -> Read<[usize; N]> {
    let mut positions = [0; N];
    for (i, field) in columns.iter().map(|c| c.name).enumerate() {
        if header.cell(at + i).strip_prefix(prefix).and_then(|c| c.strip_prefix(':')) != Some(field) {
            return Err(format!("column {}: '{prefix}:{field}' is expected", at + i + 1));
        }
        positions[i] = at + i;
    }
    Ok(positions)
}

/// The position of a column that the file does not have: its cells are empty.
const ABSENT: usize = usize::MAX;

/// The positions of the machine's columns. A file of an older version does not have all of those that may be empty.
fn fixed(header: &Row<'_>) -> Read<[usize; FIXED.len()]> {
    let mut positions = [ABSENT; FIXED.len()];
    for (position, column) in positions.iter_mut().zip(FIXED) {
        match header.cells.iter().position(|cell| cell == column.name) {
            Some(at) => *position = at,
            None if column.always => return Err(format!("it has no column '{}'", column.name)),
            None => {}
        }
    }
    Ok(positions)
}

impl Columns {
    /// Columns of a kind that this version does not know are passed over.
    fn of(header: &Row<'_>) -> Read<Self> {
        let mut columns = Self { fixed: fixed(header)?, ..Self::default() };
        for (at, cell) in header.cells.iter().enumerate() {
            let Some((prefix, field)) = cell.rsplit_once(':') else { continue };
            let Some((kind, name)) = prefix.split_once(':') else { continue };
            match (kind, field) {
                ("disk", "reads") => columns.disks.push((name.to_owned(), set(header, at, prefix, DISK)?)),
                ("nfs", "operations") => columns.nfs.push((name.to_owned(), set(header, at, prefix, NFS)?)),
                ("path", "count") => columns.path.push((name.to_owned(), at)),
                ("temperature", "millidegrees_c") => columns.temperatures.push((name.to_owned(), at)),
                ("cpu", _) if name == "total" => {}
                ("cpu", "user_ticks") => {
                    in_order(name, columns.cpus.len())?;
                    columns.cpus.push(set(header, at, prefix, TICKS)?);
                }
                ("cpu", "khz") => {
                    in_order(name, columns.cpu_khz.len())?;
                    columns.cpu_khz.push(at);
                }
                ("cpu", "interrupts") => {
                    in_order(name, columns.cpu_interrupts.len())?;
                    columns.cpu_interrupts.push(at);
                }
                _ => {}
            }
        }
        Ok(columns)
    }

    fn sample(&self, row: &Row<'_>) -> Read<SystemSample> {
        Ok(SystemSample {
            disks: self.disks(row)?,
            nfs: self.nfs(row)?,
            path: self.path(row)?,
            cpus: prefix_of(&self.cpus, |c| row.cell(c[0]).is_empty(), |c| read_all(row, c, &TICKS))?,
            cpu_khz: prefix_of(
                &self.cpu_khz,
                |c| row.cell(*c).is_empty(),
                |c| {
                    if row.cell(*c) == "-" { Ok(None) } else { row.u64(*c).map(Some) }
                },
            )?,
            temperatures: self.temperatures(row)?,
            interrupts_by_cpu: prefix_of(&self.cpu_interrupts, |c| row.cell(*c).is_empty(), |c| row.u64(*c))?,
            ..read_all(row, &self.fixed, &FIXED)?
        })
    }

    fn disks(&self, row: &Row<'_>) -> Read<Vec<DiskCounters>> {
        let present = self.disks.iter().filter(|(_, c)| !row.cell(c[0]).is_empty());
        present.map(|(name, c)| Ok(DiskCounters { name: name.clone(), ..read_all(row, c, &DISK)? })).collect()
    }

    fn nfs(&self, row: &Row<'_>) -> Read<Vec<NfsCounters>> {
        let present = self.nfs.iter().filter(|(_, c)| !row.cell(c[0]).is_empty());
        present.map(|(name, c)| Ok(NfsCounters { name: name.clone(), ..read_all(row, c, &NFS)? })).collect()
    }

    fn path(&self, row: &Row<'_>) -> Read<Vec<PathCounter>> {
        let present = self.path.iter().filter(|(_, at)| !row.cell(*at).is_empty());
        present.map(|(name, at)| Ok(PathCounter { name: name.clone(), value: row.u64(*at)? })).collect()
    }

    fn temperatures(&self, row: &Row<'_>) -> Read<Vec<Temperature>> {
        let present = self.temperatures.iter().filter(|(_, c)| !row.cell(*c).is_empty());
        present
            .map(|(name, c)| match row.cell(*c).parse() {
                Ok(millidegrees_c) => Ok(Temperature { name: name.clone(), millidegrees_c }),
                Err(_) => Err(format!("column {}: not a temperature", c + 1)),
            })
            .collect()
    }
}

fn in_order(number: &str, expected: usize) -> Read<()> {
    if number.parse() == Ok(expected) { Ok(()) } else { Err(format!("CPU {expected} is expected, not '{number}'")) }
}

/// The items before the first blank one; what follows a blank must be blank.
fn prefix_of<C, T>(columns: &[C], blank: impl Fn(&C) -> bool, item: impl Fn(&C) -> Read<T>) -> Read<Vec<T>> {
    let count = columns.iter().position(&blank).unwrap_or(columns.len());
    if columns[count..].iter().any(|c| !blank(c)) {
        return Err("a CPU follows one that is not there".into());
    }
    columns[..count].iter().map(item).collect()
}

/// The numbers of a set of columns at these positions.
fn read_all<T: Default>(row: &Row<'_>, at: &[usize], columns: &[Column<T>]) -> Read<T> {
    let mut all = T::default();
    for (column, at) in columns.iter().zip(at) {
        let value = if column.always { Some(row.u64(*at)?) } else { row.optional(*at)? };
        if let Some(value) = value.filter(|v| !(column.set)(&mut all, *v)) {
            return Err(format!("{} cannot be {value}", column.name));
        }
    }
    Ok(all)
}

/// All samples, in bounded memory: where there are too many, `thin` makes them fewer.
pub(crate) fn read(
    path: &Path,
    source: impl BufRead,
    tolerance: Tolerance,
    mut thin: impl FnMut(&mut Vec<SystemSample>),
) -> Result<(Vec<SystemSample>, Dropped)> {
    let mut samples = Vec::<SystemSample>::new();
    let mut held_bytes = 0;
    let dropped = each_row(path, source, tolerance, Columns::of, |columns, row| {
        let sample = columns.sample(row)?;
        held_bytes += sample.memory_bytes();
        samples.push(sample);
        if held_bytes > HELD_LIMIT_BYTES {
            thin(&mut samples);
            held_bytes = samples.iter().map(SystemSample::memory_bytes).sum();
        }
        Ok(())
    })?;
    Ok((samples, dropped))
}
