//! The connection phase: the server's greeting, the client's response, and the switch to another
//! plugin.

use crate::auth::NONCE_BYTES;
use crate::capability::{self, Capabilities};
use crate::wire::{Malformed, Reader, put_lenenc_bytes, put_lenenc_int, put_nul_bytes};

/// The collation id of utf8mb4_0900_ai_ci, which MySQL 8 and later name in their greeting.
pub const COLLATION_UTF8MB4_0900_AI_CI: u8 = 255;

const PROTOCOL_VERSION: u8 = 10;

/// The server's first packet (`HandshakeV10`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The version of the server, such as `9.7.0-slipstream-0.1.0`.
    pub server_version: String,
    /// The connection's id, which KILL takes.
    pub connection_id: u32,
    /// The challenge for the client.
    pub nonce: [u8; NONCE_BYTES],
    /// The capabilities of the server.
    pub capabilities: Capabilities,
    /// The low byte of the id of the server's default collation.
    pub collation: u8,
    /// The status flags (`SERVER_STATUS_*`).
    pub status: u16,
    /// The authentication plugin that the nonce is for.
    pub plugin: String,
}

impl Greeting {
    /// Appends the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(PROTOCOL_VERSION);
        put_nul_bytes(out, self.server_version.as_bytes());
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        out.extend_from_slice(&self.nonce[..8]);
        out.push(0);
        out.extend_from_slice(&(self.capabilities as u16).to_le_bytes());
        out.push(self.collation);
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&((self.capabilities >> 16) as u16).to_le_bytes());
        out.push(NONCE_BYTES as u8 + 1);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&self.nonce[8..]);
        out.push(0);
        put_nul_bytes(out, self.plugin.as_bytes());
    }

    /// Reads the packet. The caller handles a server that answers with an error packet instead.
    pub fn decode(payload: &[u8]) -> Result<Greeting, Malformed> {
        const WHAT: &str = "greeting";
        let mut r = Reader::new(payload);
        if r.u8(WHAT)? != PROTOCOL_VERSION {
            return Err(Malformed { what: "protocol version of the greeting" });
        }
        let server_version = String::from_utf8_lossy(r.nul_bytes(WHAT)?).into_owned();
        let connection_id = r.u32(WHAT)?;
        let mut nonce = [0; NONCE_BYTES];
        nonce[..8].copy_from_slice(r.take(8, WHAT)?);
        r.take(1, WHAT)?;
        let low = r.u16(WHAT)?;
        let collation = r.u8(WHAT)?;
        let status = r.u16(WHAT)?;
        let high = r.u16(WHAT)?;
        let capabilities = u32::from(low) | u32::from(high) << 16;
        r.take(11, WHAT)?;
        nonce[8..].copy_from_slice(r.take(NONCE_BYTES - 8, WHAT)?);
        r.take(1, WHAT)?;
        let plugin = if capabilities & capability::PLUGIN_AUTH != 0 {
            String::from_utf8_lossy(r.nul_or_rest()).into_owned()
        } else {
            crate::auth::plugin::NATIVE.to_owned()
        };
        Ok(Greeting { server_version, connection_id, nonce, capabilities, collation, status, plugin })
    }
}

/// A connection attribute, as name and value.
pub type Attribute = (Vec<u8>, Vec<u8>);

/// The client's answer to the greeting (`HandshakeResponse41`), and the body of COM_CHANGE_USER.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandshakeResponse {
    /// The capabilities that the client has and wants. Only bits that the server announced count.
    pub capabilities: Capabilities,
    /// The longest packet in bytes that the client accepts.
    pub max_packet_bytes: u32,
    /// The id of the collation that the client wants. It has 16 bits in COM_CHANGE_USER and 8 in
    /// the handshake.
    pub collation: u16,
    /// The name of the account.
    pub user: Vec<u8>,
    /// The answer to the nonce, for `plugin`.
    pub auth_response: Vec<u8>,
    /// The schema to start in. It is empty for none.
    pub schema: Vec<u8>,
    /// The plugin that made `auth_response`. It is empty when the client does not name it.
    pub plugin: Vec<u8>,
    /// The connection attributes (`_client_name`, `program_name`, ...).
    pub attributes: Vec<Attribute>,
}

/// The kinds of a client's first packet.
#[derive(Debug, PartialEq, Eq)]
pub enum FirstPacket {
    /// A response of the 4.1 protocol.
    Response(HandshakeResponse),
    /// A request to change to TLS.
    TlsRequest,
    /// The packet of a client older than 4.1 (MySQL's error 1043, without an SQLSTATE).
    TooOld,
}

