//! Packet framing: a 3-byte length, a sequence number, the payload; payloads of 16 MB and more go
//! in several packets.
//!
//! A [`Channel`] owns the stream and both buffers. Output collects until [`Channel::flush`] (or
//! until the buffer is large), so that one response is one write.

use std::fmt;
use std::io::{self, Read, Write};

/// A packet of this payload length is followed by another one that continues it.
pub const MAX_PAYLOAD_BYTES: usize = 0xff_ffff;

const HEADER_BYTES: usize = 4;
const INPUT_BYTES: usize = 16 * 1024;
/// Buffers that grew past this for one large packet are given back afterwards.
const KEEP_BYTES: usize = 1024 * 1024;
/// Output is written out once it has grown to this, so that large results do not collect in memory.
const FLUSH_BYTES: usize = 64 * 1024;

/// Why a packet could not be read or written.
#[derive(Debug)]
pub enum PacketError {
    /// The stream failed.
    Io(io::Error),
    /// The peer closed the stream between two packets.
    Closed,
    /// The sequence number is not the one that is due (MySQL's error 1156).
    OutOfOrder {
        /// The number that was due.
        expected: u8,
        /// The number that came.
        got: u8,
    },
    /// The payload is longer than the channel allows (MySQL's error 1153).
    TooLarge {
        /// The channel's limit.
        limit_bytes: usize,
    },
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::Io(e) => write!(f, "{e}"),
            PacketError::Closed => write!(f, "the peer closed the connection"),
            PacketError::OutOfOrder { expected, got } => {
                write!(f, "Got packets out of order (expected number {expected}, got {got})")
            }
            PacketError::TooLarge { limit_bytes } => {
                write!(f, "Got a packet bigger than 'max_allowed_packet' bytes ({limit_bytes})")
            }
        }
    }
}

impl std::error::Error for PacketError {}

impl From<io::Error> for PacketError {
    fn from(e: io::Error) -> Self {
        PacketError::Io(e)
    }
}

/// A stream of packets in both directions.
#[derive(Debug)]
pub struct Channel<S> {
    stream: S,
    /// The number of the next packet, in either direction.
    sequence: u8,
    /// Bytes received; `input[start..end]` are not yet consumed.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// A payload put together from several packets.
    joined: Vec<u8>,
    /// `joined` waits for further packets of its payload.
    joining: bool,
    output: Vec<u8>,
    max_packet_bytes: usize,
    received_bytes: u64,
    sent_bytes: u64,
}

/// Where the payload that was read last lies.
enum Payload {
    Input(usize, usize),
    Joined,
}

impl<S: Read + Write> Channel<S> {
    /// A channel over a connected stream; payloads above `max_packet_bytes` are refused.
    pub fn new(stream: S, max_packet_bytes: usize) -> Self {
        Channel {
            stream,
            sequence: 0,
            input: vec![0; INPUT_BYTES],
            start: 0,
            end: 0,
            joined: Vec::new(),
            joining: false,
            output: Vec::with_capacity(INPUT_BYTES),
            max_packet_bytes,
            received_bytes: 0,
            sent_bytes: 0,
        }
    }

    /// The stream, for its timeouts and addresses.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// The stream, to begin compression on it.
    pub fn stream_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// The stream, to begin TLS on it, and what has been received and not been read.
    pub fn stream_and_rest(&mut self) -> (&mut S, Vec<u8>) {
        let rest = self.input[self.start..self.end].to_vec();
        (self.start, self.end) = (0, 0);
        (&mut self.stream, rest)
    }

    /// The longest payload that is accepted from now on.
    pub fn set_max_packet_bytes(&mut self, max_packet_bytes: usize) {
        self.max_packet_bytes = max_packet_bytes;
    }

    /// Bytes read from the stream so far.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Bytes written to the stream so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Starts a new exchange: the next packet in either direction has number 0.
    pub fn reset_sequence(&mut self) {
        self.sequence = 0;
    }

    /// True when bytes of a further packet have been received already.
    pub fn has_buffered_input(&self) -> bool {
        self.start < self.end
    }

    /// Reads one payload, put together from as many packets as it has. The bytes live until the
    /// next call.
    pub fn read_packet(&mut self) -> Result<&[u8], PacketError> {
        match self.read_payload()? {
            Payload::Input(start, end) => Ok(&self.input[start..end]),
            Payload::Joined => Ok(&self.joined),
        }
    }

