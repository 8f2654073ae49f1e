//! A TCP proxy between a replica and its source, or between a client and its server. It cuts
//! connections and damages bytes on demand.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The value of a trigger that is not armed.
const NEVER: u64 = u64::MAX;

/// `COM_BINLOG_DUMP` and `COM_BINLOG_DUMP_GTID`.
const DUMP_COMMANDS: [u8; 2] = [0x12, 0x1e];

/// What the proxy's threads share. Each atomic is independent of the others, and all use `SeqCst`,
/// because speed does not matter here.
#[derive(Debug)]
struct Shared {
    target_port: u16,
    /// Whether new connections are closed at once.
    refusing: AtomicBool,
    stopped: AtomicBool,
    /// Whether connections are cut when their clients ask for the binary log.
    cutting_dumps: AtomicBool,
    /// The number of times that clients have asked for the binary log.
    dumps: AtomicU64,
    /// The number of bytes sent from the target to clients, over all connections.
    passed_bytes: AtomicU64,
    /// The value of `passed_bytes` at which the connection that reaches it is cut, once. [`NEVER`]
    /// means that no cut is armed.
    cut_at_byte: AtomicU64,
    /// The value of `passed_bytes` from which on the first byte in a packet's payload is sent with
    /// one bit flipped, once. [`NEVER`] means that no damage is armed.
    damage_at_byte: AtomicU64,
    /// Both ends of every open connection, by its number. A connection that ends is taken out,
    /// which closes its sockets. A socket that was only shut down would still accept the other
    /// side's bytes until its buffer is full, and then leave the sender waiting.
    open: Mutex<BTreeMap<u64, [TcpStream; 2]>>,
    connections: AtomicU64,
}

/// A running proxy on a port of its own. Dropping it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts to forward connections to 127.0.0.1:`target_port`.
    pub fn start(target_port: u16) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("the listener's address").port();
        let shared = Arc::new(Shared {
            target_port,
            refusing: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            cutting_dumps: AtomicBool::new(false),
            dumps: AtomicU64::new(0),
            passed_bytes: AtomicU64::new(0),
            cut_at_byte: AtomicU64::new(NEVER),
            damage_at_byte: AtomicU64::new(NEVER),
            open: Mutex::default(),
            connections: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&shared);
        let listener = os::thread::spawn("proxy_accept", move || accept(&listener, &accepting));
        Proxy { port, shared, listener: Some(listener) }
    }

    /// Returns the port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every open connection. New ones are accepted.
    pub fn cut(&self) {
        let open = std::mem::take(&mut *self.shared.open.lock().expect("the proxy's connections"));
        open.values().for_each(shut_down);
    }

    /// Makes the proxy close every new connection at once (true) or serve new connections again
    /// (false). Open connections are left alone.
    pub fn refuse(&self, refuse: bool) {
        self.shared.refusing.store(refuse, Ordering::SeqCst);
    }

    /// Makes the proxy cut every connection whose client asks for the binary log (true), or stop
    /// doing so (false).
    pub fn cut_dumps(&self, cut: bool) {
        self.shared.cutting_dumps.store(cut, Ordering::SeqCst);
    }

    /// Returns how often clients have asked for the binary log.
    pub fn dumps(&self) -> u64 {
        self.shared.dumps.load(Ordering::SeqCst)
    }

    /// Cuts the connection that sends the `bytes`th byte from now on, once, wherever in the stream
    /// that byte is.
    pub fn cut_after(&self, bytes: u64) {
        self.shared.cut_at_byte.store(self.passed_bytes() + bytes, Ordering::SeqCst);
    }

    /// Flips one bit, once, in the `bytes`th byte from now on or in the next one that belongs to a
    /// packet's payload. A flipped bit in a packet's length would make the client wait for bytes
    /// that nobody sends, and no checksum can detect that.
    pub fn damage_after(&self, bytes: u64) {
        self.shared.damage_at_byte.store(self.passed_bytes() + bytes, Ordering::SeqCst);
    }

    /// Reports whether the damage that was asked for has been done.
    pub fn has_damaged(&self) -> bool {
        self.shared.damage_at_byte.load(Ordering::SeqCst) == NEVER
    }

    /// Returns the number of bytes sent from the target to clients so far.
    pub fn passed_bytes(&self) -> u64 {
        self.shared.passed_bytes.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The connection wakes the listener up from accept().
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        self.cut();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else { continue };
        if shared.refusing.load(Ordering::SeqCst) {
            continue;
        }
        // When the target is down, the client sees a connection that is closed at once.
        if let Err(error) = join(client, shared) {
            eprintln!("proxy: {error}");
        }
    }
}

fn join(client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let target = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], shared.target_port)))?;
    client.set_nodelay(true)?;
    target.set_nodelay(true)?;
    let (from_client, to_target) = (client.try_clone()?, target.try_clone()?);
    let number = shared.connections.fetch_add(1, Ordering::SeqCst);
    let ends = [client.try_clone()?, target.try_clone()?];
    shared.open.lock().expect("the proxy's connections").insert(number, ends);
    let up = Arc::clone(shared);
    os::thread::spawn("proxy_up", move || {
        hand_on(from_client, to_target, |bytes| up.ask(bytes));
        up.end(number);
    });
    let down = Arc::clone(shared);
    let mut framing = Framing::default();
    os::thread::spawn("proxy_down", move || {
        hand_on(target, client, |bytes| down.pass(bytes, &mut framing));
        down.end(number);
    });
    Ok(())
}

fn shut_down(ends: &[TcpStream; 2]) {
    for end in ends {
        // The error means that the end is closed already.
        let _ = end.shutdown(Shutdown::Both);
    }
}

