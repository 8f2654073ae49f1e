//! The framing of packets: a 3-byte length, a sequence number, and the payload. A payload of 16 MB
//! or more is sent in several packets.
//!
//! A [`Channel`] owns the stream and both buffers. Output collects until [`Channel::flush`] (or
//! until the buffer is large), so that one response is one write.
//!
//! Before a buffer grows past a megabyte for a long packet, it asks the channel's [`Room`] for the
//! old and the new memory together, since both exist while the bytes are moved. It gives the memory
//! back with the packet.

use std::fmt;
use std::io::{self, Read, Write};

/// The length of a full packet's payload. Such a packet is followed by another one that continues
/// it.
pub const MAX_PAYLOAD_BYTES: usize = 0xff_ffff;

const HEADER_BYTES: usize = 4;
const INPUT_BYTES: usize = 16 * 1024;
/// The largest size of a buffer that is kept. A buffer that has grown past it for a large packet is
/// freed afterwards.
const KEEP_BYTES: usize = 1024 * 1024;
/// The size at which output is sent, so that large results do not collect in memory.
const FLUSH_BYTES: usize = 64 * 1024;

/// The reason why a packet could not be read or written.
#[derive(Debug)]
pub enum PacketError {
    /// The stream failed.
    Io(io::Error),
    /// The peer closed the stream between two packets.
    Closed,
    /// The sequence number is not the expected one (MySQL's error 1156).
    OutOfOrder {
        /// The number that was expected.
        expected: u8,
        /// The number that was received.
        got: u8,
    },
    /// The payload is longer than the channel allows (MySQL's error 1153).
    TooLarge {
        /// The channel's limit in bytes.
        limit_bytes: usize,
    },
    /// There is no memory for the packet. The field is what the peer has to be told.
    NoRoom(Box<Refused>),
}

/// The error that a peer has to be told, in the parts of an error packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// MySQL's error number.
    pub code: u16,
    /// The text for people.
    pub message: String,
}

/// The account that is charged for the memory of a channel's long packets.
pub trait Room: fmt::Debug + Send {
    /// Asks for `bytes` bytes that are about to be allocated. The error is what the peer is told.
    fn take(&mut self, bytes: usize) -> Result<(), Refused>;

    /// Gives back `bytes` bytes that are no longer allocated.
    fn give_back(&mut self, bytes: usize);
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
            PacketError::NoRoom(told) => write!(f, "{}", told.message),
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
    /// The sequence number of the next packet, in either direction.
    sequence: u8,
    /// The received bytes. `input[start..end]` are not yet consumed.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// A payload that is put together from several packets.
    joined: Vec<u8>,
    /// Whether `joined` waits for further packets of its payload.
    joining: bool,
    output: Vec<u8>,
    room: Option<Box<dyn Room>>,
    /// The number of bytes that were taken from the room and not given back.
    taken_bytes: usize,
    max_packet_bytes: usize,
    received_bytes: u64,
    sent_bytes: u64,
}

/// The place of the payload that was read last.
enum Payload {
    Input(usize, usize),
    Joined,
}

