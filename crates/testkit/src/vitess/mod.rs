//! A cluster of Vitess on this machine: etcd, vtctld, vtgate, vtorc, and tablets, each with a
//! server that mysqlctl or mysqlctld has made and started.
//!
//! In: the programs that `scripts/peers.sh --vitess` has built, and the binary under test, which
//! stands under mysqld's name in a directory of the cluster. Out: commands that vtctldclient has
//! carried out, and sessions at vtgate and at the servers behind it.
//!
//! Vitess' programs refuse to run as root, so a test that is root runs them as `nobody`. Every
//! process of a cluster ends, and its directory goes, when the cluster is dropped and also when the
//! test's process is killed.

mod cluster;
mod guard;
mod place;
mod tablet;

pub use cluster::{Cluster, available};
pub use tablet::Tablet;
