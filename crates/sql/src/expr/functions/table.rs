//! The table of all native functions, by name.

use super::{
    Function, aes, characters, compression, date_formats, date_text, digest, extremes, file, grouping, gtid,
    json, network, numeric, partition_key, regexp, session, shown_date, sound, spatial, statement_digest,
    string, time, time_sums, units, user_lock, vector, weights, xml,
};

/// Reports whether calls of the function ask the session, the client or the server for something
/// beside the arguments and the values of variables that an expression's surroundings have.
pub(crate) fn asks_session(function: &Function) -> bool {
    let asking = [
        aes::FUNCTIONS,
        file::FUNCTIONS,
        gtid::FUNCTIONS,
        regexp::FUNCTIONS,
        session::FUNCTIONS,
        statement_digest::FUNCTIONS,
        user_lock::FUNCTIONS,
        xml::FUNCTIONS,
    ];
    asking.iter().any(|table| table.contains(function))
}

/// Returns the function with this name, which is in lower case.
pub(crate) fn find_function(name: &str) -> Option<&'static Function> {
    let name = match name {
        "character_length" => "char_length",
        "octet_length" => "length",
        "lcase" => "lower",
        "ucase" => "upper",
        "substr" | "mid" => "substring",
        "pow" => "power",
        "ceil" => "ceiling",
        "schema" => "database",
        "session_user" | "system_user" => "user",
        "current_timestamp" | "localtime" | "localtimestamp" => "now",
        "current_date" => "curdate",
        "current_time" => "curtime",
        "sha" => "sha1",
        "day" => "dayofmonth",
        "master_pos_wait" => "source_pos_wait",
        name => spatial::canonical_name(name).or_else(|| vector::canonical_name(name)).unwrap_or(name),
    };
    [
        string::FUNCTIONS,
        characters::FUNCTIONS,
        extremes::FUNCTIONS,
        numeric::FUNCTIONS,
        partition_key::FUNCTIONS,
        regexp::FUNCTIONS,
        time::FUNCTIONS,
        date_text::FUNCTIONS,
        shown_date::FUNCTIONS,
        time_sums::FUNCTIONS,
        network::FUNCTIONS,
        digest::FUNCTIONS,
        aes::FUNCTIONS,
        compression::FUNCTIONS,
        sound::FUNCTIONS,
        statement_digest::FUNCTIONS,
        units::FUNCTIONS,
        date_formats::FUNCTIONS,
        file::FUNCTIONS,
        session::FUNCTIONS,
        user_lock::FUNCTIONS,
        grouping::FUNCTIONS,
        gtid::FUNCTIONS,
        json::MAKING,
        json::READING,
        json::SCHEMAS,
        vector::FUNCTIONS,
        weights::FUNCTIONS,
        xml::FUNCTIONS,
    ]
    .iter()
    .chain(&spatial::TABLES)
    .flat_map(|table| table.iter())
    .find(|function| function.name == name)
}
