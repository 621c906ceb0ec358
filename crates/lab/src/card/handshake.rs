//! The fixed newstyle handshake: what a client may ask before the card is its own.
//!
//! The one export has the empty name, and answers to "card" too. Encryption, structured replies, extended headers and
//! metadata contexts are refused as the protocol wants it (`ERR_UNSUP`), and the client may go on.

use super::parameters::{Card, SECTOR};
use super::protocol::{
    FIXED_NEWSTYLE, MAGIC, MAX_BYTES, MAX_OPTION_BYTES, NO_ZEROES, OPTION_MAGIC, flag, info, option, option_reply,
    reply,
};
use super::socket::Socket;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// A client has so long for the whole of it.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// And so many options: one that asks for ever holds a thread for ever.
const MAX_OPTIONS: usize = 64;

/// How a handshake ended, if not in an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeEnd {
    /// The client has the card.
    Transmission,
    /// The client took its leave.
    Aborted,
}

/// What a card offers, as transmission flags.
pub fn transmission_flags(card: &Card) -> u16 {
    let offered = [
        (card.commands.flush, flag::SEND_FLUSH),
        (card.commands.fua, flag::SEND_FUA),
        (card.commands.trim, flag::SEND_TRIM),
        (card.commands.write_zeroes, flag::SEND_WRITE_ZEROES),
    ];
    // All connections see one card, and a flush of one is a flush of all.
    offered.iter().filter(|(on, _)| *on).fold(flag::HAS_FLAGS | flag::CAN_MULTI_CONN, |flags, (_, bit)| flags | bit)
}

fn garbage(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Shakes hands with a client.
///
/// # Errors
/// The connection's, or `InvalidData` with what the client did wrong: nothing but closing the connection helps.
pub fn shake_hands(socket: &mut Socket, card: &Card) -> io::Result<HandshakeEnd> {
    let until = Instant::now() + TIME_LIMIT;
    let mut greeting = Vec::from(MAGIC.to_be_bytes());
    greeting.extend(OPTION_MAGIC.to_be_bytes());
    greeting.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    socket.write_all(&greeting)?;
    let flags = read_u32(socket, until)?;
    if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
        return Err(garbage("the client sent flags that no server offered"));
    }
    let no_zeroes = flags & u32::from(NO_ZEROES) != 0;
    let fixed = flags & u32::from(FIXED_NEWSTYLE) != 0;
    for _ in 0..MAX_OPTIONS {
        let mut head = [0; 16];
        socket.read_exact_until(&mut head, until)?;
        if head[..8] != OPTION_MAGIC.to_be_bytes() {
            return Err(garbage("an option does not begin as one"));
        }
        let [option, len] = [8, 12].map(|at| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        if len > MAX_OPTION_BYTES {
            // What follows would have to be read to find the next option; who sends this means no good.
            socket.write_all(&option_reply(option, reply::ERR_TOO_BIG, b"no option is so long"))?;
            return Err(garbage("an option is longer than any may be"));
        }
        let mut data = vec![0; len as usize];
        socket.read_exact_until(&mut data, until)?;
        if !fixed && option != option::EXPORT_NAME {
            return Err(garbage("an option that wants the fixed newstyle, without having agreed to it"));
        }
        match option {
            option::EXPORT_NAME => {
                // The protocol has no reply for a name that is not known.
                if !is_ours(&data) {
                    return Err(garbage("the client asked for an export that is not there"));
                }
                let mut answer = Vec::from(card.capacity.0.to_be_bytes());
                answer.extend(transmission_flags(card).to_be_bytes());
                answer.resize(answer.len() + if no_zeroes { 0 } else { 124 }, 0);
                socket.write_all(&answer)?;
                return Ok(HandshakeEnd::Transmission);
            }
            option::ABORT => {
                // The client may be gone already.
                let _ = socket.write_all(&option_reply(option, reply::ACK, &[]));
                return Ok(HandshakeEnd::Aborted);
            }
            option::LIST if data.is_empty() => {
                // The length of the name, the name.
                socket.write_all(&option_reply(option, reply::SERVER, &0u32.to_be_bytes()))?;
                socket.write_all(&option_reply(option, reply::ACK, &[]))?;
            }
            option::LIST => socket.write_all(&option_reply(option, reply::ERR_INVALID, b"a list takes no data"))?,
            option::INFO | option::GO => {
                if inform(socket, card, option, &data)? && option == option::GO {
                    return Ok(HandshakeEnd::Transmission);
                }
            }
            _ => socket.write_all(&option_reply(option, reply::ERR_UNSUP, b"the card server knows no such option"))?,
        }
    }
    Err(garbage("the client has asked for options for long enough"))
}

fn is_ours(name: &[u8]) -> bool {
    matches!(name, b"" | b"card")
}

/// Answers INFO and GO; whether the export is there.
fn inform(socket: &mut Socket, card: &Card, option: u32, data: &[u8]) -> io::Result<bool> {
    let Some((name, wanted)) = information_request(data) else {
        socket.write_all(&option_reply(option, reply::ERR_INVALID, b"the lengths in this option do not agree"))?;
        return Ok(false);
    };
    if !is_ours(name) {
        socket.write_all(&option_reply(option, reply::ERR_UNKNOWN, b"the only export has the empty name"))?;
        return Ok(false);
    }
    let mut export = Vec::from(info::EXPORT.to_be_bytes());
    export.extend(card.capacity.0.to_be_bytes());
    export.extend(transmission_flags(card).to_be_bytes());
    let mut answers = vec![export];
    let wants = |kind: u16| wanted.chunks_exact(2).any(|pair| pair == kind.to_be_bytes());
    if wants(info::NAME) {
        answers.push([&info::NAME.to_be_bytes()[..], name].concat());
    }
    if wants(info::DESCRIPTION) {
        answers.push([&info::DESCRIPTION.to_be_bytes()[..], card.title.as_bytes()].concat());
    }
    // Said whether it was asked for or not: a card has no smaller unit.
    let mut block = Vec::from(info::BLOCK_SIZE.to_be_bytes());
    for size in [SECTOR as u32, 4096, MAX_BYTES] {
        block.extend(size.to_be_bytes());
    }
    answers.push(block);
    for answer in answers {
        socket.write_all(&option_reply(option, reply::INFO, &answer))?;
    }
    socket.write_all(&option_reply(option, reply::ACK, &[]))?;
    Ok(true)
}

/// The name and the kinds of information that INFO or GO ask for; `None` if the lengths do not agree.
fn information_request(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = data.split_first_chunk::<4>()?;
    let (name, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
    let (count, wanted) = rest.split_first_chunk::<2>()?;
    (wanted.len() == 2 * usize::from(u16::from_be_bytes(*count))).then_some((name, wanted))
}

fn read_u32(socket: &mut Socket, until: Instant) -> io::Result<u32> {
    let mut bytes = [0; 4];
    socket.read_exact_until(&mut bytes, until)?;
    Ok(u32::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_do_not_agree_are_no_request() {
        let good = [&[0, 0, 0, 4][..], b"card", &[0, 1, 0, 3]].concat();
        assert_eq!(information_request(&good), Some((&b"card"[..], &[0, 3][..])));
        for cut in 0..good.len() {
            assert_eq!(information_request(&good[..cut]), None, "{cut}");
        }
        assert_eq!(information_request(&[good.clone(), vec![0]].concat()), None);
        assert_eq!(information_request(&[&[0xff; 4][..], &good[4..]].concat()), None);
    }
}
