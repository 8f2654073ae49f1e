//! The ids of the collations that the code names.

/// `binary`
pub const BINARY: u16 = 63;
/// `latin1_swedish_ci`
pub const LATIN1_SWEDISH_CI: u16 = 8;
/// `latin1_bin`
pub const LATIN1_BIN: u16 = 47;
/// `ascii_general_ci`
pub const ASCII_GENERAL_CI: u16 = 11;
/// `ascii_bin`
pub const ASCII_BIN: u16 = 65;
/// `utf8mb3_general_ci`
pub const UTF8MB3_GENERAL_CI: u16 = 33;
/// `utf8mb3_bin`
pub const UTF8MB3_BIN: u16 = 83;
/// `utf8mb4_general_ci`
pub const UTF8MB4_GENERAL_CI: u16 = 45;
/// `utf8mb4_bin`
pub const UTF8MB4_BIN: u16 = 46;
/// `utf8mb4_0900_ai_ci`, the server's default
pub const UTF8MB4_0900_AI_CI: u16 = 255;
/// `utf8mb4_0900_as_ci`
pub const UTF8MB4_0900_AS_CI: u16 = 305;
/// `utf8mb4_0900_as_cs`
pub const UTF8MB4_0900_AS_CS: u16 = 278;
/// `utf8mb4_0900_bin`
pub const UTF8MB4_0900_BIN: u16 = 309;
