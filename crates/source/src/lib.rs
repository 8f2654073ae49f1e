//! Binary log files derived from the log, dump sessions.
