//! Tests with packets as an attacker might send them: each is decoded or refused, without a panic
//! and without reserving memory for a length that no bytes follow.

use std::io::Cursor;

use os::memory::WatchedAllocator;
use os::random::{Rng, test_seed};
use protocol::capability;
use protocol::column::Column;
use protocol::handshake::{AuthSwitch, FirstPacket, Greeting, HandshakeResponse};
use protocol::packet::Channel;
use protocol::response::{ErrPacket, OkPacket, decode_end_of_rows};
use protocol::scalar::{Scalar, read_binary_row};
use protocol::statement::{PrepareOk, decode_execute_head, decode_parameters, put_execute};
use protocol::wire::Reader;

#[global_allocator]
static ALLOCATOR: WatchedAllocator = WatchedAllocator::new();

/// The most bytes that a decoder may ask for at once. The packets have some hundred bytes, and a
/// channel's own buffers some ten thousand.
const MOST_BYTES: usize = 1 << 20;
const ROUNDS: usize = 60_000;

fn check_memory(round: usize) {
    let largest = ALLOCATOR.take_largest_bytes();
    assert!(largest < MOST_BYTES, "round {round}: {largest} bytes asked for");
}

fn response() -> Vec<u8> {
    let response = HandshakeResponse {
        capabilities: capability::PROTOCOL_41
            | capability::SECURE_CONNECTION
            | capability::PLUGIN_AUTH
            | capability::PLUGIN_AUTH_LENENC_CLIENT_DATA
            | capability::CONNECT_WITH_DB
            | capability::CONNECT_ATTRS,
        max_packet_bytes: 1 << 24,
        collation: 255,
        user: b"root".to_vec(),
        auth_response: vec![7; 32],
        schema: b"test".to_vec(),
        plugin: b"caching_sha2_password".to_vec(),
        attributes: vec![(b"_client_name".to_vec(), b"libmysql".to_vec()), (b"_pid".to_vec(), b"1".to_vec())],
    };
    let mut bytes = Vec::new();
    response.encode(&mut bytes);
    bytes
}

#[test]
fn damaged_handshakes_are_decoded_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_handshakes_are_decoded_or_refused"));
    let valid = response();
    assert!(matches!(HandshakeResponse::decode(&valid, u32::MAX), Ok(FirstPacket::Response(_))));
    for round in 0..ROUNDS {
        let bytes = rng.damaged(&valid);
        let offered = if rng.one_in(2) { u32::MAX } else { rng.u64() as u32 };
        ALLOCATOR.take_largest_bytes();
        let _ = HandshakeResponse::decode(&bytes, offered).is_ok();
        let _ = HandshakeResponse::decode_change_user(&bytes, offered).is_ok();
        let _ = Greeting::decode(&bytes).is_ok();
        let _ = AuthSwitch::decode(&bytes).is_ok();
        check_memory(round);
    }
}

#[test]
fn damaged_executions_are_decoded_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_executions_are_decoded_or_refused"));
    let parameters =
        [Scalar::Null, Scalar::Int(-3), Scalar::Bytes(b"text"), Scalar::Double(1.5), Scalar::Null];
    let mut valid = Vec::new();
    put_execute(7, &parameters, &mut valid);
    for round in 0..ROUNDS {
        let bytes = rng.damaged(&valid);
        let count = if rng.one_in(3) { rng.below(70_000) as usize } else { parameters.len() };
        ALLOCATOR.take_largest_bytes();
        let mut reader = Reader::new(&bytes);
        let mut types = vec![(rng.u64() as u8, rng.one_in(2)); rng.below(6) as usize];
        if decode_execute_head(&mut reader).is_ok() {
            let is_long = rng.one_in(3);
            let mut text = String::new();
            let see = |_, scalar: Scalar<'_>| {
                scalar.put_text(6, &mut text);
            };
            let is_long = |index| is_long && index == 2;
            let _ = decode_parameters(&mut reader, count, &mut types, is_long, see).is_ok();
        }
        let _ = PrepareOk::decode(&bytes).is_ok();
        check_memory(round);
    }
}

#[test]
fn damaged_answers_are_decoded_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_answers_are_decoded_or_refused"));
    let mut column = Vec::new();
    Column {
        schema: "test".into(),
        table: "t".into(),
        org_table: "t".into(),
        name: "c".into(),
        org_name: "c".into(),
        collation: 255,
        length_bytes: 40,
        field_type: 253,
        flags: 0,
        decimals: 0,
    }
    .encode(types::collation::UTF8MB4_BIN, &mut column);
    let valid: [&[u8]; 4] = [
        &column,
        b"\x00\x01\x02\x02\x00\x00\x00",
        b"\xff\x15\x04#28000Access denied",
        b"\x00\x00\x05hello\x03\x00\x00\x00",
    ];
    for round in 0..ROUNDS {
        let bytes = *rng.pick(&valid);
        let bytes = rng.damaged(bytes);
        let capabilities = if rng.one_in(2) { u32::MAX } else { capability::PROTOCOL_41 };
        ALLOCATOR.take_largest_bytes();
        let _ = Column::decode(&bytes).is_ok();
        let _ = OkPacket::decode(&bytes, capabilities).is_ok();
        let _ = ErrPacket::decode(&bytes).is_ok();
        let _ = decode_end_of_rows(&bytes, capabilities).is_ok();
        let code = rng.u64() as u8;
        let types = [(code, false), (253, false), (3, true)];
        let _ = read_binary_row(&bytes, types.into_iter(), |_, _| {}).is_ok();
        check_memory(round);
    }
}

#[test]
fn damaged_packets_are_read_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_packets_are_read_or_refused"));
    let mut valid = Vec::new();
    for (number, body) in [&b"\x03SELECT 1"[..], b"\x0e", &[7; 300]].iter().enumerate() {
        valid.extend_from_slice(&(body.len() as u32).to_le_bytes()[..3]);
        valid.push(number as u8);
        valid.extend_from_slice(body);
    }
    for round in 0..ROUNDS / 10 {
        let bytes = rng.damaged(&valid);
        ALLOCATOR.take_largest_bytes();
        let mut channel = Channel::new(Cursor::new(bytes), 1 << 26);
        while channel.read_packet().is_ok() {}
        check_memory(round);
    }
}
