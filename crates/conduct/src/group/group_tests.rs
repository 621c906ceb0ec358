//! Over real sockets, many ranks in one process.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

const TOKEN: &str = "a token of tests";

/// A port that nobody listens at.
fn port() -> u16 {
    static LAST: AtomicU16 = AtomicU16::new(0);
    let base = 21_000 + (std::process::id() % 4000) as u16 * 8;
    loop {
        let port = base.wrapping_add(LAST.fetch_add(1, Ordering::Relaxed));
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn invitation(rank: u32, size: u32, host: &str, port: u16) -> Invitation {
    Invitation {
        rank,
        size,
        host: host.to_owned(),
        port,
        token: Token::of(TOKEN).expect("a token"),
        patience: Duration::from_secs(20),
        machine: format!("machine-{rank}"),
        scale: false,
        asked: "run x".to_owned(),
    }
}

/// Has each rank do something in a thread of its own.
fn ranks<T: Send>(invitations: Vec<Invitation>, act: impl Fn(Result<Group, Failure>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let act = &act;
        let one = |invitation: Invitation| {
            let of = move || act(invitation.meet(&Interrupts::default(), &Control::default()));
            std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, of).expect("a thread")
        };
        let all: Vec<_> = invitations.into_iter().map(one).collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn all(size: u32, host: &str) -> Vec<Invitation> {
    let port = port();
    (0..size).map(|rank| invitation(rank, size, host, port)).collect()
}

/// A phase of so many operations by each rank, in simulated time.
fn phase(group: &Group) -> Result<GroupPhase, Failure> {
    group.ready(1_000)?;
    group.start(true)?;
    let active = Active { started_ns: 0, counted_ns: 0, ended_ns: 1_000_000_000, ..Active::default() };
    let (together, own, ahead) = group.done(active, 0, true)?;
    let interval = model::Interval { length_ns: 1_000_000_000, operations: 10, bytes: 40_960, ..Default::default() };
    group.share("p", &together, judge::group::share(&together, group.place().0, &own, &[interval], ahead))
}

#[test]
fn four_meet_start_together_and_rank_0_has_the_shares_of_all() {
    for host in ["127.0.0.1", "localhost", "::1"] {
        if host == "::1" && std::net::TcpListener::bind("[::1]:0").is_err() {
            println!("SKIPPED: no IPv6 here");
            continue;
        }
        let starts = ranks(all(4, host), |group| {
            let group = group.expect("they meet");
            let came = monotonic_ns();
            group.start(false).expect("they start");
            let at = monotonic_ns();
            let phase = phase(&group).expect("a phase");
            let limit = RankLimit { layer: model::LimitLayer::Link, statement: "the link".into(), calls: None };
            group.limits(vec![Some(limit)]).expect("the end");
            group.finish();
            let place = group.so_far();
            assert_eq!((place.phases.len(), place.ended), (1, None));
            assert_eq!(place.phases[0].shares[0].limit.as_ref().map(|l| l.layer), Some(model::LimitLayer::Link));
            match group.place().0 {
                0 => {
                    assert_eq!(phase.sum(), Some((4.0 * 40_960.0, 40.0)));
                    assert_eq!(place.machines, ["machine-0", "machine-1", "machine-2", "machine-3"]);
                }
                rank => assert_eq!(phase.shares.iter().map(|s| s.rank).collect::<Vec<_>>(), [rank]),
            }
            (came, at)
        });
        // How far apart they start is seen by tests/root/group.sh, which may try thrice on a busy machine.
        let last_came = starts.iter().map(|(came, _)| came).max().expect("four");
        assert!(starts.iter().all(|(_, at)| at > last_came), "{host}: one started before all had come: {starts:?}");
    }
}

#[test]
fn one_that_goes_without_a_word_is_named_to_all_others_soon() {
    let began = Instant::now();
    let ended = ranks(all(3, "127.0.0.1"), |group| {
        let group = group.expect("they meet");
        group.wait().expect("all are there");
        if group.place().0 == 2 {
            drop(group);
            return String::new();
        }
        phase(&group).expect_err("rank 2 is gone").message
    });
    for said in &ended[..2] {
        assert!(said.contains("rank 2 (machine-2)"), "{said}");
    }
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn who_comes_after_the_end_is_told_why_it_ended() {
    let [zero, one] = <[Invitation; 2]>::try_from(all(2, "127.0.0.1")).expect("two");
    let meets = |invitation: &Invitation| invitation.clone().meet(&Interrupts::default(), &Control::default());
    std::thread::scope(|scope| {
        // It ends as soon as it is taken, which may be before rank 0 itself is.
        let ends = scope.spawn(|| meets(&one).map(drop));
        let said = match meets(&zero) {
            Ok(group) => group.wait().expect_err("rank 1 has ended").message,
            Err(failure) => failure.message,
        };
        assert!(said.contains("rank 1 (machine-1) ended: it ended before the others"), "{said}");
        ends.join().expect("no panic").expect("rank 1 was taken");
    });
}

#[test]
fn a_second_group_at_the_place_and_a_wrong_token_are_told() {
    let mut invitations = all(2, "127.0.0.1");
    let port = invitations[0].port;
    invitations.push(invitation(0, 2, "127.0.0.1", port));
    invitations
        .push(Invitation { token: Token::of("another token").expect("one"), ..invitation(1, 2, "127.0.0.1", port) });
    let first = invitations.remove(0);
    std::thread::scope(|scope| {
        // It listens before the others come.
        let zero = scope.spawn(move || {
            let group = first.meet(&Interrupts::default(), &Control::default()).expect("rank 0 meets");
            group.wait().map(|()| group.finish())
        });
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let others = &invitations[1..];
        let said: Vec<String> = others
            .iter()
            .map(|i| {
                i.clone().meet(&Interrupts::default(), &Control::default()).expect_err("no rank of this group").message
            })
            .collect();
        assert!(said[0].contains("another group meets there"), "{}", said[0]);
        assert!(said[1].contains("it has another token"), "{}", said[1]);
        let one = invitations[0].clone().meet(&Interrupts::default(), &Control::default()).expect("rank 1 meets");
        one.wait().expect("both are there");
        one.finish();
        zero.join().expect("no panic").expect("rank 0 is not disturbed");
    });
}

#[test]
fn what_is_no_group_at_all_is_told_in_time() {
    let nobody = Invitation { patience: Duration::from_millis(300), ..invitation(1, 2, "127.0.0.1", port()) };
    let said = nobody.meet(&Interrupts::default(), &Control::default()).expect_err("nobody is there");
    assert!(said.message.contains("rank 0 was not met at 127.0.0.1:"), "{said}");
    let unknown = Invitation { patience: Duration::from_millis(300), ..invitation(1, 2, "no-such-host.invalid", 7411) };
    assert!(unknown.meet(&Interrupts::default(), &Control::default()).is_err());
    // Rank 0 alone says who is missing.
    let alone = Invitation { patience: Duration::from_secs(4), ..invitation(0, 3, "127.0.0.1", port()) };
    let group = alone.meet(&Interrupts::default(), &Control::default()).expect("it is there itself");
    let said = group.wait().expect_err("the others never come").message;
    assert!(said.contains("ranks 1 and 2 never came (2 of 3, 4 s were waited)"), "{said}");
}

#[test]
fn noise_at_the_meeting_place_is_not_listened_to() {
    let invitations = all(2, "127.0.0.1");
    let port = invitations[0].port;
    std::thread::scope(|scope| {
        let noise = scope.spawn(move || {
            let began = Instant::now();
            let mut sockets = Vec::new();
            while sockets.len() < 40 && began.elapsed() < Duration::from_secs(5) {
                if let Ok(mut socket) = TcpStream::connect(("127.0.0.1", port)) {
                    let text: &[u8] = match sockets.len() % 4 {
                        0 => b"GET / HTTP/1.1\r\n\r\n",
                        1 => b"{\"arrives\":[0,\"here\"]}\n",
                        2 => &[b'x'; 70_000],
                        _ => b"",
                    };
                    let _ = socket.write_all(text);
                    sockets.push(socket);
                }
            }
            sockets.len()
        });
        let met = ranks(invitations, |group| {
            let group = group.expect("they meet");
            std::thread::sleep(Duration::from_millis(300));
            group.wait().expect("nobody ends it");
            group.finish();
        });
        assert_eq!(met.len(), 2);
        noise.join().expect("no panic");
    });
}

/// Peak memory of this process, bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn many_ranks_meet_and_what_that_takes_grows_with_their_number() {
    // Three descriptors for each rank, which are all in this process.
    server::allow_descriptors(4_000);
    let mut took = Vec::new();
    for size in [100, 1000] {
        let began = Instant::now();
        let sums = ranks(all(size, "127.0.0.1"), |group| {
            let group = group.expect("they meet");
            let phase = phase(&group).expect("a phase");
            group.finish();
            phase.sum()
        });
        assert_eq!(sums[0], Some((f64::from(size) * 40_960.0, f64::from(size) * 10.0)));
        took.push(began.elapsed().as_secs_f64());
        println!("{size} ranks: {:.2} s, peak {} MB", took[took.len() - 1], peak() / 1_000_000);
    }
    assert!(took[1] < 30.0, "{took:?}");
    // Ten times as many: no more than linear growth, with room for a busy machine.
    assert!(took[1] < 40.0 * took[0].max(0.1), "{took:?}");
}

#[test]
fn a_meeting_place_is_a_host_and_a_port() {
    let of = |text| meeting_place(text).ok();
    assert_eq!(of("node1:7411"), Some(("node1".into(), 7411)));
    assert_eq!(of("[fd00::1]:7411"), Some(("fd00::1".into(), 7411)));
    assert_eq!(of("10.0.0.1:1"), Some(("10.0.0.1".into(), 1)));
    for bad in ["node1", "node1:", ":7411", "node1:0", "node1:99999", "fd00::1:7411", "[fd00::1:7411", "node1:x"] {
        assert_eq!(of(bad), None, "{bad}");
    }
}

/// Passes on what two ends say to each other until it is told to hold its tongue; the connections stay.
fn drops_later(to: u16, silent: Arc<AtomicBool>) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (from, _) = listener.accept().expect("a rank");
        let to = TcpStream::connect(("127.0.0.1", to)).expect("rank 0");
        let pass = |mut from: TcpStream, mut to: TcpStream, silent: Arc<AtomicBool>| {
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(read) = from.read(&mut buffer) {
                    if read == 0 || !silent.load(Ordering::Relaxed) && to.write_all(&buffer[..read]).is_err() {
                        return;
                    }
                }
            })
        };
        let back = (to.try_clone().expect("a socket"), from.try_clone().expect("a socket"));
        let both = [pass(from, to, Arc::clone(&silent)), pass(back.0, back.1, silent)];
        both.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
    port
}

