//! The replicas that have registered (COM_REGISTER_SLAVE), for SHOW REPLICAS.

use parking_lot::Mutex;
use protocol::wire::{Malformed, Reader};
use std::collections::BTreeMap;

/// The facts that a replica tells about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredReplica {
    /// The replica's server id.
    pub server_id: u32,
    /// The replica's `report_host`.
    pub host: String,
    /// The replica's `report_port`.
    pub port: u16,
    /// The server id of the replica's source.
    pub source_id: u32,
    /// The id of the replica's connection to this server.
    pub connection_id: u32,
    /// The replica's server UUID, which it sets as a user variable before it registers.
    pub server_uuid: String,
}

impl RegisteredReplica {
    /// Decodes the body of COM_REGISTER_SLAVE.
    pub fn decode(body: &[u8], connection_id: u32) -> Result<RegisteredReplica, Malformed> {
        const WHAT: &str = "COM_REGISTER_SLAVE";
        let mut r = Reader::new(body);
        let server_id = r.u32(WHAT)?;
        let mut text = || -> Result<String, Malformed> {
            let len = usize::from(r.u8(WHAT)?);
            Ok(String::from_utf8_lossy(r.take(len, WHAT)?).into_owned())
        };
        let (host, _user, _password) = (text()?, text()?, text()?);
        let port = r.u16(WHAT)?;
        r.u32(WHAT)?;
        let source_id = r.u32(WHAT)?;
        Ok(RegisteredReplica { server_id, host, port, source_id, connection_id, server_uuid: String::new() })
    }
}

/// All registered replicas.
#[derive(Debug, Default)]
pub struct Replicas {
    /// The replicas by server id. No other lock is held with this one.
    all: Mutex<BTreeMap<u32, RegisteredReplica>>,
}

impl Replicas {
    /// Adds a replica, and replaces an earlier one of its server id.
    pub fn register(&self, replica: RegisteredReplica) {
        self.all.lock().insert(replica.server_id, replica);
    }

    /// Forgets the replica of a connection that has ended.
    pub fn forget(&self, connection_id: u32) {
        self.all.lock().retain(|_, r| r.connection_id != connection_id);
    }

    /// Returns all replicas.
    pub fn list(&self) -> Vec<RegisteredReplica> {
        self.all.lock().values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_is_read_and_forgotten_with_its_connection() {
        let mut body = 7u32.to_le_bytes().to_vec();
        body.extend_from_slice(b"\x04host\x04user\x00");
        body.extend_from_slice(&3307u16.to_le_bytes());
        body.extend_from_slice(&[0; 4]);
        body.extend_from_slice(&1u32.to_le_bytes());
        for cut in 0..body.len() {
            assert!(RegisteredReplica::decode(&body[..cut], 9).is_err());
        }
        let replicas = Replicas::default();
        replicas.register(RegisteredReplica::decode(&body, 9).unwrap());
        assert_eq!(
            replicas.list().iter().map(|r| (r.server_id, r.host.as_str(), r.port)).collect::<Vec<_>>(),
            [(7, "host", 3307)]
        );
        replicas.forget(9);
        assert!(replicas.list().is_empty());
    }
}
