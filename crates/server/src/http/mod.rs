//! The HTTP side of the server, for monitoring and load balancers: `/health`, `/ready` and
//! `/metrics`, at the address in `http_address`. People look at the page at `/`.
//!
//! In: requests of HTTP/1.0 and HTTP/1.1, one for each connection. Out: the answer, after which the
//! connection is closed. Nothing here takes a place under `max_connections`, opens a session or
//! waits for a lock of a statement, so that the server answers when it is full and while a global
//! read lock is held (decision 0062).
//!
//! [`request`] reads the bytes of a client and [`answer`] makes the bytes of the server. [`login`]
//! says who may see the metrics. [`ready`] decides whether a load balancer may send clients, and
//! [`metrics`] writes the figures; [`page`] shows them. [`routes`] chooses among them by the path,
//! and [`serving`] has the threads and their limits.
//!
//! Invariants:
//! - The number of connections, the bytes of a request and the time of a connection are bounded.
//! - No bytes of a client make a thread panic. If one panics all the same, its connection alone
//!   ends.

pub mod answer;
pub mod login;
pub mod metrics;
pub mod page;
pub mod ready;
pub mod request;
pub mod routes;
pub mod serving;
