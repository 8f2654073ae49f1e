//! `slipstream attach` beside real sources: what it refuses, what it brings, and that a source at
//! work is copied whole through kills.

mod attaching;
mod mariadb;
mod mysql;
mod work;
