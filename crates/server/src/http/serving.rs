//! The threads that answer HTTP: one that accepts, and one for each connection.

use super::answer::{Answer, Status};
use super::login::Login;
use super::page::history::History;
use super::page::sampler::Sampler;
use super::request::{self, MOST_HEAD_BYTES, Malformed, Request};
use super::routes;
use crate::server::Server;
use crate::variables::Setting;
use os::account::{State, enter};
use os::clock::Stopwatch;
use os::thread::JoinHandle;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of connections at one time. More are answered with 503 and closed.
const MOST_CONNECTIONS: usize = 32;
/// The time in which a request has to arrive.
const REQUEST_WITHIN: Duration = Duration::from_secs(5);
/// The time in which a client has to take its answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The time for which a client that has its answer may go on sending. A connection that is closed
/// with bytes unread is reset, and the reset can overtake the answer.
const REST_WITHIN: Duration = Duration::from_secs(1);
/// The largest number of bytes that are read after a request, and thrown away.
const MOST_REST_BYTES: usize = 64 << 10;
/// The time that the connections have to end when the server stops.
const END_WITHIN: Duration = Duration::from_secs(2);

/// The part that the threads share.
struct Service {
    server: Arc<Server>,
    login: Login,
    history: Arc<Mutex<History>>,
    open: Mutex<Open>,
}

/// The connections that are open.
#[derive(Default)]
struct Open {
    last_number: u64,
    by_number: BTreeMap<u64, TcpStream>,
}

/// The HTTP side of a server that runs.
pub struct Http {
    listener: Arc<TcpListener>,
    thread: JoinHandle<()>,
    sampler: Option<Sampler>,
    service: Arc<Service>,
}

/// A socket that listens for HTTP, and the rule about who may see the metrics.
pub struct Bound {
    listener: TcpListener,
    login: Login,
}

/// Listens at `http_address`, and puts the port into the variable if it was 0. `None` means that no
/// address is configured.
///
/// # Errors
/// Returns an error when the address cannot be resolved or used, and the errors of
/// [`Login::configured`].
pub fn bind(server: &Server) -> io::Result<Option<Bound>> {
    let login = Login::configured(&server.globals, &*server.disk, &server.datadir)?;
    let address = server.globals.named("http_address");
    let text = address.text();
    if text.is_empty() {
        return Ok(None);
    }
    let placed = |e: io::Error| io::Error::new(e.kind(), format!("cannot use the http_address {text}: {e}"));
    let addresses: Vec<SocketAddr> = text.to_socket_addrs().map_err(placed)?.collect();
    let listener = TcpListener::bind(&addresses[..]).map_err(placed)?;
    let bound = listener.local_addr().map_err(placed)?;
    if text.ends_with(":0") {
        let host = text.strip_suffix(":0").unwrap_or_default();
        server.globals.set_named("http_address", Setting::Text(format!("{host}:{}", bound.port())));
    }
    Ok(Some(Bound { listener, login }))
}

impl Bound {
    /// Begins to answer.
    pub fn open(self, server: &Arc<Server>) -> Http {
        let listener = Arc::new(self.listener);
        let history = Arc::<Mutex<History>>::default();
        let sampler = Sampler::start(server, &history)
            .inspect_err(|e| log::error!("Can't create thread for the history of the web page: {e}"));
        let service = Service { server: server.clone(), login: self.login, history, open: Mutex::default() };
        let service = Arc::new(service);
        let (of_thread, its_service) = (listener.clone(), service.clone());
        let thread = os::thread::spawn("http listener", move || accept(&its_service, &of_thread));
        if let Ok(address) = listener.local_addr() {
            log::info!("HTTP is answered at {address}");
        }
        Http { listener, thread, sampler: sampler.ok(), service }
    }
}

impl Http {
    /// Ends the threads. The server must be stopping.
    pub fn stop(self) {
        // SAFETY: the descriptor is open, `listener` owns it; shutdown takes no pointers.
        let shut = unsafe { libc::shutdown(self.listener.as_raw_fd(), libc::SHUT_RDWR) };
        if shut != 0 {
            log::warn!("cannot shut the HTTP listener down: {}", io::Error::last_os_error());
        }
        if self.thread.join().is_err() {
            log::error!("the HTTP listener's thread has panicked");
        }
        if let Some(sampler) = self.sampler {
            sampler.stop();
        }
        for stream in self.service.open.lock().by_number.values() {
            // A connection that its client has closed is ending already.
            let _ended = stream.shutdown(Shutdown::Both);
        }
        let watch = Stopwatch::start();
        while !self.service.open.lock().by_number.is_empty() && !watch.remaining(END_WITHIN).is_zero() {
            os::clock::sleep(Duration::from_millis(2));
        }
    }
}

