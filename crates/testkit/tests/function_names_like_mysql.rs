//! Tests that call every function of MySQL's manual with no argument up to three numbers, on
//! Slipstream and on a real MySQL: both must answer with the same error number, or with none. A
//! table lists the functions that are missing here, and a test fails when a listed function is no
//! longer missing.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use testkit::server::same_as_mysql;

/// The names in the manual's index of functions that are called like functions. SLEEP() is left out
/// because it sleeps.
const NAMES: &str = "\
    abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg \
    benchmark bin bin_to_uuid bit_and bit_count bit_length bit_or bit_xor can_access_column \
    can_access_database can_access_table can_access_user can_access_view cast ceil ceiling \
    char_length character_length charset coalesce coercibility collation compress concat \
    concat_ws connection_id conv convert_tz cos cot count crc32 curdate curtime current_role \
    current_user database date date_format datediff dayname dayofmonth dayofweek dayofyear day \
    degrees elt etag exp export_set extractvalue field find_in_set floor format format_bytes \
    format_pico_time found_rows from_base64 from_days from_unixtime get_dd_column_privileges \
    get_dd_create_options get_dd_index_sub_part_length get_format get_lock greatest \
    group_concat gtid_subset gtid_subtract hex hour icu_version if ifnull inet_aton inet_ntoa \
    inet6_aton inet6_ntoa insert instr interval is_free_lock is_ipv4 is_ipv4_compat \
    is_ipv4_mapped is_ipv6 is_used_lock is_uuid isnull is_visible_dd_object json_array \
    json_array_append json_array_insert json_arrayagg json_contains json_contains_path \
    json_depth json_extract json_insert json_keys json_length json_merge json_merge_patch \
    json_merge_preserve json_object json_objectagg json_overlaps json_pretty json_quote \
    json_remove json_replace json_schema_valid json_schema_validation_report json_search \
    json_set json_storage_free json_storage_size json_type json_unquote json_valid last_day \
    last_insert_id lcase least left length ln load_file localtime localtimestamp locate log \
    log10 log2 lower lpad ltrim make_set makedate maketime master_pos_wait max md5 microsecond \
    mid min minute mod month monthname name_const now nullif oct octet_length ord period_add \
    period_diff pi position pow power ps_current_thread_id ps_thread_id quarter quote radians \
    rand random_bytes regexp_instr regexp_like regexp_replace regexp_substr release_all_locks \
    release_lock repeat replace reverse right roles_graphml round row_count rpad rtrim schema \
    sec_to_time second session_user sha sha1 sha2 sign sin soundex source_pos_wait space sqrt \
    statement_digest statement_digest_text std stddev stddev_pop stddev_samp str_to_date strcmp \
    subdate substr substring substring_index subtime sum sysdate system_user tan time \
    time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_days \
    to_seconds truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml \
    upper user utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin \
    validate_password_strength var_pop var_samp variance version wait_for_executed_gtid_set \
    week weekday weekofyear weight_string year yearweek geometrycollection linestring \
    multilinestring multipoint multipolygon point polygon string_to_vector to_vector \
    from_vector vector_to_string vector_dim";

const SPATIAL_NAMES: &str = "\
    st_area st_asbinary st_asgeojson st_astext st_buffer st_buffer_strategy st_centroid \
    st_collect st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint \
    st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring \
    st_frechetdistance st_geohash st_geomcollfromtext st_geomcollfromwkb st_geometryn \
    st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_hausdorffdistance \
    st_interiorringn st_intersection st_intersects st_isclosed st_isempty st_issimple \
    st_isvalid st_latfromgeohash st_latitude st_length st_linefromtext st_linefromwkb \
    st_lineinterpolatepoint st_lineinterpolatepoints st_longfromgeohash st_longitude \
    st_makeenvelope st_mlinefromtext st_mlinefromwkb st_mpointfromtext st_mpointfromwkb \
    st_mpolyfromtext st_mpolyfromwkb st_numgeometries st_numinteriorring st_numpoints \
    st_overlaps st_pointatdistance st_pointfromgeohash st_pointfromtext st_pointfromwkb \
    st_pointn st_polyfromtext st_polyfromwkb st_simplify st_srid st_startpoint st_swapxy \
    st_symdifference st_touches st_transform st_union st_validate st_within st_x st_y \
    mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals mbrintersects mbroverlaps \
    mbrtouches mbrwithin";