    /// Nothing is consumed of a packet that has not arrived in full, so a read that timed out can
    /// be tried again.
    fn read_payload(&mut self) -> Result<Payload, PacketError> {
        loop {
            if !self.joining && self.joined.capacity() > KEEP_BYTES {
                self.joined = Vec::new();
            }
            self.need(HEADER_BYTES, !self.joining)?;
            let header = &self.input[self.start..self.start + HEADER_BYTES];
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let got = header[3];
            if got != self.sequence {
                return Err(PacketError::OutOfOrder { expected: self.sequence, got });
            }
            let before = if self.joining { self.joined.len() } else { 0 };
            if before + len > self.max_packet_bytes {
                return Err(PacketError::TooLarge { limit_bytes: self.max_packet_bytes });
            }
            self.need(HEADER_BYTES + len, false)?;
            let start = self.start + HEADER_BYTES;
            self.start = start + len;
            self.sequence = self.sequence.wrapping_add(1);
            if !self.joining && len < MAX_PAYLOAD_BYTES {
                return Ok(Payload::Input(start, start + len));
            }
            if !self.joining {
                self.joined.clear();
            }
            self.joined.extend_from_slice(&self.input[start..start + len]);
            self.joining = len == MAX_PAYLOAD_BYTES;
            if !self.joining {
                return Ok(Payload::Joined);
            }
        }
    }

    /// True when the header of the next packet has come: a read that fails then has failed within a
    /// packet.
    pub fn has_header(&self) -> bool {
        self.end - self.start >= HEADER_BYTES
    }