/// Appends a request for TLS, which is the beginning of a response, alone. `capabilities` include
/// [`capability::SSL`] if this is all of the packet.
pub fn put_tls_request(capabilities: Capabilities, max_packet_bytes: u32, collation: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&capabilities.to_le_bytes());
    out.extend_from_slice(&max_packet_bytes.to_le_bytes());
    out.push(collation as u8);
    out.extend_from_slice(&[0; 23]);
}

impl HandshakeResponse {
    /// Appends the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_tls_request(self.capabilities, self.max_packet_bytes, self.collation, out);
        put_nul_bytes(out, &self.user);
        if self.capabilities & capability::PLUGIN_AUTH_LENENC_CLIENT_DATA != 0 {
            put_lenenc_bytes(out, &self.auth_response);
        } else {
            let len = self.auth_response.len().min(255);
            out.push(len as u8);
            out.extend_from_slice(&self.auth_response[..len]);
        }
        if self.capabilities & capability::CONNECT_WITH_DB != 0 {
            put_nul_bytes(out, &self.schema);
        }
        if self.capabilities & capability::PLUGIN_AUTH != 0 {
            put_nul_bytes(out, &self.plugin);
        }
        if self.capabilities & capability::CONNECT_ATTRS != 0 {
            let mut body = Vec::new();
            for (name, value) in &self.attributes {
                put_lenenc_bytes(&mut body, name);
                put_lenenc_bytes(&mut body, value);
            }
            put_lenenc_int(out, body.len() as u64);
            out.extend_from_slice(&body);
        }
    }

    /// Reads the client's first packet. `offered` are the capabilities in the server's greeting.
    pub fn decode(payload: &[u8], offered: Capabilities) -> Result<FirstPacket, Malformed> {
        const WHAT: &str = "handshake response";
        let mut r = Reader::new(payload);
        let low = r.clone().u16(WHAT)?;
        if u32::from(low) & capability::PROTOCOL_41 == 0 {
            return Ok(FirstPacket::TooOld);
        }
        let capabilities = r.u32(WHAT)? & offered;
        let max_packet_bytes = r.u32(WHAT)?;
        let collation = u16::from(r.u8(WHAT)?);
        r.take(23, WHAT)?;
        if u32::from(low) & capability::SSL != 0 && r.remaining() == 0 {
            return Ok(FirstPacket::TlsRequest);
        }
        let user = r.nul_bytes(WHAT)?.to_vec();
        let auth_response = if capabilities & capability::PLUGIN_AUTH_LENENC_CLIENT_DATA != 0 {
            r.lenenc_bytes(WHAT)?.to_vec()
        } else if capabilities & capability::SECURE_CONNECTION != 0 {
            let len = usize::from(r.u8(WHAT)?);
            r.take(len, WHAT)?.to_vec()
        } else {
            r.nul_or_rest().to_vec()
        };
        let mut schema = Vec::new();
        if capabilities & capability::CONNECT_WITH_DB != 0 {
            schema = r.nul_or_rest().to_vec();
        }
        let mut plugin = Vec::new();
        if capabilities & capability::PLUGIN_AUTH != 0 {
            plugin = r.nul_or_rest().to_vec();
        }
        let attributes = decode_attributes(&mut r, capabilities)?;
        Ok(FirstPacket::Response(HandshakeResponse {
            capabilities,
            max_packet_bytes,
            collation,
            user,
            auth_response,
            schema,
            plugin,
            attributes,
        }))
    }

    /// Reads the body of COM_CHANGE_USER. `capabilities` are those that the connection has agreed
    /// on.
    pub fn decode_change_user(
        body: &[u8],
        capabilities: Capabilities,
    ) -> Result<HandshakeResponse, Malformed> {
        const WHAT: &str = "COM_CHANGE_USER";
        let mut r = Reader::new(body);
        let user = r.nul_bytes(WHAT)?.to_vec();
        let len = usize::from(r.u8(WHAT)?);
        let auth_response = r.take(len, WHAT)?.to_vec();
        let schema = r.nul_or_rest().to_vec();
        let mut response =
            HandshakeResponse { capabilities, user, auth_response, schema, ..Default::default() };
        if r.remaining() >= 2 {
            response.collation = r.u16(WHAT)?;
        }
        if capabilities & capability::PLUGIN_AUTH != 0 {
            // MySQL accepts no packet without a plugin from a client that can name one.
            if r.remaining() == 0 {
                return Err(Malformed { what: WHAT });
            }
            response.plugin = r.nul_or_rest().to_vec();
        }
        response.attributes = decode_attributes(&mut r, capabilities)?;
        Ok(response)
    }
}

