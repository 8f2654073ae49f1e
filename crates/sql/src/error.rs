//! The error that a client sees: MySQL's number, SQLSTATE and wording.
//!
//! Each error that is raised in more than one place has a constructor here, so that its wording
//! stands once. Numbers and texts are those of MySQL's `messages_to_clients.txt`.

use std::fmt;

/// An error as the client receives it in an ERR packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// MySQL's error number (`ER_...`).
    pub code: u16,
    /// The SQLSTATE, five characters.
    pub state: [u8; 5],
    /// The text, in MySQL's wording.
    pub message: String,
}

/// The result of this crate's functions that can fail with an error for the client.
pub type Result<T> = std::result::Result<T, SqlError>;

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, String::from_utf8_lossy(&self.state), self.message)
    }
}

impl std::error::Error for SqlError {}

/// Returns the SQLSTATE that MySQL sends with an error number, which is `HY000` for numbers that
/// have none of their own.
pub fn sqlstate(code: u16) -> [u8; 5] {
    *match code {
        1249 | 1261 | 1262 | 1265 | 1311 | 1642 => b"01000",
        1329 | 1643 => b"02000",
        1339 => b"20000",
        1325 | 1326 => b"24000",
        1303 => b"2F003",
        1321 => b"2F005",
        1040 | 1251 => b"08004",
        1042 | 1043 | 1047 | 1053 | 1080 | 1081 | 1152..=1161 | 1184 | 1189 | 1190 | 1218 => b"08S01",
        1312 | 1314 | 1335 | 1336 | 1415 | 1845 | 1846 | 6006 | 6007 | 6009 | 6412 => b"0A000",
        1222 | 1241 | 1242 => b"21000",
        1058 | 1136 => b"21S01",
        1406 => b"22001",
        1264 | 1416 | 1690 => b"22003",
        1138 | 1263 => b"22004",
        1292 | 1367 => b"22007",
        1441 | 6527 => b"22008",
        1365 => b"22012",
        3020 => b"2201E",
        1022 | 1048 | 1052 | 1062 | 1169 | 1216 | 1217 | 1451 | 1452 | 1586 | 1761 | 1762 => b"23000",
        1179 | 1207 | 1568 => b"25001",
        1792 => b"25006",
        1045 | 1698 | 1873 => b"28000",
        1046 => b"3D000",
        1213 => b"40001",
        1050 => b"42S01",
        1051 | 1109 | 1146 | 4089..=4091 => b"42S02",
        1082 => b"42S12",
        1060 => b"42S21",
        1054 | 1247 => b"42S22",
        1317 => b"70100",
        1037 | 1038 => b"HY001",
        1044 | 1049 | 1055..=1057 | 1059 | 1061 | 1063..=1075 | 1083 | 1084 | 1090 | 1091 => b"42000",
        1101..=1104 | 1106 | 1107 | 1110 | 1112 | 1113 | 1115 | 1118 | 1120 | 1121 | 1131..=1133 => b"42000",
        1139..=1145 | 1147..=1149 | 1162..=1164 | 1166 | 1167 | 1170..=1173 | 1176..=1178 => b"42000",
        1203 | 1211 | 1226 | 1227 | 1230..=1232 | 1234 | 1235 | 1239 | 1248 | 1250 | 1252 | 1253 => b"42000",
        1280 | 1281 | 1286 | 1304 | 1305 | 1308..=1310 | 1313 | 1315 | 1316 | 1318..=1320 => b"42000",
        1322..=1324 | 1327 | 1330..=1333 | 1337 | 1338 | 1370 | 1403 | 1407 | 1410 | 1413 | 1414 => b"42000",
        1425..=1427 | 1437 => b"42000",
        1397 => b"XAE04",
        1398 => b"XAE05",
        1399 => b"XAE07",
        1400 => b"XAE09",
        1401 => b"XAE03",
        1402 => b"XA100",
        1440 => b"XAE08",
        1613 => b"XA106",
        1614 => b"XA102",
        3057 | 3143 | 3149 | 3152..=3154 | 3165 | 3630 | 3667 | 3753 | 3948 | 4163 => b"42000",
        3140..=3142 | 3144 | 3146 | 3150 | 3151 | 3157 | 3158 | 3853 => b"22032",
        3155 | 3669 => b"22003",
        3156 => b"22018",
        3665 | 3966 => b"22035",
        3666 => b"2203F",
        3967 => b"22034",
        1439 | 1453 | 1458 | 1460 | 1461 | 1463 | 1582..=1584 | 1630 | 1641 | 1687 | 1701 => b"42000",
        _ => b"HY000",
    }
}

