//! JSON as old and broken files hold it: numbers that are no JSON (`nan`, `-inf`), documents cut off anywhere.
//!
//! serde_json refuses a document as a whole; here whatever stands whole before the fault is kept. Only what the caller
//! wants is held: a document may be as large as a file, and most of it (the buckets of histograms) tells nothing here.

use std::borrow::Cow;

/// Levels of nesting that are followed.
const DEPTH_LIMIT: usize = 32;
/// Values that are held of one document.
const MAX_VALUES: usize = 1 << 18;

/// Items of one array, and members of one object.
const MAX_ITEMS: usize = 2048;

/// Whether a member is held: the key of the object it is in, and its own. Objects that hold something are held too.
pub(super) type Wanted = fn(&str, &str) -> bool;

/// A JSON value; numbers and words as they are written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree<'a> {
    /// A number, or a bare word such as `nan`, with its place in the text.
    Bare(&'a str, usize),
    Text(Cow<'a, str>),
    Array(Vec<Tree<'a>>),
    /// An object with the place where it starts; keys may repeat.
    Object(Vec<(Cow<'a, str>, Tree<'a>)>, usize),
}

impl<'a> Tree<'a> {
    /// The last value of a key in an object.
    pub fn get(&self, key: &str) -> Option<&Tree<'a>> {
        self.members().iter().rev().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The members of an object.
    pub fn members(&self) -> &[(Cow<'a, str>, Tree<'a>)] {
        if let Self::Object(members, _) = self { members } else { &[] }
    }

    /// The items of an array.
    pub fn items(&self) -> &[Tree<'a>] {
        if let Self::Array(items) = self { items } else { &[] }
    }

    /// A string, or a bare word as it stands.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bare(word, _) => Some(word),
            _ => None,
        }
    }

    /// A finite number; also one in quotes.
    pub fn number(&self) -> Option<f64> {
        super::super::number::finite(self.text()?)
    }
}

/// A value and where reading ended.
pub(super) struct Parsed<'a> {
    /// What stands whole.
    pub tree: Tree<'a>,
    /// The byte behind it, or of the fault.
    pub end: usize,
    /// Why it ended early, if it did.
    pub fault: Option<&'static str>,
    /// Whether it holds more than is held.
    pub is_cut: bool,
}

