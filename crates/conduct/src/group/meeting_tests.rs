//! Of the meeting alone, without sockets.

use super::*;

const SECOND: Ns = 1_000_000_000;

struct Met {
    meeting: Meeting,
    out: Answers,
}

fn token(text: &str) -> Token {
    Token::of(text).expect("a token")
}

fn met(size: u32) -> Met {
    Met { meeting: Meeting::new(token("our token"), "g".into(), size, 0, 60 * SECOND), out: Answers::default() }
}

impl Met {
    fn comes_with(&mut self, change: impl Fn(&mut Hello), rank: u32, with: &Token) -> Connection {
        let connection = 100 + u64::from(rank) + 1000 * self.meeting.ranks.len() as u64;
        self.meeting.connects(connection, "10.0.0.1".into(), "theirs".into(), 0, &mut self.out);
        let text = |t: &str| t.to_owned();
        let mut hello = Hello {
            rank,
            size: self.meeting.size,
            version: text("1"),
            machine: format!("m{rank}"),
            asked: text("a"),
            drawn: text("own"),
            proof: String::new(),
        };
        change(&mut hello);
        hello.proof = with.proof(&hello.parts(&hello.numbers(), "theirs"));
        self.meeting.hears(connection, FromRank::Hello(hello), 0, &mut self.out);
        connection
    }

    fn comes(&mut self, rank: u32) -> Connection {
        self.comes_with(|_| (), rank, &token("our token"))
    }

    fn arrives(&mut self, connection: Connection, point: u32, brought: Brought) {
        self.meeting.hears(connection, FromRank::Arrives(point, brought), SECOND, &mut self.out);
    }

    /// What was said to a connection since the last question.
    fn said(&mut self, to: Connection) -> Vec<ToRank> {
        let (ours, others) = std::mem::take(&mut self.out.say).into_iter().partition(|(c, _)| *c == to);
        self.out.say = others;
        let ours: Vec<(Connection, ToRank)> = ours;
        ours.into_iter().map(|(_, message)| message).collect()
    }

    fn ended(&self) -> &str {
        self.meeting.ended.as_deref().unwrap_or_default()
    }
}

#[test]
fn all_wait_at_a_point_until_the_last_has_come() {
    let mut m = met(2);
    let (a, b) = (m.comes(0), m.comes(1));
    assert!(matches!(m.said(a)[..], [ToRank::Drawn(_), ToRank::Welcome { .. }]));
    m.said(b);
    m.arrives(a, 0, Brought::Ready(7));
    assert_eq!(m.said(a), []);
    m.arrives(b, 0, Brought::Ready(5));
    let goes = [ToRank::Goes(0, Box::new(Agreed::Ready(5)))];
    assert_eq!((m.said(a), m.said(b)), (goes.to_vec(), goes.to_vec()));
    for (connection, object) in [(a, 9), (b, 9)] {
        m.arrives(connection, 1, Brought::Object(object));
    }
    assert_eq!(m.said(a), [ToRank::Goes(1, Box::new(Agreed::Object { locks: true, ranks: 2 }))]);
    assert_eq!(m.said(b), [ToRank::Goes(1, Box::new(Agreed::Object { locks: false, ranks: 2 }))]);
    for connection in [a, b] {
        assert!(!m.meeting.is_over(SECOND));
        m.meeting.hears(connection, FromRank::Leaves(None), SECOND, &mut m.out);
    }
    assert!(m.meeting.is_over(SECOND) && m.ended().is_empty());
}

#[test]
fn a_wrong_token_is_no_rank_and_does_not_end_the_group() {
    let mut m = met(2);
    let stranger = m.comes_with(|_| (), 0, &token("other token"));
    assert!(matches!(&m.said(stranger)[..], [ToRank::Drawn(_), ToRank::Ended(why)] if why == "it has another token"));
    assert_eq!((m.out.close.as_slice(), m.ended()), (&[stranger][..], ""));
    m.comes(0);
    m.meeting.looks(61 * SECOND, &mut m.out);
    // Rank 0 is silent by then, and rank 1 never came; the first that is found counts.
    assert!(m.ended().contains("rank 0 (m0) hangs"), "{}", m.ended());
    let mut m = met(4);
    m.comes_with(|_| (), 3, &token("other token"));
    m.meeting.looks(61 * SECOND, &mut m.out);
    assert_eq!(
        m.ended(),
        "ranks 0, 1, 2 and 3 never came (4 of 4, 60 s were waited); 1 connection did not have the token, from 10.0.0.1"
    );
}

#[test]
fn who_never_came_is_named() {
    let mut m = met(4);
    let a = m.comes(0);
    m.comes(2);
    for second in 1..61 {
        for (connection, number) in [(a, second), (m.meeting.members[&2].connection, second)] {
            m.meeting.hears(connection, FromRank::Ping(number as u32), second * SECOND, &mut m.out);
        }
        m.meeting.looks(second * SECOND, &mut m.out);
    }
    assert_eq!(m.ended(), "");
    m.meeting.looks(60 * SECOND + 1, &mut m.out);
    assert_eq!(m.ended(), "ranks 1 and 3 never came (2 of 4, 60 s were waited)");
    assert!(m.said(a).contains(&ToRank::Ended(m.ended().to_owned())));
}