impl SqlError {
    /// Builds an error with the SQLSTATE that belongs to its number.
    pub fn new(code: u16, message: impl Into<String>) -> SqlError {
        SqlError { code, state: sqlstate(code), message: message.into() }
    }

    /// Builds 1235 (`ER_NOT_SUPPORTED_YET`). `feature` names what was asked for.
    pub fn not_supported(feature: impl fmt::Display) -> SqlError {
        SqlError::new(1235, format!("This version of MySQL doesn't yet support '{feature}'"))
    }

    /// Builds 3012 (`ER_EXPLAIN_NOT_SUPPORTED`), for a connection that runs no statement with a
    /// plan of its own.
    pub fn unknown_plan() -> SqlError {
        let text = "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE";
        SqlError::new(3012, text)
    }

    /// Builds 1054 (`ER_BAD_FIELD_ERROR`). `clause` is MySQL's word for the place (`field list`,
    /// `where clause`, ...).
    pub fn unknown_column(name: impl fmt::Display, clause: &str) -> SqlError {
        SqlError::new(1054, format!("Unknown column '{name}' in '{clause}'"))
    }

    /// Builds 1146 (`ER_NO_SUCH_TABLE`).
    pub fn no_such_table(schema: &str, table: &str) -> SqlError {
        SqlError::new(1146, format!("Table '{schema}.{table}' doesn't exist"))
    }

    /// Builds 1031, in MariaDB's wording, for an operation that a sequence does not support.
    pub fn no_such_option_of_sequence(schema: &str, name: &str) -> SqlError {
        let text =
            format!("Storage engine SEQUENCE of the table `{schema}`.`{name}` doesn't have this option");
        SqlError::new(1031, text)
    }

    /// Builds 1109 (`ER_UNKNOWN_TABLE`) for a table of information_schema.
    pub fn unknown_information(table: &str) -> SqlError {
        SqlError::new(1109, format!("Unknown table '{}' in information_schema", table.to_uppercase()))
    }

    /// Builds 1049 (`ER_BAD_DB_ERROR`).
    pub fn unknown_schema(schema: &str) -> SqlError {
        SqlError::new(1049, format!("Unknown database '{schema}'"))
    }

    /// Builds 1046 (`ER_NO_DB_ERROR`).
    pub fn no_schema_selected() -> SqlError {
        SqlError::new(1046, "No database selected")
    }

    /// Builds 1356 (`ER_VIEW_INVALID`).
    pub fn invalid_view(schema: &str, view: &str) -> SqlError {
        let text = format!(
            "View '{schema}.{view}' references invalid table(s) or column(s) or function(s) or definer/invoker of \
             view lack rights to use them"
        );
        SqlError::new(1356, text)
    }

    /// Builds 1288 (`ER_NON_UPDATABLE_TABLE`). `statement` is UPDATE, DELETE or INSERT.
    pub fn not_updatable(table: &str, statement: &str) -> SqlError {
        SqlError::new(1288, format!("The target table {table} of the {statement} is not updatable"))
    }

    /// Builds 1048 (`ER_BAD_NULL_ERROR`).
    pub fn column_not_null(column: &str) -> SqlError {
        SqlError::new(1048, format!("Column '{column}' cannot be null"))
    }

