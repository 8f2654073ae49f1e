//! A pipe in front of a server or a source that damages what goes through it. It serves for frames
//! whose content only the two ends can make, such as those of TLS and of the compressed protocol.

use std::fmt;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use os::random::Rng;

/// The bytes of a frame's head, both of TLS (5 bytes) and of the compressed protocol (7 bytes).
const HEAD_BYTES: usize = 7;

/// The damage that is done to the bytes that go one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The number of the damaged piece, in the order in which pieces come from the sender.
    pub piece: u64,
    /// The seed from which the damage is made.
    pub seed: u64,
}

impl Damage {
    pub fn any(rng: &mut Rng) -> Damage {
        Damage { piece: rng.below(8), seed: rng.u64() }
    }

    pub fn parse(line: &str) -> Option<Damage> {
        let (piece, seed) = line.split_once(' ')?;
        Some(Damage { piece: piece.parse().ok()?, seed: seed.parse().ok()? })
    }

    fn inflict(&self, bytes: &[u8]) -> Vec<u8> {
        let mut rng = Rng::new(self.seed);
        match rng.one_in(2) {
            true => rng.damaged(bytes),
            // Only the lengths and numbers in front are damaged.
            false => {
                let (head, rest) = bytes.split_at(HEAD_BYTES.min(bytes.len()));
                [rng.damaged(head).as_slice(), rest].concat()
            }
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.piece, self.seed)
    }
}

/// The direction whose bytes are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToTarget,
    FromTarget,
}

/// The pipe, which runs until the process ends.
pub struct Pipe {
    port: u16,
    next: Arc<Mutex<(u16, Option<Damage>)>>,
}

impl Pipe {
    /// Begins to listen on a free port.
    pub fn start(way: Way) -> Pipe {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let next = Arc::new(Mutex::new((0, None)));
        let shared = Arc::clone(&next);
        os::thread::spawn("pipe", move || {
            for client in listener.incoming().flatten() {
                let (target, damage) = *shared.lock().expect("nobody panics with it");
                // If the target is gone, the next request will see it.
                let Ok(target) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let of = |which| if way == which { damage } else { None };
                pass(&client, &target, of(Way::ToTarget));
                pass(&target, &client, of(Way::FromTarget));
            }
        });
        Pipe { port, next }
    }

    /// Returns the port on which the pipe listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets where the next connections go, and the damage that is done to them.
    pub fn set(&self, target: u16, damage: Option<Damage>) {
        *self.next.lock().expect("nobody panics with it") = (target, damage);
    }
}

/// Passes bytes on until one of the two ends closes.
fn pass(from: &TcpStream, to: &TcpStream, damage: Option<Damage>) {
    let clone = |stream: &TcpStream| stream.try_clone().expect("descriptors are there");
    let (mut from, mut to) = (clone(from), clone(to));
    os::thread::spawn("pipe way", move || {
        let mut buf = vec![0; 1 << 16];
        for piece in 0.. {
            let Ok(got @ 1..) = from.read(&mut buf) else { break };
            let damaged = damage.filter(|damage| damage.piece == piece);
            let sent = match damaged {
                Some(damage) => to.write_all(&damage.inflict(&buf[..got])),
                None => to.write_all(&buf[..got]),
            };
            if sent.is_err() {
                break;
            }
        }
        // Either end may be closed already.
        let _ = (from.shutdown(Shutdown::Both).is_ok(), to.shutdown(Shutdown::Both).is_ok());
    });
}
