//! The names that a run gives below its directory: by numbers, and nothing else is ever made or removed.
//!
//! A member of a set is `SET.INDEX`, with `.new`, `.moved` or `.journal` behind it where an operation needs one more name. Where a set
//! lies in several directories, those have names of the same form, one for each digit of the directory's number: of three levels
//! directory 27 is `SET.0/SET.2/SET.7`.
//!
//! The names of a recording have the same form, by their own numbers, and as many `~` behind them as bring them to their length: those of
//! the recording may be anybody's, of any letters, and differ in case only.

use model::{FileTrace, FilesPlan};
use std::ffi::CStr;
use std::sync::Arc;

/// The longest path that a call takes, with the zero behind it (PATH_MAX): more than 17 components of 10 and 20 digits, as sets have them.
const PATH_BYTES: usize = 4096;
/// The member of a set that hard links are names of: no index is as high.
pub const LINKED: u64 = u64::MAX;
/// Directories that a directory of the levels above the last one holds.
const FAN: u64 = 10;
/// What a name may end in.
const ENDINGS: [&str; 3] = ["new", "moved", "journal"];

/// Room for a path, which is made from its end on, so that each byte is put where it stays: one is made for each operation.
#[derive(Debug)]
pub struct PathText([u8; PATH_BYTES]);

impl Default for PathText {
    fn default() -> Self {
        Self([0; PATH_BYTES])
    }
}

/// The names of a set.
#[derive(Clone, Copy, Debug)]
pub struct EntryNames {
    set: u32,
    directory_files: u64,
    levels: u32,
}

/// A path that is being made: the zero behind it and its last bytes.
struct Path<'a> {
    buffer: &'a mut [u8; PATH_BYTES],
    start: usize,
}

impl<'a> Path<'a> {
    fn new(buffer: &'a mut PathText) -> Self {
        Self { buffer: &mut buffer.0, start: PATH_BYTES - 1 }
    }

    /// In front of what is there. It fits, by [`PATH_BYTES`].
    #[inline]
    fn byte(&mut self, byte: u8) {
        self.start -= 1;
        self.buffer[self.start] = byte;
    }

    #[inline]
    fn name(&mut self, set: u32, index: u64) {
        self.number(index);
        self.byte(b'.');
        self.number(set.into());
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        loop {
            self.byte(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }

    fn fill(&mut self, byte: u8, count: usize) {
        self.start -= count;
        self.buffer[self.start..][..count].fill(byte);
    }

    fn text(&mut self, text: &str) {
        text.bytes().rev().for_each(|byte| self.byte(byte));
    }

    #[inline]
    fn done(self) -> &'a CStr {
        CStr::from_bytes_until_nul(&self.buffer[self.start..]).unwrap_or_default()
    }
}

impl EntryNames {
    /// The names that a plan's set of files has.
    pub fn of(files: &FilesPlan) -> Self {
        Self { set: files.file_set, directory_files: files.directory_files, levels: files.levels() }
    }

    /// A member of the set that lies in no directory of it.
    pub fn top<'a>(&self, index: u64, buffer: &'a mut PathText) -> &'a CStr {
        self.path_at_top(index, "", buffer)
    }

    /// The same, with this behind it if there is something.
    pub fn path_at_top<'a>(&self, index: u64, ending: &str, buffer: &'a mut PathText) -> &'a CStr {
        let flat = Self { levels: 0, ..*self };
        flat.path(index, ending, buffer)
    }

    /// The first `levels` directories above one, and with it.
    fn above(&self, directory: u64, levels: u32, path: &mut Path<'_>) {
        for level in self.levels - levels..self.levels {
            if path.start < PATH_BYTES - 1 {
                path.byte(b'/');
            }
            let number = directory / FAN.saturating_pow(level);
            // The first level has all the digits that are left.
            path.name(self.set, if level + 1 == self.levels { number } else { number % FAN });
        }
    }

    /// The path of a member, with this behind it if there is something.
    #[inline]
    pub fn path<'a>(&self, index: u64, ending: &str, buffer: &'a mut PathText) -> &'a CStr {
        let mut path = Path::new(buffer);
        if !ending.is_empty() {
            path.text(ending);
            path.byte(b'.');
        }
        path.name(self.set, index);
        if self.levels > 0 {
            self.above(index / self.directory_files, self.levels, &mut path);
        }
        path.done()
    }

    /// The directory of this number, or the one that all lie in.
    pub fn directory<'a>(&self, directory: u64, buffer: &'a mut PathText) -> &'a CStr {
        self.directory_above(directory, self.levels, buffer)
    }

    /// The first of the directories above it, so many of them.
    pub fn directory_above<'a>(&self, directory: u64, levels: u32, buffer: &'a mut PathText) -> &'a CStr {
        if levels == 0 {
            return c".";
        }
        let mut path = Path::new(buffer);
        self.above(directory, levels, &mut path);
        path.done()
    }

    /// The directory of a member.
    pub fn directory_of<'a>(&self, index: u64, buffer: &'a mut PathText) -> &'a CStr {
        self.directory(index.checked_div(self.directory_files).unwrap_or(0), buffer)
    }

    /// The member whose name this is, of those that have been renamed or not.
    pub fn index_of(&self, name: &str, renamed: bool) -> Option<u64> {
        let (set, index, ending) = parts_of(name)?;
        (set == self.set && ending == second_name(renamed)).then_some(index)
    }

    /// Directories above each member.
    pub fn levels(&self) -> u32 {
        self.levels
    }
}

/// The longest name of a file system.
const NAME_BYTES: usize = 255;
/// What brings a name of a recording to its length.
const FILLER: char = '~';