    /// Builds 1193 (`ER_UNKNOWN_SYSTEM_VARIABLE`).
    pub fn unknown_variable(name: &str) -> SqlError {
        SqlError::new(1193, format!("Unknown system variable '{name}'"))
    }

    /// Builds 1231 (`ER_WRONG_VALUE_FOR_VAR`).
    pub fn wrong_value_for_variable(name: &str, value: impl fmt::Display) -> SqlError {
        // MySQL too shows at most 200 characters of the value.
        SqlError::new(1231, format!("Variable '{name}' can't be set to the value of '{value:.200}'"))
    }

    /// Builds 1232 (`ER_WRONG_TYPE_FOR_VAR`).
    pub fn wrong_type_for_variable(name: &str) -> SqlError {
        SqlError::new(1232, format!("Incorrect argument type to variable '{name}'"))
    }

    /// Builds 1231 (`ER_WRONG_VALUE_FOR_VAR`) for a character set that statements cannot be written
    /// in, such as `ucs2`.
    pub fn not_for_clients(charset: &str) -> SqlError {
        SqlError::new(
            1231,
            format!("Variable 'character_set_client' can't be set to the value of '{charset}'"),
        )
    }

    /// Builds 1690 (`ER_DATA_OUT_OF_RANGE`) for an expression. `type_name` is `BIGINT`, `BIGINT
    /// UNSIGNED`, `DOUBLE` or `DECIMAL`.
    pub fn out_of_range(type_name: &str, expression: impl fmt::Display) -> SqlError {
        SqlError::new(1690, format!("{type_name} value is out of range in '{expression}'"))
    }

    /// Builds 1582 (`ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT`). `function` is the function's name as it
    /// was written.
    pub fn wrong_argument_count(function: &str) -> SqlError {
        SqlError::new(1582, format!("Incorrect parameter count in the call to native function '{function}'"))
    }

    /// Builds 1295 (`ER_UNSUPPORTED_PS`).
    pub fn not_preparable() -> SqlError {
        SqlError::new(1295, "This command is not supported in the prepared statement protocol yet")
    }

    /// Builds 1064 (`ER_PARSE_ERROR`). `rest` is the statement's text from the error on, and `line`
    /// (counted from 1) is the line on which `rest` begins.
    pub fn syntax(rest: &str, line: usize) -> SqlError {
        const NEAR_CHARS: usize = 80;
        let near: String = rest.chars().take(NEAR_CHARS).collect();
        SqlError::new(
            1064,
            format!(
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
                 version for the right syntax to use near '{near}' at line {line}"
            ),
        )
    }

    /// Builds 1329 (`ER_SP_FETCH_NO_DATA`).
    pub fn no_data() -> SqlError {
        SqlError::new(1329, "No data - zero rows fetched, selected, or processed")
    }

    /// Builds 1326 (`ER_SP_CURSOR_NOT_OPEN`).
    pub fn cursor_not_open() -> SqlError {
        SqlError::new(1326, "Cursor is not open")
    }

    /// Builds 1317 (`ER_QUERY_INTERRUPTED`).
    pub fn interrupted() -> SqlError {
        SqlError::new(1317, "Query execution was interrupted")
    }

    /// Builds 1149 (`ER_SYNTAX_ERROR`), MySQL's error for bytes that are no event of a binary log.
    pub fn not_an_event() -> SqlError {
        let text = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version \
                    for the right syntax to use";
        SqlError::new(1149, text)
    }

    /// Builds 3024 (`ER_QUERY_TIMEOUT`).
    pub fn time_limit_passed() -> SqlError {
        SqlError::new(3024, "Query execution was interrupted, maximum statement execution time exceeded")
    }

    /// Builds 1290 (`ER_OPTION_PREVENTS_STATEMENT`).
    pub fn option_prevents(option: &str) -> SqlError {
        SqlError::new(
            1290,
            format!(
                "The MySQL server is running with the {option} option so it cannot execute this statement"
            ),
        )
    }
}