/// The position in the packets of one connection. A packet has three bytes of length, one byte of
/// sequence number, and the payload.
#[derive(Default)]
struct Framing {
    header: u32,
    header_bytes: u8,
    payload_left: usize,
}

impl Framing {
    /// Moves past these bytes. It returns the first index from `from` on that is in a payload.
    fn pass(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut found = None;
        let mut at = 0;
        while at < bytes.len() {
            if self.payload_left == 0 {
                self.header = self.header >> 8 | u32::from(bytes[at]) << 24;
                self.header_bytes += 1;
                at += 1;
                if self.header_bytes == 4 {
                    self.payload_left = (self.header & 0xff_ffff) as usize;
                    self.header_bytes = 0;
                }
                continue;
            }
            let run = self.payload_left.min(bytes.len() - at);
            if found.is_none() && at + run > from {
                found = Some(at.max(from));
            }
            self.payload_left -= run;
            at += run;
        }
        found
    }
}

impl Shared {
    /// Closes both ends of a connection after one end was closed or the connection was cut.
    fn end(&self, number: u64) {
        if let Some(ends) = self.open.lock().expect("the proxy's connections").remove(&number) {
            shut_down(&ends);
        }
    }

    /// Looks for a request for the binary log in a client's bytes. It returns false when the
    /// connection has to be cut.
    fn ask(&self, bytes: &[u8]) -> bool {
        // The packet of a command has number 0, and it arrives in a read of its own.
        let is_dump =
            bytes.get(3) == Some(&0) && bytes.get(4).is_some_and(|first| DUMP_COMMANDS.contains(first));
        self.dumps.fetch_add(u64::from(is_dump), Ordering::SeqCst);
        !is_dump || !self.cutting_dumps.load(Ordering::SeqCst)
    }

    /// Counts bytes on their way to a client, and carries out what is armed. It returns false when
    /// the connection has to be cut.
    fn pass(&self, bytes: &mut [u8], framing: &mut Framing) -> bool {
        let len = bytes.len() as u64;
        let before = self.passed_bytes.fetch_add(len, Ordering::SeqCst);
        let from = self.damage_at_byte.load(Ordering::SeqCst).saturating_sub(before).min(len) as usize;
        if let Some(index) = framing.pass(bytes, from) {
            self.damage_at_byte.store(NEVER, Ordering::SeqCst);
            bytes[index] ^= 0x10;
        }
        let cut_at = self.cut_at_byte.load(Ordering::SeqCst);
        let cut = cut_at <= before + len;
        if cut {
            self.cut_at_byte.store(NEVER, Ordering::SeqCst);
        }
        !cut
    }
}

/// Copies bytes until either end closes, the connection is cut, or `pass` returns false.
fn hand_on(mut from: TcpStream, mut to: TcpStream, mut pass: impl FnMut(&mut [u8]) -> bool) {
    let mut buffer = [0u8; 16 << 10];
    while let Ok(len) = from.read(&mut buffer) {
        let whole = len > 0 && pass(&mut buffer[..len]);
        // A cut delivers only half of the bytes that were read.
        let sent = if whole { len } else { len / 2 };
        if to.write_all(&buffer[..sent]).is_err() || !whole {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves any number of connections, and sends back what it receives on each.
    fn echo() -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        os::thread::spawn("echo", move || {
            for stream in listener.incoming().flatten() {
                let back = stream.try_clone().expect("a second handle");
                os::thread::spawn("echo_one", move || hand_on(stream, back, |_| true));
            }
        });
        port
    }

    fn say(stream: &mut TcpStream, text: &[u8]) -> io::Result<Vec<u8>> {
        stream.write_all(text)?;
        let mut back = vec![0; text.len()];
        stream.read_exact(&mut back)?;
        Ok(back)
    }

    #[test]
    fn a_target_that_writes_on_learns_that_its_client_has_gone() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let proxy = Proxy::start(listener.local_addr().expect("an address").port());
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port())).expect("the proxy");
        let (mut target, _) = listener.accept().expect("the proxy's connection");
        let writer = os::thread::spawn("target", move || while target.write_all(&[7; 4096]).is_ok() {});
        client.read_exact(&mut [0; 4096]).expect("what the target has written");
        drop(client);
        writer.join().expect("the target's thread");
    }

    #[test]
    fn hands_on_damages_cuts_and_refuses() {
        let proxy = Proxy::start(echo());
        let connect = || TcpStream::connect(("127.0.0.1", proxy.port())).expect("the proxy");
        let mut client = connect();
        let packet = b"\x05\0\0\x01hello";
        assert_eq!(say(&mut client, packet).expect("an echo"), packet);
        assert_eq!(proxy.passed_bytes(), 9);

        proxy.damage_after(6);
        assert_eq!(say(&mut client, packet).expect("an echo"), b"\x05\0\0\x01he\x7clo");
        assert!(proxy.has_damaged());
        proxy.damage_after(2);
        assert_eq!(say(&mut client, packet).expect("an echo"), b"\x05\0\0\x01xello", "a length stays whole");
        assert_eq!(say(&mut client, packet).expect("an echo"), packet);

        proxy.cut_after(3);
        assert!(say(&mut client, b"hello").is_err());
        let mut client = connect();
        assert_eq!(say(&mut client, b"again").expect("an echo"), b"again");

        proxy.cut();
        assert!(say(&mut client, b"gone").is_err());
        proxy.refuse(true);
        assert!(say(&mut connect(), b"no").is_err());
        proxy.refuse(false);
        assert_eq!(say(&mut connect(), b"yes").expect("an echo"), b"yes");
    }
}