    /// Makes at least `len` unconsumed bytes available. The buffer grows only as bytes arrive.
    fn need(&mut self, len: usize, at_boundary: bool) -> Result<(), PacketError> {
        while self.end - self.start < len {
            self.make_room();
            let got = match self.stream.read(&mut self.input[self.end..]) {
                Ok(got) => got,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e.into()),
            };
            if got == 0 {
                if at_boundary && self.start == self.end {
                    return Err(PacketError::Closed);
                }
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            self.end += got;
            self.received_bytes += got as u64;
        }
        Ok(())
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.input.len() > KEEP_BYTES {
                self.input = vec![0; INPUT_BYTES];
            }
            return;
        }
        if self.end < self.input.len() {
            return;
        }
        if self.start > 0 {
            self.input.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            let len = self.input.len() * 2;
            self.input.resize(len, 0);
        }
    }

    /// Appends one payload, written by `fill`, to the output.
    pub fn write_packet(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), PacketError> {
        let header = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES]);
        fill(&mut self.output);
        let len = self.output.len() - header - HEADER_BYTES;
        if len < MAX_PAYLOAD_BYTES {
            self.put_header(header, len);
        } else {
            self.split(header);
        }
        if self.output.len() >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    fn put_header(&mut self, at: usize, len: usize) {
        let len = (len as u32).to_le_bytes();
        self.output[at..at + HEADER_BYTES].copy_from_slice(&[len[0], len[1], len[2], self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Cuts a payload of 16 MB or more, which stands at the end of the output, into packets.
    fn split(&mut self, header: usize) {
        let payload = self.output.split_off(header + HEADER_BYTES);
        self.output.truncate(header);
        let mut rest = &payload[..];
        loop {
            let (part, tail) = rest.split_at(rest.len().min(MAX_PAYLOAD_BYTES));
            let at = self.output.len();
            self.output.extend_from_slice(&[0; HEADER_BYTES]);
            self.put_header(at, part.len());
            self.output.extend_from_slice(part);
            rest = tail;
            // A payload whose last part is full ends with an empty packet.
            if part.len() < MAX_PAYLOAD_BYTES {
                return;
            }
        }
    }

    /// Sends everything that was written.
    pub fn flush(&mut self) -> Result<(), PacketError> {
        self.sent_bytes += self.output.len() as u64;
        let result = self.stream.write_all(&self.output).and_then(|()| self.stream.flush());
        self.output.clear();
        if self.output.capacity() > KEEP_BYTES {
            self.output = Vec::with_capacity(INPUT_BYTES);
        }
        Ok(result?)
    }

    /// Forgets the output after `mark`, with its packet numbers; false when some of it has been
    /// sent already.
    pub fn rewind_output(&mut self, mark: OutputMark) -> bool {
        if self.sent_bytes != mark.sent_bytes {
            return false;
        }
        self.output.truncate(mark.len);
        self.sequence = mark.sequence;
        true
    }

    /// The present end of the output, to come back to while nothing has been sent.
    pub fn output_mark(&self) -> OutputMark {
        OutputMark { len: self.output.len(), sequence: self.sequence, sent_bytes: self.sent_bytes }
    }
}

/// A place in the output that [`Channel::rewind_output`] returns to.
#[derive(Debug, Clone, Copy)]
pub struct OutputMark {
    len: usize,
    sequence: u8,
    sent_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Reads come from `input` in steps of `step` bytes; writes collect in `output`.
    struct Pipe {
        input: Cursor<Vec<u8>>,
        step: usize,
        output: Vec<u8>,
    }

    impl Read for Pipe {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let len = buf.len().min(self.step);
            self.input.read(&mut buf[..len])
        }
    }

    impl Write for Pipe {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.output.write(buf)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn channel(input: Vec<u8>, step: usize) -> Channel<Pipe> {
        Channel::new(Pipe { input: Cursor::new(input), step, output: Vec::new() }, 1 << 30)
    }

    #[test]
    fn payloads_survive_the_round_trip_around_the_split_length() {
        let lens = [0, 1, 15_000, 17_000, MAX_PAYLOAD_BYTES - 1, MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES + 5];
        let mut out = channel(Vec::new(), 1);
        for (i, &len) in lens.iter().enumerate() {
            out.write_packet(|buf| buf.resize(buf.len() + len, i as u8)).unwrap();
        }
        out.flush().unwrap();
        let mut back = channel(std::mem::take(&mut out.stream.output), 100_000);
        for (i, &len) in lens.iter().enumerate() {
            let payload = back.read_packet().unwrap();
            assert_eq!(payload.len(), len);
            assert!(payload.iter().all(|&b| b == i as u8));
        }
        assert!(matches!(back.read_packet(), Err(PacketError::Closed)));
    }

    #[test]
    fn bytes_may_arrive_one_at_a_time() {
        let mut input = vec![3, 0, 0, 0, 1, 2, 3];
        input.extend_from_slice(&[1, 0, 0, 1, 9]);
        let mut channel = channel(input, 1);
        assert_eq!(channel.read_packet().unwrap(), [1, 2, 3]);
        assert_eq!(channel.read_packet().unwrap(), [9]);
    }

    #[test]
    fn it_is_known_whether_a_packet_has_begun() {
        let mut cut = channel(vec![3, 0, 0, 0, 1], 1);
        assert!(!cut.has_header());
        assert!(matches!(cut.read_packet(), Err(PacketError::Io(_))));
        assert!(cut.has_header());
        let mut short = channel(vec![3, 0], 9);
        assert!(matches!(short.read_packet(), Err(PacketError::Io(_))));
        assert!(!short.has_header());
    }

    #[test]
    fn wrong_numbers_oversize_and_cuts_are_errors() {
        assert!(matches!(channel(vec![0, 0, 0, 7], 9).read_packet(), Err(PacketError::OutOfOrder { .. })));
        assert!(matches!(channel(vec![5, 0, 0, 0, 1], 9).read_packet(), Err(PacketError::Io(_))));
        let mut small = channel(vec![5, 0, 0, 0, 1, 2, 3, 4, 5], 9);
        small.set_max_packet_bytes(4);
        assert!(matches!(small.read_packet(), Err(PacketError::TooLarge { limit_bytes: 4 })));
    }

    #[test]
    fn unsent_output_can_be_taken_back() {
        let mut channel = channel(Vec::new(), 1);
        channel.write_packet(|buf| buf.push(1)).unwrap();
        let mark = channel.output_mark();
        channel.write_packet(|buf| buf.push(2)).unwrap();
        assert!(channel.rewind_output(mark));
        channel.write_packet(|buf| buf.push(3)).unwrap();
        channel.flush().unwrap();
        assert_eq!(channel.stream.output, [1, 0, 0, 0, 1, 1, 0, 0, 1, 3]);
    }
}
