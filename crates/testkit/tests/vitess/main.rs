//! Tests that an unmodified Vitess manages Slipstream: mysqlctl makes and starts the servers,
//! vttablet manages them, and clients come through vtgate.
//!
//! `scripts/peers.sh --vitess` puts Vitess on the machine. `SLIPSTREAM_CLUSTER_DEMO=1` runs the
//! demonstration of `make cluster-demo` too, which takes minutes. `SLIPSTREAM_CLUSTER_COMPARE=1`
//! runs the comparison of `make cluster-compare`.

mod backups;
mod demonstration;
mod kills;
mod load;
mod move_tables;
mod online_ddl;
mod reparents;
mod sysbench;
mod throughput;
mod vdiff;
