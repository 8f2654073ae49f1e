//! Listener, sessions, system variables, SHOW; the slipstream binary.
