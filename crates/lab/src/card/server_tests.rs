//! A small client of our own over real sockets. Peers that are not ours are asked in tests/peers/card-server.sh.

use super::super::device::Data;
use super::super::parameters::Card;
use super::super::protocol::{
    MAGIC, MAX_BYTES, OPTION_MAGIC, OPTION_REPLY_MAGIC, REPLY_MAGIC, REQUEST_MAGIC, command, flag, info, option, reply,
};
use super::super::timing::Operation;
use super::*;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// So fast that no test waits for it.
const FAST: &str = "title = 'a fast card'\nsource = 'invented'\ncapacity = '64MiB'\n[read]\nrate = '100GB/s'\n\
                    [write]\nrate = '100GB/s'\nerase-block = '4MiB'\n";

fn start(text: &str) -> CardServer {
    let card = Card::parse(text).unwrap_or_else(|e| panic!("{e:#}"));
    let device = Device::new(card, tempfile::tempfile().unwrap(), 1, 1.0).unwrap();
    CardServer::start(device, &Listen::Port(0), true).unwrap()
}

struct Client {
    socket: TcpStream,
}

impl Client {
    fn connect(server: &CardServer) -> Self {
        let socket = TcpStream::connect(server.address().strip_prefix("nbd://").unwrap()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.set_nodelay(true).unwrap();
        Self { socket }
    }

    /// Connected, greeted, and with the flags of a client of today sent.
    fn greeted(server: &CardServer) -> Self {
        let mut client = Self::connect(server);
        let greeting = client.receive(18);
        assert_eq!(greeting[..8], MAGIC.to_be_bytes());
        assert_eq!(greeting[8..16], OPTION_MAGIC.to_be_bytes());
        assert_eq!(greeting[16..], [0, 3]);
        client.send(&3u32.to_be_bytes());
        client
    }

    /// In the transmission phase.
    fn ready(server: &CardServer) -> Self {
        let mut client = Self::greeted(server);
        let replies = client.go(b"");
        assert_eq!(replies.last().unwrap().0, reply::ACK);
        client
    }

    fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    fn receive(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.socket.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Whether the server closes the connection without another byte.
    fn is_closed(&mut self) -> bool {
        matches!(self.socket.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    fn option(&mut self, option: u32, data: &[u8]) {
        self.send(
            &[&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data]
                .concat(),
        );
    }

    /// One reply to an option: its type and data.
    fn option_reply(&mut self, option: u32) -> (u32, Vec<u8>) {
        let head = self.receive(20);
        assert_eq!(head[..8], OPTION_REPLY_MAGIC.to_be_bytes());
        assert_eq!(head[8..12], option.to_be_bytes());
        let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        let data = self.receive(word(16) as usize);
        (word(12), data)
    }

    fn inform(&mut self, option: u32, name: &[u8], kinds: &[u16]) -> Vec<(u32, Vec<u8>)> {
        let mut data = Vec::from((name.len() as u32).to_be_bytes());
        data.extend(name);
        data.extend((kinds.len() as u16).to_be_bytes());
        data.extend(kinds.iter().flat_map(|kind| kind.to_be_bytes()));
        self.option(option, &data);
        let mut replies = vec![self.option_reply(option)];
        while replies.last().unwrap().0 == reply::INFO {
            replies.push(self.option_reply(option));
        }
        replies
    }

    fn go(&mut self, name: &[u8]) -> Vec<(u32, Vec<u8>)> {
        self.inform(option::GO, name, &[])
    }

    fn ask(&mut self, command: u16, flags: u16, cookie: u64, offset: u64, len: u32) {
        let head =
            [&REQUEST_MAGIC.to_be_bytes()[..], &flags.to_be_bytes(), &command.to_be_bytes(), &cookie.to_be_bytes()];
        self.send(&[&head.concat()[..], &offset.to_be_bytes(), &len.to_be_bytes()].concat());
    }

    /// The error of the next reply, whose cookie must be this.
    fn answer(&mut self, cookie: u64) -> u32 {
        let reply = self.receive(16);
        assert_eq!(reply[..4], REPLY_MAGIC.to_be_bytes());
        assert_eq!(reply[8..], cookie.to_be_bytes());
        u32::from_be_bytes(reply[4..8].try_into().unwrap())
    }

    fn read(&mut self, offset: u64, len: u32) -> Result<Vec<u8>, u32> {
        self.ask(command::READ, 0, 7, offset, len);
        match self.answer(7) {
            0 => Ok(self.receive(len as usize)),
            error => Err(error),
        }
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> u32 {
        self.ask(command::WRITE, 0, 8, offset, data.len() as u32);
        self.send(data);
        self.answer(8)
    }

    fn command(&mut self, command: u16, flags: u16, offset: u64, len: u32) -> u32 {
        self.ask(command, flags, 9, offset, len);
        self.answer(9)
    }
}

#[test]
fn options_are_answered_as_the_protocol_has_it() {
    let server = start(FAST);
    let mut client = Client::greeted(&server);
    client.option(option::LIST, &[]);
    assert_eq!(client.option_reply(option::LIST), (reply::SERVER, vec![0; 4]));
    assert_eq!(client.option_reply(option::LIST), (reply::ACK, vec![]));
    client.option(option::LIST, b"x");
    assert_eq!(client.option_reply(option::LIST).0, reply::ERR_INVALID);
    // STARTTLS, STRUCTURED_REPLY, LIST_META_CONTEXT, EXTENDED_HEADERS, and one that nobody knows.
    for unknown in [5, 8, 9, 11, 4711] {
        client.option(unknown, &[]);
        assert_eq!(client.option_reply(unknown).0, reply::ERR_UNSUP);
    }
    assert_eq!(client.go(b"another").last().unwrap().0, reply::ERR_UNKNOWN);
    client.option(option::GO, &[0, 0, 0, 99, 1]);
    assert_eq!(client.option_reply(option::GO).0, reply::ERR_INVALID);
    let replies = client.inform(option::INFO, b"card", &[info::NAME, info::DESCRIPTION, info::BLOCK_SIZE]);
    let offered = flag::HAS_FLAGS
        | flag::SEND_FLUSH
        | flag::SEND_FUA
        | flag::SEND_TRIM
        | flag::SEND_WRITE_ZEROES
        | flag::CAN_MULTI_CONN;
    let export = [&[0, 0][..], &(64u64 << 20).to_be_bytes(), &offered.to_be_bytes()].concat();
    let sizes = [&[0, 3][..], &512u32.to_be_bytes(), &4096u32.to_be_bytes(), &MAX_BYTES.to_be_bytes()].concat();
    let expected = [export, b"\0\x01card".to_vec(), b"\0\x02a fast card".to_vec(), sizes];
    assert_eq!(replies.len(), 5);
    assert_eq!(replies[..4].iter().map(|(_, data)| data.clone()).collect::<Vec<_>>(), expected);
    // INFO leaves the client where it was; ABORT does not.
    client.option(option::ABORT, &[]);
    assert_eq!(client.option_reply(option::ABORT), (reply::ACK, vec![]));
    assert!(client.is_closed());
}

#[test]
fn export_name_leads_to_transmission_with_and_without_zeros() {
    let server = start(FAST);
    for (flags, tail) in [(1u32, 124), (3, 0)] {
        let mut client = Client::connect(&server);
        client.receive(18);
        client.send(&flags.to_be_bytes());
        client.option(option::EXPORT_NAME, b"");
        let answer = client.receive(10 + tail);
        assert_eq!(answer[..8], (64u64 << 20).to_be_bytes());
        assert!(answer[10..].iter().all(|byte| *byte == 0));
        assert_eq!(client.write(0, &[7; 512]), 0);
        assert_eq!(client.read(0, 512), Ok(vec![7; 512]));
    }
    let mut client = Client::greeted(&server);
    client.option(option::EXPORT_NAME, b"another");
    assert!(client.is_closed());
}

#[test]
fn data_come_back_and_errors_leave_the_connection_whole() {
    let server = start(FAST);
    let mut client = Client::ready(&server);
    let end = 64 << 20;
    let data: Vec<u8> = (0..8192u32).map(|i| ((i * 31) >> 3) as u8).collect();
    assert_eq!(client.write(end - 8192, &data), 0);
    assert_eq!(client.read(end - 8192, 8192), Ok(data));
    assert_eq!(client.write(end - 512, &[1; 1024]), 28);
    assert_eq!(client.write(1, &[1; 512]), 22);
    assert_eq!(client.read(end, 512), Err(22));
    assert_eq!(client.read(0, 100), Err(22));
    assert_eq!(client.command(17, 0, 0, 0), 22);
    assert_eq!(client.command(command::FLUSH, 0, 0, 0), 0);
    assert_eq!(client.command(command::WRITE_ZEROES, 3, end - 8192, 4096), 0);
    assert_eq!(client.read(end - 8192, 4096), Ok(vec![0; 4096]));
    assert_eq!(client.command(command::TRIM, 0, 0, 64 << 20), 0);
    assert_eq!(client.read(end - 4096, 4096), Ok(vec![0; 4096]));
    client.ask(command::DISC, 0, 0, 0, 0);
    assert!(client.is_closed());
    let counts = server.stop().counts;
    assert_eq!((counts.flushes, counts.trims, counts.read_bytes), (2, 1, 16384));
}

#[test]
fn requests_that_were_sent_ahead_are_answered_in_order() {
    let server = start(FAST);
    let mut client = Client::ready(&server);
    for i in 0..64u64 {
        client.ask(command::WRITE, 0, i, i * 512, 512);
        client.send(&[i as u8; 512]);
    }
    for i in 0..64u64 {
        client.ask(command::READ, 0, 100 + i, i * 512, 512);
    }
    (0..64).for_each(|i| assert_eq!(client.answer(i), 0));
    for i in 0..64u64 {
        assert_eq!(client.answer(100 + i), 0);
        assert_eq!(client.receive(512), [i as u8; 512]);
    }
}

#[test]
fn garbage_costs_only_its_own_connection() {
    let server = start(FAST);
    let mut sound = Client::ready(&server);
    let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    // Instead of flags, of an option, of a request; a flag that was not offered; a length that no option has; a write that
    // nobody has room for; half of a request; many options.
    let mut client = Client::connect(&server);
    client.receive(18);
    client.send(&noise);
    assert!(client.is_closed());
    let mut client = Client::greeted(&server);
    client.send(&noise);
    assert!(client.is_closed());
    let mut client = Client::ready(&server);
    client.send(&noise);
    assert!(client.is_closed());
    let mut client = Client::connect(&server);
    client.receive(18);
    client.send(&4u32.to_be_bytes());
    assert!(client.is_closed());
    let mut client = Client::greeted(&server);
    client.send(&[&OPTION_MAGIC.to_be_bytes()[..], &7u32.to_be_bytes(), &u32::MAX.to_be_bytes()].concat());
    assert_eq!(client.option_reply(7).0, reply::ERR_TOO_BIG);
    assert!(client.is_closed());
    let mut client = Client::ready(&server);
    client.ask(command::WRITE, 0, 0, 0, u32::MAX);
    assert!(client.is_closed());
    let mut client = Client::ready(&server);
    client.send(&REQUEST_MAGIC.to_be_bytes());
    drop(client);
    let mut client = Client::greeted(&server);
    (0..64).for_each(|_| client.option(8, &[]));
    (0..64).for_each(|_| assert_eq!(client.option_reply(8).0, reply::ERR_UNSUP));
    assert!(client.is_closed());
    assert_eq!(sound.write(0, &[1; 512]), 0);
    assert_eq!(sound.read(0, 512), Ok(vec![1; 512]));
}

#[test]
fn clients_share_one_card_and_one_too_many_is_turned_away() {
    let server = start(FAST);
    let mut clients: Vec<Client> = (0..MAX_CLIENTS).map(|_| Client::ready(&server)).collect();
    assert!(Client::connect(&server).is_closed());
    for (i, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.write(i as u64 * 512, &[i as u8; 512]), 0);
    }
    for i in 0..MAX_CLIENTS {
        let reader = &mut clients[(i + 1) % MAX_CLIENTS];
        assert_eq!(reader.read(i as u64 * 512, 512), Ok(vec![i as u8; 512]));
    }
    assert!(!server.all_clients_left());
    // Ending the server ends them all.
    server.stop();
    assert!(clients.iter_mut().all(Client::is_closed));
}

#[test]
fn an_answer_comes_when_the_card_would_have_given_it() {
    let slow = FAST
        .replace("rate = '100GB/s'\nerase", "rate = '100GB/s'\npoints = [{ bytes = '4KiB', time = '30ms' }]\nerase");
    let server = start(&slow);
    let mut client = Client::ready(&server);
    let clock = sys::Epoch::start();
    // Sent ahead: the card is busy without a gap, whatever this machine does.
    for i in 0..10u64 {
        client.ask(command::WRITE, 0, i, (10 - i) << 20, 512);
        client.send(&[1; 512]);
    }
    (0..10).for_each(|i| assert_eq!(client.answer(i), 0));
    // Never before its time; how late this machine is has no part in the card's own account.
    assert!(clock.elapsed_ns() >= 300_000_000);
    let counts = server.stop().counts;
    assert_eq!((counts.write_runs, counts.busy_ns), (10, 300_000_000));
}

#[test]
fn faults_and_wear_are_the_protocols_errors() {
    let server = start(&format!(
        "{FAST}[[fault]]\nkind = 'read-error'\nsector = 8\n[[fault]]\nkind = 'write-error'\nsector = 16\n\
         [[fault]]\nkind = 'lost-write'\nsector = 24\n[wear]\nread-only-after = '8KiB'\n"
    ));
    let mut client = Client::ready(&server);
    assert_eq!(client.write(24 * 512, &[1; 512]), 0);
    assert_eq!(client.read(24 * 512, 512), Ok(vec![0; 512]));
    assert_eq!(client.read(0, 8192), Err(5));
    assert_eq!(client.write(16 * 512, &[1; 512]), 5);
    assert_eq!(client.write(32 * 512, &[1; 7680]), 0);
    assert_eq!(client.write(32 * 512, &[1; 512]), 1);
    assert_eq!(client.command(command::TRIM, 0, 0, 512), 1);
    let summary = server.stop();
    let injected = summary.injected;
    assert_eq!((injected.read_errors, injected.write_errors, injected.lost_sectors), (1, 1, 1));
    assert_eq!(injected.worn_out_refusals, 2);
    assert_eq!(summary.damaged.into_keys().collect::<Vec<_>>(), [24]);
}

#[test]
fn a_socket_file_is_made_guarded_and_taken_away() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("card");
    let device = || Device::new(Card::parse(FAST).unwrap(), tempfile::tempfile().unwrap(), 1, 1.0).unwrap();
    let start = || CardServer::start(device(), &Listen::Path(path.clone()), true);
    let server = start().unwrap();
    assert!(format!("{:#}", start().unwrap_err()).contains("another server"));
    drop(server);
    assert!(!path.exists());
    // One that was left behind is replaced, and a file is not.
    drop(UnixListener::bind(&path).unwrap());
    drop(start().unwrap());
    fs::write(&path, "precious").unwrap();
    assert!(format!("{:#}", start().unwrap_err()).contains("something else"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn the_card_can_be_used_without_a_socket() {
    let device = Device::new(Card::parse(FAST).unwrap(), tempfile::tempfile().unwrap(), 1, 1.0).unwrap();
    let write = Operation::Write { offset: 0, len: 512, flush: false };
    assert!(device.carry_out(0, write, Data::From(&[5; 512])).refusal.is_none());
    let mut into = [0; 512];
    assert!(device.carry_out(0, Operation::Read { offset: 0, len: 512 }, Data::Into(&mut into)).refusal.is_none());
    assert_eq!(into, [5; 512]);
}