#[test]
fn a_network_that_drops_all_in_the_middle_ends_the_group_on_both_sides() {
    let mut invitations = all(2, "127.0.0.1");
    let silent = Arc::new(AtomicBool::new(false));
    let zero = invitations[0].clone();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let zero = scope.spawn(move || {
            let group = zero.meet(&Interrupts::default(), &Control::default()).expect("rank 0 meets");
            group.wait().expect("both are there");
            group.wait().expect_err("rank 1 is not heard any more").message
        });
        while TcpStream::connect(("127.0.0.1", invitations[0].port)).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // It has another name for the place, too.
        let one = &mut invitations[1];
        (one.host, one.port) = ("localhost".to_owned(), drops_later(one.port, Arc::clone(&silent)));
        let group = one.clone().meet(&Interrupts::default(), &Control::default()).expect("rank 1 meets");
        group.wait().expect("both are there");
        silent.store(true, Ordering::Relaxed);
        let said = group.wait().expect_err("rank 0 is not heard any more").message;
        assert!(said.contains("rank 0, where the group meets, hangs"), "{said}");
        let said = zero.join().expect("no panic");
        assert!(said.contains("rank 1 (machine-1) hangs"), "{said}");
    });
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_number_twice_and_another_question_end_the_meeting_for_all() {
    let twice = |mut invitations: Vec<Invitation>, change: fn(&mut Invitation)| {
        change(&mut invitations[2]);
        let ended = |group: Result<Group, Failure>| match group.and_then(|group| group.wait()) {
            Ok(()) => String::new(),
            Err(failure) => failure.message,
        };
        ranks(invitations, ended)
    };
    let said = twice(all(3, "127.0.0.1"), |last| last.rank = 1);
    assert!(said.iter().all(|s| s.contains("rank 1 came twice")), "{said:?}");
    let said = twice(all(3, "127.0.0.1"), |last| last.asked = "run y".to_owned());
    assert!(said.iter().all(|s| s.contains("was asked something else")), "{said:?}");
    let said = twice(all(3, "127.0.0.1"), |last| last.size = 4);
    assert!(said.iter().all(|s| s.contains("ranks, and this group of") || s.contains("is none of")), "{said:?}");
}

