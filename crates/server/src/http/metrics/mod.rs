//! `/metrics`: the server's figures in Prometheus' text format.
//!
//! [`exposition`] is the format. [`exporter`] has the series that mysqld_exporter makes of a
//! server, under the same names, so that its dashboards and alerts go on working. [`own`] has those
//! that only this server has.

mod exporter;
mod exposition;
mod own;

use crate::server::Server;
use exposition::Exposition;

/// Returns the text of all figures.
pub fn text(server: &Server) -> String {
    let (mut all, channels) = (Exposition::default(), server.replica.statuses());
    exporter::add(server, &channels, &mut all);
    own::add(server, &channels, &mut all);
    all.text()
}