/// The paths of a recording, each made when it is needed: all of them may be more than memory holds.
#[derive(Debug)]
pub struct TraceNames {
    trace: Arc<FileTrace>,
    set: u32,
}

impl TraceNames {
    /// Of a recording, in this set.
    pub fn of(trace: Arc<FileTrace>, set: u32) -> Self {
        Self { trace, set }
    }

    /// The path of this number; the first one is the directory that all lie in. `None`: it is longer than a path can be.
    pub fn path<'a>(&self, mut number: u32, buffer: &'a mut PathText) -> Option<&'a CStr> {
        let FileTrace { paths, names, .. } = &*self.trace;
        let mut path = Path::new(buffer);
        loop {
            let node = paths[number as usize];
            let wanted = names.get(node.name as usize).map_or(0, |len| usize::from(*len)).min(NAME_BYTES);
            let own = digits(self.set) + 1 + digits(node.name);
            if path.start < wanted.max(own) + 1 {
                return None;
            }
            path.fill(FILLER as u8, wanted.saturating_sub(own));
            path.name(self.set, node.name.into());
            if number == 0 {
                return Some(path.done());
            }
            path.byte(b'/');
            number = node.parent;
        }
    }
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// What the name of a member ends in.
pub fn second_name(renamed: bool) -> &'static str {
    if renamed { "moved" } else { "" }
}

/// The set of a name that a run gives.
pub fn set_of(name: &str) -> Option<u32> {
    parts_of(name).map(|(set, ..)| set)
}

/// Set, index and ending of a name that a run gives.
fn parts_of(name: &str) -> Option<(u32, u64, &str)> {
    let name = name.trim_end_matches(FILLER);
    let (set, rest) = name.split_once('.')?;
    let (index, ending) = rest.split_once('.').map_or((rest, None), |(index, ending)| (index, Some(ending)));
    let (set, index) = (set.parse().ok()?, index.parse().ok()?);
    let names = EntryNames { set, directory_files: 0, levels: 0 };
    let known = ending.is_none_or(|ending| ENDINGS.contains(&ending));
    let ending = ending.unwrap_or("");
    (known && names.path(index, ending, &mut PathText::default()).to_bytes() == name.as_bytes())
        .then_some((set, index, ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_recording_have_its_lengths_and_are_known_again() {
        let node = |parent, name| model::PathNode { parent, name };
        let trace = FileTrace {
            paths: vec![node(0, 0), node(0, 1), node(1, 2), node(1, 1)],
            names: vec![0, 9, 1],
            ..FileTrace::default()
        };
        let names = TraceNames::of(trace.into(), 7);
        let buffer = &mut PathText::default();
        let all = [c"7.0", c"7.0/7.1~~~~~~", c"7.0/7.1~~~~~~/7.2", c"7.0/7.1~~~~~~/7.1~~~~~~"];
        (0..4).zip(all).for_each(|(number, path)| assert_eq!(names.path(number, buffer), Some(path)));
        // As deep as a path can be, and deeper.
        let paths = (0..20).map(|number: u32| node(number.saturating_sub(1), u32::from(number > 0))).collect();
        let names = TraceNames::of(FileTrace { paths, names: vec![0, 255], ..FileTrace::default() }.into(), 7);
        assert_eq!(names.path(15, buffer).map(CStr::count_bytes), Some(3 + 15 * 256));
        assert_eq!(names.path(16, buffer), None);
        assert_eq!([set_of("7.1~~~~~~"), set_of("~7.1"), set_of("7.1~x"), set_of("~~")], [Some(7), None, None, None]);
    }

    #[test]
    fn names_are_known_again_and_paths_are_by_the_digits_of_directories() {
        let plan = FilesPlan { file_set: 3, directory_files: 100, directory_levels: 3, ..FilesPlan::default() };
        let names = EntryNames::of(&plan);
        let buffer = &mut PathText::default();
        assert_eq!(names.path(2799, "", buffer), c"3.0/3.2/3.7/3.2799");
        assert_eq!(names.path(123_456, "new", buffer), c"3.12/3.3/3.4/3.123456.new");
        assert_eq!(names.directory(1234, buffer), c"3.12/3.3/3.4");
        assert_eq!(names.directory_of(123_456, buffer), c"3.12/3.3/3.4");
        assert_eq!(names.directory_above(1234, 2, buffer), c"3.12/3.3");
        let flat = EntryNames::of(&FilesPlan { file_set: 3, ..FilesPlan::default() });
        assert_eq!(
            (flat.path(7, "moved", buffer), flat.directory_of(9, &mut PathText::default())),
            (c"3.7.moved", c".")
        );
        let most = FilesPlan { file_set: u32::MAX, directory_files: 1, directory_levels: 16, ..FilesPlan::default() };
        assert!(EntryNames::of(&most).path(LINKED, "journal", buffer).count_bytes() > 200);
        for (name, set) in [("3.7", Some(3)), ("3.7.new", Some(3)), ("4.18446744073709551615", Some(4))] {
            assert_eq!(set_of(name), set);
        }
        let index = |name, renamed| flat.index_of(name, renamed);
        assert_eq!([index("3.7", false), index("3.7", true), index("3.7.moved", true)], [Some(7), None, Some(7)]);
        assert_eq!([index("4.7", false), index("3.7.new", false)], [None, None]);
        for other in ["3", "3.", "3.x", "03.7", "3.7.", "3.7.old", "3.7.new.new", ".7", "3.07", "3.7/"] {
            assert_eq!(set_of(other), None, "{other}");
        }
    }
}
