//! Receiver, relay log, applier, positions.
