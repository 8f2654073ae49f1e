//! The memory of a connection's long packets, which is charged to the connection.

use protocol::packet::{Refused, Room};
use sql::memory::{Budget, Charge};
use std::sync::Arc;

/// The charge for the packets of one connection.
#[derive(Debug)]
pub struct PacketRoom {
    charge: Charge,
}

impl PacketRoom {
    /// Builds the charge of the connection with this budget.
    pub fn new(memory: &Arc<Budget>) -> PacketRoom {
        PacketRoom { charge: Charge::new(memory) }
    }
}

impl Room for PacketRoom {
    fn take(&mut self, bytes: usize) -> Result<(), Refused> {
        let refused = |e: sql::SqlError| Refused { code: e.code, message: e.message };
        self.charge.add(bytes).map_err(refused)
    }

    fn give_back(&mut self, bytes: usize) {
        self.charge.take_away(bytes);
    }
}