/// The functions that MySQL keeps for its own views.
const INTERNAL_NAMES: &str = "\
    internal_auto_increment internal_avg_row_length internal_check_time internal_checksum \
    internal_data_free internal_data_length internal_dd_char_length \
    internal_get_comment_or_error internal_get_enabled_role_json internal_get_hostname \
    internal_get_username internal_get_view_warning_or_error internal_index_column_cardinality \
    internal_index_length internal_is_enabled_role internal_is_mandatory_role \
    internal_keys_disabled internal_max_data_length internal_table_rows internal_update_time";

/// The functions that MySQL has and Slipstream lacks: a call ends with error 1305, or with 1235 if
/// the parser knows the name.
const ABSENT: &str = "\
    etag validate_password_strength";

/// Functions that MySQL 9.7 lacks here: the first three have moved into a component that is not
/// loaded, and the others are about the performance schema, without which the tests' MySQL runs.
const MORE: &str = "md5 sha sha1 ps_current_thread_id ps_thread_id";

/// Functions on geometries that complain about a number with another error here, or that accept
/// fewer arguments.
const OTHERWISE: &str = "\
    st_asbinary st_astext st_geomcollfromtext st_geomcollfromwkb st_geomfromtext st_geomfromwkb \
    st_linefromtext st_linefromwkb st_mlinefromtext st_mlinefromwkb st_mpointfromtext \
    st_mpointfromwkb st_mpolyfromtext st_mpolyfromwkb st_pointfromtext st_pointfromwkb \
    st_polyfromtext st_polyfromwkb st_srid geometrycollection linestring multilinestring \
    multipoint multipolygon polygon";

/// Calls a function and returns the number of the error, or 0.
fn outcome(client: &mut Client, name: &str, arguments: &str) -> u16 {
    match client.query(&format!("SELECT {name}({arguments})")) {
        Ok(_) => 0,
        Err(ClientError::Server(error)) => error.code,
        Err(error) => panic!("{name}({arguments}): {error}"),
    }
}

/// Returns the outcomes of a function with no argument up to three.
fn outcomes(client: &mut Client, name: &str) -> Vec<u16> {
    ["", "1", "1,1", "1,1,1"].iter().map(|arguments| outcome(client, name, arguments)).collect()
}

fn words(list: &'static str) -> Vec<&'static str> {
    list.split_whitespace().collect()
}

#[test]
fn functions_take_the_arguments_that_they_take_in_mysql() {
    let absent = words(ABSENT);
    let otherwise = [MORE, OTHERWISE].map(words).concat();
    let is_left_out = |name: &&str| absent.contains(name) || otherwise.contains(name);
    let names = [NAMES, SPATIAL_NAMES, INTERNAL_NAMES].map(words).concat();
    let compared: Vec<&str> = names.into_iter().filter(|name| !is_left_out(name)).collect();
    let lines = same_as_mysql("function_names", &Settings::default(), |server| {
        let mut client = server.connect();
        client.query("CREATE DATABASE d").expect("a schema is made");
        client.query("USE d").expect("the schema is there");
        let line = |name: &&str| format!("{name}: {:?}", outcomes(&mut client, name));
        compared.iter().map(line).collect()
    });
    let unknown: Vec<&String> = lines.iter().filter(|line| line.contains("1305")).collect();
    assert!(unknown.is_empty(), "not known here, and not in the table of absent ones: {unknown:#?}");
}

#[test]
fn what_the_table_says_to_be_absent_is_absent() {
    let server = testkit::Server::start(testkit::Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    client.query("CREATE DATABASE d").expect("a schema is made");
    client.query("USE d").expect("the schema is there");
    for name in words(ABSENT) {
        let found = outcomes(&mut client, name);
        let is_missing = |code: &u16| matches!(code, 1235 | 1305);
        assert!(found.iter().any(is_missing), "{name} is no longer absent: {found:?}");
    }
}
