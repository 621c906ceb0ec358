//! Requests of one client, one after the other: done at once, answered when the card would have been done.

use super::device::{Data, Device};
use super::handshake::transmission_flags;
use super::media::Refusal;
use super::parameters::SECTOR;
use super::protocol::{
    Errno, MAX_BYTES, REPLY_BYTES, REQUEST_BYTES, Request, command, command_flag, flag, simple_reply,
};
use super::socket::Socket;
use super::timing::Operation;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// A wait looks so often whether the server is to end.
const LONGEST_SLEEP_NS: u64 = 100_000_000;

/// Serves a client until it leaves.
///
/// # Errors
/// The connection's, or `InvalidData` with what the client did wrong: the place of its next request is not known.
pub fn serve(socket: &mut Socket, device: &Device, stop: &AtomicBool) -> io::Result<()> {
    socket.limit(None)?;
    let clock = device.clock();
    let flags = transmission_flags(device.card());
    let mut buffer = Vec::new();
    // When the reply before was due, if this request was there before it was sent: then it waited for the card, and
    // neither our own wake-up nor the socket have a part in its time.
    let mut waited_since_ns = None;
    while !stop.load(Ordering::Relaxed) {
        let mut head = [0; REQUEST_BYTES];
        match socket.read_exact(&mut head) {
            // Gone without a word: its right, whatever else the protocol says.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let arrival_ns = waited_since_ns.unwrap_or_else(|| clock.elapsed_ns());
        let Some(request) = Request::parse(&head) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a request does not begin as one"));
        };
        if request.command == command::DISC {
            return Ok(());
        }
        let carries = if request.command == command::WRITE { request.len } else { 0 };
        if carries > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a write is longer than any may be"));
        }
        buffer.resize(carries as usize, 0);
        socket.read_exact(&mut buffer[..])?;
        let (error, due_ns) = match check(&request, flags, device.card().capacity.0) {
            Err(error) => (Some(error), arrival_ns),
            Ok(operation) => {
                let data = match operation {
                    Operation::Read { .. } => {
                        buffer.resize(REPLY_BYTES + request.len as usize, 0);
                        Data::Into(&mut buffer[REPLY_BYTES..])
                    }
                    Operation::Write { .. } if request.command == command::WRITE => Data::From(&buffer),
                    _ => Data::None,
                };
                let done = device.carry_out(arrival_ns, operation, data);
                (done.refusal.map(|refusal| errno(&refusal)), done.due_ns)
            }
        };
        while clock.elapsed_ns() < due_ns && !stop.load(Ordering::Relaxed) {
            clock.sleep_until(due_ns.min(clock.elapsed_ns() + LONGEST_SLEEP_NS));
        }
        waited_since_ns = socket.has_more().then_some(due_ns);
        let reply = simple_reply(error, request.cookie);
        if request.command == command::READ && error.is_none() {
            // In one piece: small reads are most of a card's work.
            buffer[..REPLY_BYTES].copy_from_slice(&reply);
            socket.write_all(&buffer)?;
        } else {
            socket.write_all(&reply)?;
        }
    }
    Ok(())
}

/// The operation that a request asks for, or why it asks for none.
fn check(request: &Request, flags: u16, capacity: u64) -> Result<Operation, Errno> {
    let (offered, known) = match request.command {
        command::READ => (true, 0),
        command::WRITE => (true, command_flag::FUA),
        command::FLUSH => (flags & flag::SEND_FLUSH != 0, 0),
        command::TRIM => (flags & flag::SEND_TRIM != 0, command_flag::FUA),
        command::WRITE_ZEROES => (flags & flag::SEND_WRITE_ZEROES != 0, command_flag::FUA | command_flag::NO_HOLE),
        _ => (false, 0),
    };
    let fua = request.flags & command_flag::FUA != 0;
    if !offered || request.flags & !known != 0 || (fua && flags & flag::SEND_FUA == 0) {
        return Err(Errno::Inval);
    }
    let offset = request.offset;
    let len = u64::from(request.len);
    if request.command == command::FLUSH {
        return if (offset, len) == (0, 0) { Ok(Operation::Flush) } else { Err(Errno::Inval) };
    }
    if len == 0 || !offset.is_multiple_of(SECTOR) || !len.is_multiple_of(SECTOR) {
        return Err(Errno::Inval);
    }
    let writes = matches!(request.command, command::WRITE | command::WRITE_ZEROES);
    if offset.checked_add(len).is_none_or(|end| end > capacity) {
        return Err(if writes { Errno::NoSpc } else { Errno::Inval });
    }
    match request.command {
        command::READ if request.len > MAX_BYTES => Err(Errno::Inval),
        command::READ => Ok(Operation::Read { offset, len }),
        command::TRIM => Ok(Operation::Trim { offset, len }),
        _ => Ok(Operation::Write { offset, len, flush: fua }),
    }
}

