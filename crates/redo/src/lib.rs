//! The one log: reservation, writer and flusher threads, checkpoints, scan.