/// Reads the object that starts at `start` and lies before `limit`.
pub(super) fn parse(text: &str, start: usize, limit: usize, wanted: Wanted) -> Parsed<'_> {
    let mut reader = Reader { text: &text[..limit], at: start, fault: None, wanted, values: 0, is_cut: false };
    let tree = reader.value("", 0).unwrap_or(Tree::Object(Vec::new(), start));
    Parsed { tree, end: reader.at, fault: reader.fault, is_cut: reader.is_cut }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    fault: Option<&'static str>,
    wanted: Wanted,
    values: usize,
    is_cut: bool,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn fail<T>(&mut self, why: &'static str) -> Option<T> {
        let why = if self.at >= self.text.len() { "the document is cut off" } else { why };
        self.fault.get_or_insert(why);
        None
    }

    /// Whether the value is to be held beside so many others: a scalar that is wanted, or what holds something. `before` is
    /// how many were held before it was read: what it holds is let go with it.
    fn holds(&mut self, beside: usize, is_wanted: bool, value: &Tree<'a>, before: usize) -> bool {
        let (holds, held) = match value {
            Tree::Bare(..) | Tree::Text(_) => (is_wanted, false),
            Tree::Array(items) => (is_wanted || !items.is_empty(), !items.is_empty()),
            Tree::Object(members, _) => (is_wanted || !members.is_empty(), !members.is_empty()),
        };
        // What found room for a part of it has room itself.
        let room = beside < MAX_ITEMS && (held || self.values < MAX_VALUES);
        self.is_cut |= holds && !room;
        if holds && room {
            self.values += 1;
        } else {
            self.values = before;
        }
        holds && room
    }

    /// The value of that key. `None` where nothing of a value stands; [`Reader::fault`] may be set beside a value.
    fn value(&mut self, key: &str, depth: usize) -> Option<Tree<'a>> {
        if depth > DEPTH_LIMIT {
            return self.fail("it is nested too deeply");
        }
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => Some(self.object(key, depth)),
            Some(b'[') => Some(self.array(key, depth)),
            Some(b'"') => self.string().map(Tree::Text),
            _ => self.bare(),
        }
    }

    fn bare(&mut self) -> Option<Tree<'a>> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+')) {
            self.at += 1;
        }
        match self.peek() {
            // A number at the very end may have lost digits.
            None => self.fail("the document is cut off"),
            Some(_) if self.at == start => self.fail("a value is missing"),
            Some(_) => Some(Tree::Bare(&self.text[start..self.at], start)),
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.at += 1;
        let plain = &self.text[self.at..];
        // Most have no escape, and stand in the text as they are.
        if let Some(end) = plain.find(['"', '\\', '\n'])
            && plain.as_bytes()[end] == b'"'
        {
            self.at += end + 1;
            return Some(Cow::Borrowed(&plain[..end]));
        }
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(c) = rest.chars().next() else { return self.fail("the document is cut off") };
            match c {
                '"' => {
                    self.at += 1;
                    return Some(Cow::Owned(out));
                }
                '\n' => {
                    self.at = start;
                    return self.fail("a string does not end");
                }
                '\\' => {
                    let escaped = rest.chars().nth(1).unwrap_or('\\');
                    match escaped {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        '\n' => return self.fail("a string does not end"),
                        other => out.push(other),
                    }
                    self.at = (self.at + 1 + escaped.len_utf8()).min(self.text.len());
                }
                other => {
                    out.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
    }

    fn array(&mut self, key: &str, depth: usize) -> Tree<'a> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Tree::Array(items);
                }
                Some(b',') => self.at += 1,
                _ => {
                    let before = self.values;
                    if let Some(item) = self.value(key, depth + 1)
                        && self.holds(items.len(), (self.wanted)(key, ""), &item, before)
                    {
                        items.push(item);
                    }
                    if self.fault.is_some() {
                        return Tree::Array(items);
                    }
                }
            }
        }
    }

    fn object(&mut self, key: &str, depth: usize) -> Tree<'a> {
        let within = key;
        let start = self.at;
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Tree::Object(members, start);
                }
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    if let Some(key) = self.string() {
                        self.skip_blanks();
                        if self.peek() == Some(b':') {
                            self.at += 1;
                            let before = self.values;
                            if let Some(value) = self.value(&key, depth + 1)
                                && self.holds(members.len(), (self.wanted)(within, &key), &value, before)
                            {
                                members.push((key, value));
                            }
                        } else {
                            self.fail::<()>("a colon is missing");
                        }
                    }
                    if self.fault.is_some() {
                        return Tree::Object(members, start);
                    }
                }
                _ => {
                    self.fail::<()>("something else is where a key should be");
                    return Tree::Object(members, start);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Parsed<'_> {
        parse(text, 0, text.len(), |_, _| true)
    }

    #[test]
    fn documents_with_what_is_no_json() {
        let p = whole(r#"{"a": [1, -2.5e3, nan], "b" : "x\"\u0041", "a": -inf ,}"#);
        assert_eq!((p.fault, p.end), (None, 55));
        assert_eq!(p.tree.get("a").unwrap().text(), Some("-inf"));
        assert_eq!(p.tree.get("a").unwrap().number(), None);
        assert_eq!(p.tree.members()[0].1.items()[1].number(), Some(-2500.0));
        assert_eq!(p.tree.get("b").unwrap().text(), Some("x\"u0041"));
    }

    #[test]
    fn what_is_whole_is_kept() {
        let p = whole(r#"{"a": {"b": 1, "c": 23"#);
        assert_eq!(p.fault, Some("the document is cut off"));
        let a = p.tree.get("a").unwrap();
        assert_eq!((a.get("b").unwrap().number(), a.get("c")), (Some(1.0), None));
        let p = whole("{\"a\": 1 fio: error\n}");
        assert_eq!((p.tree.get("a").unwrap().number(), p.fault.is_some()), (Some(1.0), true));
    }

    #[test]
    fn only_what_is_wanted_is_held() {
        let text = r#"{"a": 1, "x": [1, 2, {"y": 3}], "deep": {"a": 5, "b": "x\"y", "list": [{"a": 6}, {"b": 7}]}}"#;
        let p = parse(text, 0, text.len(), |_, key| key == "a");
        assert_eq!((p.fault, p.end, p.is_cut), (None, text.len(), false));
        assert_eq!(p.tree.members().len(), 2, "{:?}", p.tree);
        let deep = p.tree.get("deep").unwrap();
        assert_eq!((deep.get("a").unwrap().number(), deep.get("b")), (Some(5.0), None));
        assert_eq!(deep.get("list").unwrap().items().len(), 1);
    }

    #[test]
    fn more_than_is_held_is_told() {
        let text = format!("{{\"a\": [{}1]}}", "1,".repeat(MAX_VALUES));
        let p = whole(&text);
        assert_eq!((p.fault, p.end, p.is_cut), (None, text.len(), true));
        assert!(p.tree.get("a").is_none_or(|a| a.items().len() <= MAX_ITEMS));
    }

    #[test]
    fn what_is_cut_off_an_array_takes_nothing_from_what_follows() {
        let item = format!("{{{}\"z\": 1}}", (0..400).map(|n| format!("\"k{n}\": {n},")).collect::<String>());
        let text = format!("{{\"jobs\": [{}{item}], \"after\": 7}}", format!("{item},").repeat(MAX_ITEMS));
        let p = whole(&text);
        assert_eq!((p.fault, p.is_cut), (None, true));
        let held = p.tree.get("jobs").map_or(0, |jobs| jobs.items().len());
        assert!((MAX_VALUES / 410..=MAX_ITEMS).contains(&held), "{held} items");
    }

    #[test]
    fn nesting_has_a_limit() {
        assert!(whole(&"{\"a\":".repeat(100_000)).fault.is_some());
        assert!(whole(&"[".repeat(100_000)).fault.is_some());
    }
}
