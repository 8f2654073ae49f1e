//! The web page at `/`: replication, lag and rates over the last day, where the threads' time goes,
//! flushing and the redo log, and the statements that took most time. It changes nothing.
//!
//! [`assets`] are the page's own files, which are part of the program. [`history`] keeps samples of
//! the server's figures, and [`sampler`] takes one every ten seconds while the server answers HTTP.
//! [`data`] makes the answer from which the page's script draws, and [`login`] says who gets it:
//! accounts of the server, with the privileges that the same figures take over SQL (decision 0068).

pub mod assets;
pub mod data;
pub mod history;
pub mod login;
pub mod sampler;