fn errno(refusal: &Refusal) -> Errno {
    match refusal {
        Refusal::WornOut => Errno::Perm,
        Refusal::Fault => Errno::Io,
        Refusal::Host(error) => {
            eprintln!("card: the backing file failed, which the card has no part in: {error}");
            Errno::Io
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u16 = flag::SEND_FLUSH | flag::SEND_FUA | flag::SEND_TRIM | flag::SEND_WRITE_ZEROES;
    const MIB: u64 = 1 << 20;

    fn ask(command: u16, flags: u16, offset: u64, len: u32) -> Result<Operation, Errno> {
        check(&Request { flags, command, cookie: 0, offset, len }, ALL, MIB)
    }

    #[test]
    fn sound_requests_become_operations() {
        use command::*;
        assert_eq!(ask(READ, 0, 512, 1024), Ok(Operation::Read { offset: 512, len: 1024 }));
        assert_eq!(ask(WRITE, 1, MIB - 512, 512), Ok(Operation::Write { offset: MIB - 512, len: 512, flush: true }));
        assert_eq!(ask(WRITE_ZEROES, 2, 0, 512), Ok(Operation::Write { offset: 0, len: 512, flush: false }));
        assert_eq!(ask(TRIM, 0, 0, MIB as u32), Ok(Operation::Trim { offset: 0, len: MIB }));
        assert_eq!(ask(FLUSH, 0, 0, 0), Ok(Operation::Flush));
    }

    #[test]
    fn others_are_refused_with_the_protocols_errors() {
        use command::*;
        for (command, flags, offset, len, error) in [
            (READ, 0, 0, 0, Errno::Inval),
            (READ, 0, 1, 512, Errno::Inval),
            (READ, 0, 0, 511, Errno::Inval),
            (READ, 0, MIB, 512, Errno::Inval),
            (READ, 0, u64::MAX - 511, 512, Errno::Inval),
            (READ, 1, 0, 512, Errno::Inval),
            (WRITE, 0, MIB - 512, 1024, Errno::NoSpc),
            (WRITE, 2, 0, 512, Errno::Inval),
            (WRITE, 1 << 15, 0, 512, Errno::Inval),
            (WRITE_ZEROES, 0, 0, 1 << 21, Errno::NoSpc),
            (WRITE_ZEROES, 16, 0, 512, Errno::Inval),
            (FLUSH, 0, 0, 512, Errno::Inval),
            (FLUSH, 1, 0, 0, Errno::Inval),
            (TRIM, 0, MIB, 512, Errno::Inval),
            (5, 0, 0, 512, Errno::Inval),
            (7, 0, 0, 512, Errno::Inval),
            (0xffff, 0, 0, 512, Errno::Inval),
        ] {
            assert_eq!(ask(command, flags, offset, len), Err(error), "{command} {flags} {offset} {len}");
        }
        let longest = Request { flags: 0, command: READ, cookie: 0, offset: 0, len: MAX_BYTES + 512 };
        assert_eq!(check(&longest, ALL, 1 << 40), Err(Errno::Inval));
    }

    #[test]
    fn what_is_not_offered_is_refused() {
        use command::*;
        for (command, flags, len) in [(FLUSH, 0, 0), (TRIM, 0, 512), (WRITE_ZEROES, 0, 512), (WRITE, 1, 512)] {
            let request = Request { flags, command, cookie: 0, offset: 0, len };
            assert_eq!(check(&request, 0, MIB), Err(Errno::Inval), "{command}");
        }
    }
}
