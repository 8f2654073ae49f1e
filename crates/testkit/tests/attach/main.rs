//! Tests of `slipstream attach` with real sources: which sources it refuses, what it copies, and
//! that a source at work is copied whole even when the copying or the source is killed.

mod attaching;
mod encryption;
mod interrupted;
mod mariadb;
mod mysql;
mod part;
mod under_fire;
mod verify;
mod work;