#[test]
fn ranks_that_do_not_fit_end_the_meeting_with_their_names() {
    let ours = token("our token");
    type Change = fn(&mut Hello);
    let changes: [(Change, &str); 5] = [
        (|h| h.version = "2".into(), "rank 1 (m1 at 10.0.0.1) is narrows 2, and another rank 1"),
        (|h| h.asked = "b".into(), "was asked something else"),
        (|h| h.size = 3, "is of 3 ranks, and this group of 2"),
        (|h| h.rank = 0, "rank 0 came twice, from 10.0.0.1 and 10.0.0.1"),
        (|h| h.rank = 2, "is none of 2"),
    ];
    for (change, expected) in changes {
        let mut m = met(2);
        let first = m.comes(0);
        let wrong = m.comes_with(change, 1, &ours);
        assert!(m.ended().contains(expected), "{}: {expected}", m.ended());
        for connection in [first, wrong] {
            assert!(m.said(connection).contains(&ToRank::Ended(m.ended().to_owned())), "{expected}");
        }
    }
}

#[test]
fn who_comes_late_to_a_group_that_ended_is_told_why() {
    let mut m = met(3);
    let two = m.comes(2);
    m.comes_with(|hello| hello.asked = "b".to_owned(), 0, &token("our token"));
    m.meeting.hears(two, FromRank::Leaves(None), SECOND, &mut m.out);
    assert!(m.ended().contains("was asked something else"), "{}", m.ended());
    let over = |m: &Met| [m.meeting.is_over(LATE_NS - 1), m.meeting.is_over(LATE_NS)];
    assert_eq!(over(&m), [false, true], "rank 1 may still come");
    let late = m.comes(1);
    assert!(m.said(late).contains(&ToRank::Ended(m.ended().to_owned())));
    assert_eq!(over(&m), [true, true], "all know");
}

#[test]
fn one_that_dies_hangs_or_leaves_ends_it_for_the_others() {
    let (mut dies, mut hangs, mut leaves) = (met(2), met(2), met(2));
    for m in [&mut dies, &mut hangs, &mut leaves] {
        m.comes(0);
    }
    let b = dies.comes(1);
    dies.meeting.gone(b, "the connection was closed", SECOND, &mut dies.out);
    assert_eq!(dies.ended(), "rank 1 (m1) is gone (the connection was closed)");
    assert!(!dies.meeting.is_over(SECOND), "rank 0 is to be told");
    let a = *dies.meeting.ranks.keys().next().expect("rank 0");
    dies.meeting.gone(a, "", SECOND, &mut dies.out);
    assert!(dies.meeting.is_over(SECOND));

    let b = hangs.comes(1);
    hangs.meeting.hears(b, FromRank::Ping(1), 5 * SECOND, &mut hangs.out);
    hangs.meeting.looks(6 * SECOND + 1, &mut hangs.out);
    assert_eq!(hangs.ended(), "rank 0 (m0) hangs: it sent nothing for 6 s");

    let b = leaves.comes(1);
    leaves.meeting.hears(b, FromRank::Leaves(Some("no space\nleft".into())), 0, &mut leaves.out);
    assert_eq!(leaves.ended(), "rank 1 (m1) ended: no space\\nleft");
}

#[test]
fn plans_that_differ_and_ranks_that_are_elsewhere_end_it() {
    let mut m = met(2);
    let (a, b) = (m.comes(0), m.comes(1));
    m.arrives(a, 0, Brought::Plan("x".into()));
    m.arrives(b, 0, Brought::Plan("y".into()));
    assert!(m.ended().starts_with("the plan of rank 1 (m1) is another than that of rank 0 (m0)"), "{}", m.ended());
    let mut m = met(2);
    let (a, b) = (m.comes(0), m.comes(1));
    m.arrives(a, 0, Brought::Here);
    m.arrives(b, 0, Brought::Ready(1));
    assert!(m.ended().contains("not at the same point"), "{}", m.ended());
    let mut m = met(2);
    let a = m.comes(0);
    m.arrives(a, 5, Brought::Here);
    assert!(m.ended().contains("does not do what the others do"), "{}", m.ended());
}

#[test]
fn nothing_is_taken_before_the_token_is_shown() {
    let mut m = met(1);
    m.meeting.connects(7, "x".into(), "d".into(), 0, &mut m.out);
    m.arrives(7, 0, Brought::Here);
    assert_eq!((m.out.close.as_slice(), m.meeting.point), (&[7][..], 0));
    m.meeting.connects(8, "x".into(), "d".into(), 0, &mut m.out);
    m.meeting.looks(STRANGER_NS + 1, &mut m.out);
    assert_eq!(m.out.close, [7, 8], "who says nothing is not waited for");
}

#[test]
fn ranks_that_have_one_file_are_told_to_rank_0_and_the_first_of_them_to_each_other() {
    let files = [None, Some(7), Some(8), Some(7), Some(9), Some(8)];
    let of = |ranks: &[u32]| Agreed::SameFile(ranks.to_vec());
    assert_eq!(same_file(&files), [of(&[1, 2, 3, 5]), of(&[1]), of(&[2]), of(&[1]), of(&[]), of(&[2])]);
    assert_eq!(same_file(&[None, None]), [of(&[]), of(&[])], "directories are shared by many");
}