fn accept(service: &Arc<Service>, listener: &TcpListener) {
    loop {
        let accepted = {
            let _waiting = enter(State::Idle);
            listener.accept()
        };
        match accepted {
            Ok((stream, peer)) => begin(service, stream, peer),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            // A listener that was shut down accepts no more.
            Err(e) if e.kind() == ErrorKind::InvalidInput => return,
            Err(e) => {
                // Too many open files are one cause, which passes. An immediate retry would only
                // burn time.
                log::error!("Error in accept for HTTP: {e}");
                os::clock::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// Starts the thread of a connection, or refuses the connection if there are too many.
fn begin(service: &Arc<Service>, stream: TcpStream, peer: SocketAddr) {
    let Ok(of_thread) = stream.try_clone() else { return };
    let number = {
        let mut open = service.open.lock();
        if open.by_number.len() >= MOST_CONNECTIONS {
            None
        } else {
            open.last_number += 1;
            let number = open.last_number;
            open.by_number.insert(number, stream);
            Some(number)
        }
    };
    let Some(number) = number else {
        // The few bytes fit into the socket's empty buffer, so that this does not wait.
        let answer = Answer::line(Status::Unavailable, "too many HTTP connections");
        let _lost = (&of_thread).write(&answer.bytes(true));
        return;
    };
    let its_service = service.clone();
    let started = os::thread::try_spawn("http", move || {
        if let Err(panic) = os::panic::contain(|| converse(&its_service, &of_thread, peer)) {
            log::error!("an HTTP connection from {peer} has panicked and is closed: {}", panic.0);
        }
        its_service.open.lock().by_number.remove(&number);
    });
    if let Err(e) = started {
        log::error!("Can't create thread to handle new HTTP connection: {e}");
        service.open.lock().by_number.remove(&number);
    }
}

/// The reason why a connection gets no answer to a request.
enum Unread {
    /// The client is gone.
    Gone,
    /// The answer to what is no request.
    Refused(Answer),
}

/// Reads a request and answers it.
fn converse(service: &Service, stream: &TcpStream, peer: SocketAddr) {
    let (answer, with_body) = match read(stream) {
        Ok(request) => {
            let answer =
                routes::answer(&service.server, &service.login, &service.history, &request, peer.ip());
            (answer, request.method != "HEAD")
        }
        Err(Unread::Refused(answer)) => (answer, true),
        Err(Unread::Gone) => return,
    };
    // A client that does not take its answer has none.
    if send(stream, &answer.bytes(with_body)).is_ok() && stream.shutdown(Shutdown::Write).is_ok() {
        read_rest(stream);
    }
}

/// Reads the head of a request.
fn read(mut stream: &TcpStream) -> Result<Request, Unread> {
    let refused = |status, words: &str| Unread::Refused(Answer::line(status, words));
    let watch = Stopwatch::start();
    let (mut head, mut piece) = (Vec::new(), [0; 2048]);
    loop {
        let left = watch.remaining(REQUEST_WITHIN);
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(refused(Status::RequestTimeout, "the request did not arrive in time"));
        }
        let received = {
            let _waiting = enter(State::ClientWait);
            stream.read(&mut piece)
        };
        match received {
            Ok(0) => return Err(Unread::Gone),
            Ok(len) => head.extend_from_slice(&piece[..len]),
            Err(e) if is_timeout(&e) || e.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Err(Unread::Gone),
        }
        // A head ends with the end of a line, so that pieces without one need no look.
        let len = head.len();
        if !head[len.saturating_sub(piece.len())..].contains(&b'\n') && len < MOST_HEAD_BYTES {
            continue;
        }
        match request::parse(&head) {
            Ok(Some(request)) => return Ok(request),
            Ok(None) => {}
            Err(Malformed::Syntax) => return Err(refused(Status::BadRequest, "this is no HTTP/1 request")),
            Err(Malformed::TooLong) => {
                return Err(refused(Status::FieldsTooLarge, "the head of the request is too long"));
            }
        }
    }
}

fn is_timeout(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Sends the bytes of an answer.
///
/// # Errors
/// Returns the error of the socket, or `TimedOut` when the client has not taken the bytes in time.
fn send(mut stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let _sending = enter(State::NetworkSend);
    let watch = Stopwatch::start();
    while !bytes.is_empty() {
        let left = watch.remaining(ANSWER_WITHIN);
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(len) => bytes = &bytes[len..],
            Err(e) if is_timeout(&e) || e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Reads what a client sends behind its request, until it closes the connection.
fn read_rest(mut stream: &TcpStream) {
    let _waiting = enter(State::ClientWait);
    let watch = Stopwatch::start();
    let (mut bytes, mut piece) = (0, [0; 2048]);
    while bytes < MOST_REST_BYTES {
        let left = watch.remaining(REST_WITHIN);
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut piece) {
            Ok(len) if len > 0 => bytes += len,
            _ => return,
        }
    }
}
