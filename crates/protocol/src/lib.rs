//! Client/server packets, authentication, result sets; no I/O.