fn decode_attributes(r: &mut Reader<'_>, capabilities: Capabilities) -> Result<Vec<Attribute>, Malformed> {
    const WHAT: &str = "connection attributes";
    let mut out = Vec::new();
    if capabilities & capability::CONNECT_ATTRS == 0 || r.remaining() == 0 {
        return Ok(out);
    }
    let mut body = Reader::new(r.lenenc_bytes(WHAT)?);
    while body.remaining() > 0 {
        out.push((body.lenenc_bytes(WHAT)?.to_vec(), body.lenenc_bytes(WHAT)?.to_vec()));
    }
    Ok(out)
}

/// The server's request to continue with another plugin (`AuthSwitchRequest`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSwitch {
    /// The plugin to continue with.
    pub plugin: String,
    /// The new challenge.
    pub nonce: Vec<u8>,
}

impl AuthSwitch {
    /// The first byte of the packet.
    pub const HEADER: u8 = 0xfe;

    /// Appends the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(Self::HEADER);
        put_nul_bytes(out, self.plugin.as_bytes());
        out.extend_from_slice(&self.nonce);
        out.push(0);
    }

    /// Reads the packet, including its first byte.
    pub fn decode(payload: &[u8]) -> Result<AuthSwitch, Malformed> {
        let mut r = Reader::new(payload);
        r.u8("authentication switch")?;
        let plugin = String::from_utf8_lossy(r.nul_bytes("authentication switch")?).into_owned();
        let mut nonce = r.rest();
        nonce = nonce.strip_suffix(&[0]).unwrap_or(nonce);
        Ok(AuthSwitch { plugin, nonce: nonce.to_vec() })
    }
}

/// The first byte of `AuthMoreData`. The rest depends on the plugin.
pub const AUTH_MORE_DATA: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greeting_survives_the_round_trip() {
        let greeting = Greeting {
            server_version: "9.7.0-x".into(),
            connection_id: 0x0102_0304,
            nonce: *b"abcdefghijklmnopqrst",
            capabilities: capability::PROTOCOL_41 | capability::PLUGIN_AUTH,
            collation: COLLATION_UTF8MB4_0900_AI_CI,
            status: 2,
            plugin: "caching_sha2_password".into(),
        };
        let mut out = Vec::new();
        greeting.encode(&mut out);
        assert_eq!(Greeting::decode(&out), Ok(greeting));
        for cut in 0..40 {
            assert!(Greeting::decode(&out[..cut]).is_err());
        }
    }

    fn response() -> HandshakeResponse {
        HandshakeResponse {
            capabilities: capability::PROTOCOL_41
                | capability::SECURE_CONNECTION
                | capability::CONNECT_WITH_DB
                | capability::PLUGIN_AUTH
                | capability::CONNECT_ATTRS
                | capability::PLUGIN_AUTH_LENENC_CLIENT_DATA,
            max_packet_bytes: 1 << 24,
            collation: 45,
            user: b"root".to_vec(),
            auth_response: vec![1; 32],
            schema: b"test".to_vec(),
            plugin: b"caching_sha2_password".to_vec(),
            attributes: vec![(b"_os".to_vec(), b"Linux".to_vec())],
        }
    }

    #[test]
    fn response_survives_the_round_trip_and_every_cut() {
        let mut out = Vec::new();
        response().encode(&mut out);
        assert_eq!(HandshakeResponse::decode(&out, u32::MAX), Ok(FirstPacket::Response(response())));
        for cut in 0..out.len() {
            // A cut packet may be decoded as far as it goes or be refused, but it must not cause a
            // panic.
            let _decoded = HandshakeResponse::decode(&out[..cut], u32::MAX);
        }
        assert_eq!(HandshakeResponse::decode(&[0; 32], u32::MAX), Ok(FirstPacket::TooOld));
    }

    #[test]
    fn change_user_without_a_tail_is_read() {
        let body = b"bob\0\x02xytest\0\xff\0";
        assert!(HandshakeResponse::decode_change_user(body, capability::PLUGIN_AUTH).is_err());
        let r = HandshakeResponse::decode_change_user(body, 0).unwrap();
        assert_eq!(
            (&r.user[..], &r.auth_response[..], &r.schema[..], r.collation),
            (&b"bob"[..], &b"xy"[..], &b"test"[..], 255)
        );
    }
}