#[test]
fn who_waits_has_no_part_and_all_say_what_they_came_to() {
    let answers = ranks(all(3, "127.0.0.1"), |group| {
        let group = group.expect("they meet");
        let (rank, _) = group.place();
        match rank {
            2 => group.sit_out("p").expect("it waits"),
            _ => {
                group.start(true).expect("they start");
                let active = Active { started_ns: 0, counted_ns: 0, ended_ns: 1_000, ..Active::default() };
                let (together, own, ahead) = group.done(active, 0, true).expect("a phase");
                group.wait().expect("it is made durable");
                let share = judge::group::share(&together, rank, &own, &[], ahead);
                let phase = group.share("p", &together, share).expect("shares");
                assert_eq!(phase.shares.len(), if rank == 0 { 2 } else { 1 });
            }
        }
        let own = RankOutcome { met: Some(rank != 1), statement: "said\x1b[2J".into(), ..RankOutcome::default() };
        let answer = group.outcome(own, (0, 1_000), false).expect("an answer");
        (
            answer.met(),
            answer.ranks.iter().map(|r| (r.rank, r.machine.clone(), r.statement.clone())).collect::<Vec<_>>(),
        )
    });
    let [(all, ranks), (one, _), (two, own)] = <[_; 3]>::try_from(answers).expect("three");
    assert_eq!((all, one, two), (Some(false), Some(false), Some(true)));
    assert_eq!(ranks[2], (2, "machine-2".to_owned(), "said\\x1b[2J".to_owned()));
    assert_eq!((ranks.len(), own.len()), (3, 1));
}
