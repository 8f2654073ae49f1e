//! The event scheduler, which runs the events of the dictionary when they are due.
//!
//! `queue` tells which event is due, `scheduler` is the thread that waits for it, and `worker` runs
//! one event once, in a thread and a session of its own. The dictionary is the only list of events:
//! the queue is made from it whenever the scheduler wakes (docs/decisions/
//! 0059-events-are-looked-up-when-they-are-due.md).

mod queue;
pub mod scheduler;
mod worker;