impl<S: Read + Write> Channel<S> {
    /// Makes a channel over a connected stream. Payloads longer than `max_packet_bytes` are
    /// refused.
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
            room: None,
            taken_bytes: 0,
            max_packet_bytes,
            received_bytes: 0,
            sent_bytes: 0,
        }
    }

    /// Returns the stream, for its timeouts and addresses.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Returns the stream, so that the caller can begin compression on it.
    pub fn stream_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Returns the stream, so that the caller can begin TLS on it, and the bytes that were received
    /// and not read.
    pub fn stream_and_rest(&mut self) -> (&mut S, Vec<u8>) {
        assert!(!self.joining, "TLS begins between two payloads");
        let rest = self.input[self.start..self.end].to_vec();
        (self.start, self.end) = (0, 0);
        (&mut self.stream, rest)
    }

    /// Sets the length of the longest payload that is accepted from now on.
    pub fn set_max_packet_bytes(&mut self, max_packet_bytes: usize) {
        self.max_packet_bytes = max_packet_bytes;
    }

    /// Sets the account that is charged for the memory of long packets from now on. One that was
    /// set before is dropped, and gets what was taken from it back by that.
    pub fn set_room(&mut self, room: Box<dyn Room>) {
        self.room = Some(room);
        self.taken_bytes = 0;
    }

    /// Returns the number of bytes read from the stream so far.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Returns the number of bytes written to the stream so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Starts a new exchange: the next packet in either direction has number 0.
    pub fn reset_sequence(&mut self) {
        self.sequence = 0;
    }

    /// Reports whether bytes of a further packet have been received already.
    pub fn has_buffered_input(&self) -> bool {
        self.start < self.end
    }

    /// Reads one payload, which is put together if it has several packets. The bytes live until the
    /// next call.
    pub fn read_packet(&mut self) -> Result<&[u8], PacketError> {
        match self.read_payload()? {
            Payload::Input(start, end) => Ok(&self.input[start..end]),
            Payload::Joined => Ok(&self.joined),
        }
    }

    /// Reads a payload as [`Channel::read_packet`] does, into a buffer of the caller's. The buffer
    /// stays charged to the room until it comes back ([`Channel::done_with`]). A payload of several
    /// packets is not copied.
    pub fn read_packet_into(&mut self, into: &mut Vec<u8>) -> Result<(), PacketError> {
        self.done_with(into);
        match self.read_payload()? {
            Payload::Joined => *into = std::mem::take(&mut self.joined),
            Payload::Input(start, end) => {
                into.clear();
                if end - start > into.capacity() {
                    self.taken_bytes = regrow(into, end - start, &mut self.room, self.taken_bytes)?;
                }
                into.extend_from_slice(&self.input[start..end]);
                if self.start == self.end {
                    self.empty_input();
                }
            }
        }
        Ok(())
    }

    /// Takes note that the caller no longer needs the packet that [`Channel::read_packet_into`]
    /// read. The memory of a long packet is given back.
    pub fn done_with(&mut self, packet: &mut Vec<u8>) {
        if packet.capacity() > KEEP_BYTES {
            let bytes = std::mem::take(packet).capacity();
            self.give_back(bytes);
        }
    }

    /// Gives bytes back to the room, but no more than were taken.
    fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.taken_bytes);
        assert!(bytes == 0 || self.room.is_some(), "bytes are taken from a room only");
        if let Some(room) = &mut self.room {
            room.give_back(bytes);
            self.taken_bytes -= bytes;
        }
    }

    fn read_payload(&mut self) -> Result<Payload, PacketError> {
        let read = self.read_payload_if_room();
        if let Err(PacketError::NoRoom(_)) = &read {
            // The sender notices the refusal only after it has sent the whole packet.
            self.skip_payload()?;
        }
        read
    }

    /// Reads the rest of a payload and drops all of it. The payload's next packet begins at
    /// `start`.
    fn skip_payload(&mut self) -> Result<(), PacketError> {
        let bytes = std::mem::take(&mut self.joined).capacity();
        self.give_back(bytes);
        self.joining = false;
        let mut skipped_bytes = 0;
        loop {
            self.need(HEADER_BYTES, false)?;
            let header = &self.input[self.start..self.start + HEADER_BYTES];
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let mut left = HEADER_BYTES + len;
            while left > 0 {
                self.need(1, false)?;
                let here = left.min(self.end - self.start);
                self.start += here;
                left -= here;
                debug_assert!(self.start <= self.end, "only what has come is passed over");
            }
            self.sequence = self.sequence.wrapping_add(1);
            skipped_bytes += len;
            if len < MAX_PAYLOAD_BYTES {
                return Ok(());
            }
            if skipped_bytes > self.max_packet_bytes {
                return Err(PacketError::TooLarge { limit_bytes: self.max_packet_bytes });
            }
        }
    }

    /// Reads a payload. A packet that has not arrived in full is not consumed, so a read that timed
    /// out can be tried again.
    fn read_payload_if_room(&mut self) -> Result<Payload, PacketError> {
        loop {
            if !self.joining && self.joined.capacity() > KEEP_BYTES {
                let bytes = std::mem::take(&mut self.joined).capacity();
                self.give_back(bytes);
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
            if (self.joining || len == MAX_PAYLOAD_BYTES) && before + len > self.joined.capacity() {
                // After a packet that is not full there is no further one.
                let most = self.max_packet_bytes.min(2 * self.joined.capacity());
                let capacity = if len < MAX_PAYLOAD_BYTES { before + len } else { most.max(before + len) };
                self.joined.truncate(before);
                self.taken_bytes = regrow(&mut self.joined, capacity, &mut self.room, self.taken_bytes)?;
            }
            self.start = start + len;
            debug_assert!(self.start <= self.end, "a packet that is handed out has come whole");
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

    /// Reports whether the header of the next packet has arrived. A read that fails after that has
    /// failed within a packet.
    pub fn has_header(&self) -> bool {
        self.end - self.start >= HEADER_BYTES
    }

    /// Waits until at least `len` unconsumed bytes are in the buffer. The buffer grows only as
    /// bytes arrive.
    fn need(&mut self, len: usize, at_boundary: bool) -> Result<(), PacketError> {
        while self.end - self.start < len {
            self.make_room(len)?;
            assert!(self.end < self.input.len(), "without room a read looks like the end of the stream");
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
            assert!(self.end <= self.input.len(), "a stream reads no more than there is room for");
            self.received_bytes += got as u64;
        }
        Ok(())
    }

    /// Empties the input buffer, all bytes of which have been read.
    #[inline]
    fn empty_input(&mut self) {
        assert_eq!(self.start, self.end, "no byte is dropped that was not read");
        (self.start, self.end) = (0, 0);
        if self.input.len() > KEEP_BYTES {
            let bytes = std::mem::replace(&mut self.input, vec![0; INPUT_BYTES]).capacity();
            self.give_back(bytes);
        }
    }

    /// Makes room behind the received bytes, of which `len` are wanted.
    fn make_room(&mut self, len: usize) -> Result<(), PacketError> {
        if self.start == self.end {
            self.empty_input();
            return Ok(());
        }
        if self.end < self.input.len() {
            return Ok(());
        }
        assert!(self.end - self.start < len, "the bytes that are wanted have not come yet");
        if self.start > 0 {
            self.input.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            let doubled = self.input.len() * 2;
            let len = if doubled <= KEEP_BYTES { doubled } else { doubled.min(len) };
            self.taken_bytes = regrow(&mut self.input, len, &mut self.room, self.taken_bytes)?;
            self.input.resize(len, 0);
        }
        Ok(())
    }

    /// Makes room for a packet with a payload of `bytes` bytes, and for its header.
    ///
    /// # Errors
    /// Returns [`PacketError::NoRoom`]. Nothing is lost then, and the connection can still be used.
    pub fn reserve_output(&mut self, bytes: usize) -> Result<(), PacketError> {
        let wanted = self.output.len().saturating_add(HEADER_BYTES).saturating_add(bytes);
        if wanted > self.output.capacity() {
            self.taken_bytes = regrow(&mut self.output, wanted, &mut self.room, self.taken_bytes)?;
        }
        Ok(())
    }

    /// Appends one payload, which `fill` writes, to the output.
    #[inline]
    pub fn write_packet(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), PacketError> {
        let filled = self.try_write_packet(|output| {
            fill(output);
            Ok::<(), std::convert::Infallible>(())
        });
        filled.map(|filled| filled.unwrap_or_else(|never| match never {}))
    }

    /// Does what [`Channel::write_packet`] does, unless `fill` fails. Then the output is as it was
    /// before, and the error of `fill` is returned.
    pub fn try_write_packet<E>(
        &mut self,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Result<(), E>, PacketError> {
        let header = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES]);
        if let Err(error) = fill(&mut self.output) {
            self.output.truncate(header);
            return Ok(Err(error));
        }
        assert!(self.output.len() >= header + HEADER_BYTES, "a payload is appended behind its header");
        let len = self.output.len() - header - HEADER_BYTES;
        if len >= MAX_PAYLOAD_BYTES {
            return self.send_split(header).map(Ok);
        }
        self.put_header(header, len);
        if self.output.len() >= FLUSH_BYTES { self.flush().map(Ok) } else { Ok(Ok(())) }
    }

    fn put_header(&mut self, at: usize, len: usize) {
        debug_assert!(len <= MAX_PAYLOAD_BYTES, "a packet's length has three bytes");
        let len = (len as u32).to_le_bytes();
        self.output[at..at + HEADER_BYTES].copy_from_slice(&[len[0], len[1], len[2], self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Sends the whole output, which ends with a payload of 16 MB or more that has to be divided
    /// into packets. Each packet is sent from where it is, so there is no second copy of the
    /// payload.
    fn send_split(&mut self, header: usize) -> Result<(), PacketError> {
        let first = header + HEADER_BYTES;
        // A payload whose last part is full is followed by an empty packet.
        let parts = (self.output.len() - first) / MAX_PAYLOAD_BYTES + 1;
        for part in 0..parts {
            let start = first + part * MAX_PAYLOAD_BYTES;
            let end = self.output.len().min(start + MAX_PAYLOAD_BYTES);
            // The header is put in front of the part's bytes: for the first part in its place, for
            // the others over bytes that were sent already.
            let from = if part == 0 { 0 } else { start - HEADER_BYTES };
            self.put_header(start - HEADER_BYTES, end - start);
            assert!(from < end, "a packet has a header at least");
            self.sent_bytes += (end - from) as u64;
            self.stream.write_all(&self.output[from..end])?;
        }
        self.output.clear();
        self.flush()
    }

    /// Sends the whole output.
    pub fn flush(&mut self) -> Result<(), PacketError> {
        self.sent_bytes += self.output.len() as u64;
        let result = self.stream.write_all(&self.output).and_then(|()| self.stream.flush());
        self.output.clear();
        if self.output.capacity() > KEEP_BYTES {
            let bytes = std::mem::replace(&mut self.output, Vec::with_capacity(INPUT_BYTES)).capacity();
            self.give_back(bytes);
        }
        Ok(result?)
    }

    /// Drops the output after `mark`, with its packet numbers. Returns false when some of the
    /// output has been sent already.
    pub fn rewind_output(&mut self, mark: OutputMark) -> bool {
        if self.sent_bytes != mark.sent_bytes {
            return false;
        }
        assert!(mark.len <= self.output.len(), "nothing was sent, so what was there is there");
        self.output.truncate(mark.len);
        self.sequence = mark.sequence;
        true
    }

    /// Returns the packets that were written after `mark`, to write them again later, or `None`
    /// when some of the output has been sent already.
    pub fn packets_since(&self, mark: OutputMark) -> Option<Packets> {
        if self.sent_bytes != mark.sent_bytes {
            return None;
        }
        assert!(mark.len <= self.output.len(), "nothing was sent, so the marked place is there");
        Some(Packets {
            bytes: self.output[mark.len..].into(),
            first_sequence: mark.sequence,
            next_sequence: self.sequence,
        })
    }

    /// Writes packets once more. Returns false, and writes nothing, when their numbers are not the
    /// next ones.
    ///
    /// # Errors
    /// Returns the errors of [`Channel::flush`].
    pub fn write_again(&mut self, packets: &Packets) -> Result<bool, PacketError> {
        if self.sequence != packets.first_sequence {
            return Ok(false);
        }
        self.output.extend_from_slice(&packets.bytes);
        self.sequence = packets.next_sequence;
        if self.output.len() >= FLUSH_BYTES {
            self.flush()?;
        }
        Ok(true)
    }

    /// Returns a mark of the output's present end, to which the output can be cut as long as
    /// nothing has been sent.
    pub fn output_mark(&self) -> OutputMark {
        OutputMark { len: self.output.len(), sequence: self.sequence, sent_bytes: self.sent_bytes }
    }
}

/// The text of MySQL's error 1041.
const OUT_OF_MEMORY: &str = "Out of memory; check if mysqld or some other process uses all available memory; if not, you \
                             may have to use 'ulimit' to allow mysqld to use more memory or you can add more swap space";

/// Moves a buffer to a new place with `capacity` bytes. A long place is charged to the room.
/// Returns how many bytes are then taken from the room.
fn regrow(
    buffer: &mut Vec<u8>,
    capacity: usize,
    room: &mut Option<Box<dyn Room>>,
    taken_bytes: usize,
) -> Result<usize, PacketError> {
    let counted = |bytes: usize| if bytes > KEEP_BYTES { bytes } else { 0 };
    assert!(capacity >= buffer.len(), "a buffer grows: {} bytes to {capacity}", buffer.len());
    let (before, after) = (counted(buffer.capacity()), counted(capacity));
    if let Some(room) = room {
        room.take(after).map_err(|told| PacketError::NoRoom(Box::new(told)))?;
    }
    let has_room = buffer.try_reserve_exact(capacity - buffer.len());
    let gone = if has_room.is_ok() { before.min(taken_bytes) } else { after };
    if let Some(room) = room {
        room.give_back(gone);
    }
    match has_room {
        Ok(()) if room.is_some() => Ok(taken_bytes + after - gone),
        Ok(()) => Ok(0),
        Err(_) => {
            let message = OUT_OF_MEMORY.to_owned();
            Err(PacketError::NoRoom(Box::new(Refused { code: 1041, message })))
        }
    }
}

/// A place in the output to which [`Channel::rewind_output`] can cut it.
#[derive(Debug, Clone, Copy)]
pub struct OutputMark {
    len: usize,
    sequence: u8,
    sent_bytes: u64,
}

/// Packets that [`Channel::packets_since`] has copied, with their numbers.
#[derive(Debug)]
pub struct Packets {
    bytes: Box<[u8]>,
    first_sequence: u8,
    next_sequence: u8,
}

impl Packets {
    /// Returns the bytes that the packets take in memory.
    pub fn kept_bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A stream that reads from `input` in steps of `step` bytes, and collects writes in `output`.
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

    #[test]
    fn packets_are_written_again_under_their_numbers_only() {
        let mut channel = channel(Vec::new(), 1);
        let mark = channel.output_mark();
        channel.write_packet(|buf| buf.push(1)).unwrap();
        channel.write_packet(|buf| buf.push(2)).unwrap();
        let packets = channel.packets_since(mark).unwrap();
        assert!(!channel.write_again(&packets).unwrap(), "their numbers are taken");
        channel.flush().unwrap();
        assert!(channel.packets_since(mark).is_none(), "the packets have been sent");
        channel.reset_sequence();
        assert!(channel.write_again(&packets).unwrap());
        channel.write_packet(|buf| buf.push(3)).unwrap();
        channel.flush().unwrap();
        let twice = [1, 0, 0, 0, 1, 1, 0, 0, 1, 2];
        assert_eq!(channel.stream.output, [&twice[..], &twice, &[1, 0, 0, 2, 3]].concat());
    }

    /// A room that lets its channel have a number of bytes.
    #[derive(Debug)]
    struct Limited {
        left: Arc<AtomicUsize>,
    }

    impl Room for Limited {
        fn take(&mut self, bytes: usize) -> Result<(), Refused> {
            let told = Refused { code: 1041, message: String::new() };
            let left = self.left.load(Ordering::Relaxed).checked_sub(bytes).ok_or(told)?;
            self.left.store(left, Ordering::Relaxed);
            Ok(())
        }

        fn give_back(&mut self, bytes: usize) {
            self.left.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn long_packets_ask_for_their_memory_and_give_it_back() {
        const LONG: usize = MAX_PAYLOAD_BYTES + 5;
        let mut out = channel(Vec::new(), 1);
        for len in [LONG, 10, 1 << 20, 10] {
            out.write_packet(|buf| buf.resize(buf.len() + len, 1)).unwrap();
        }
        out.flush().unwrap();
        let sent = std::mem::take(&mut out.stream.output);
        for (room, enough) in [(80 << 20, true), (30 << 20, false), (24 << 20, false), (4 << 20, false)] {
            let left = Arc::new(AtomicUsize::new(room));
            let mut back = channel(sent.clone(), 100_000);
            back.set_room(Box::new(Limited { left: left.clone() }));
            let mut packet = Vec::new();
            match back.read_packet_into(&mut packet) {
                Ok(()) => assert!(enough && packet.len() == LONG && left.load(Ordering::Relaxed) < room),
                Err(PacketError::NoRoom(told)) => assert!(!enough && told.code == 1041),
                Err(other) => panic!("{other}"),
            }
            // Whether there was memory for it or not, the next packet comes after it.
            for len in [10, 1 << 20, 10] {
                back.read_packet_into(&mut packet).unwrap();
                assert_eq!(packet.len(), len);
            }
            back.done_with(&mut packet);
            assert_eq!(left.load(Ordering::Relaxed), room, "all is given back");
            assert!(matches!(back.reserve_output(room + 1), Err(PacketError::NoRoom(_))));
            const OUTPUT: usize = 2 << 20;
            back.reserve_output(OUTPUT).unwrap();
            let reserved = back.output.capacity();
            assert_eq!(left.load(Ordering::Relaxed), room - reserved);
            back.write_packet(|buf| {
                buf.resize(buf.len() + OUTPUT, 2);
                assert_eq!(buf.capacity(), reserved, "what was asked for is enough");
            })
            .unwrap();
            assert_eq!(left.load(Ordering::Relaxed), room, "it is sent");
        }
    }
}
