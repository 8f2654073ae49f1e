//! Tests of functions on geometries, compared with MySQL: values, errors and types of columns. Only
//! the shapes are compared where the order of points or the last digits may differ.

mod random;
mod shape;

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::answers::{answer_with_warnings, same_answers};
use testkit::{Server, available};

/// The part of a number by which the servers' results may differ.
const NEAR: f64 = 1e-9;

/// Starts both servers, ours first, or returns `None` if MySQL is not available.
fn both(test: &str) -> Option<[Server; 2]> {
    available(test, &[Flavor::MySql]).then(|| {
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()))
    })
}

/// Returns the pieces of a text: numbers, and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_of_number = |c: char| c.is_ascii_digit() || "+-.e".contains(c);
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = is_of_number(first);
        let end = rest.find(|c| is_of_number(c) != is_number).unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

/// Reports whether two answers are the same apart from the last digits of numbers.
fn are_near(ours: &str, theirs: &str, near: f64) -> bool {
    let (ours, theirs) = (pieces(ours), pieces(theirs));
    let are_alike = |(one, other): (&&str, &&str)| {
        one == other
            || one
                .parse::<f64>()
                .ok()
                .zip(other.parse::<f64>().ok())
                .is_some_and(|(one, other)| (one - other).abs() <= near * one.abs().max(1.0))
    };
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(are_alike)
}

/// Sends the statements of a text, one in each line, to both servers. `is_same` compares the
/// answers.
fn ask_lines(test: &str, lines: &str, is_same: impl Fn(&str, &str) -> bool) {
    let Some(servers) = both(test) else { return };
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut wrong = Vec::new();
    let statements = lines.lines().filter(|line| !line.starts_with("--") && !line.is_empty());
    for statement in ["create database d", "use d"].into_iter().chain(statements) {
        let [ours, theirs] =
            clients.each_mut().map(|client: &mut Client| answer_with_warnings(client, statement));
        if !is_same(&ours, &theirs) {
            wrong.push(format!("here:  {ours}\nMySQL: {theirs}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_statement_is_answered_as_in_mysql() {
    ask_lines("every_statement_is_answered_as_in_mysql", include_str!("statements.sql"), |ours, theirs| {
        are_near(ours, theirs, NEAR)
    });
}

#[test]
fn shapes_are_those_of_mysql() {
    let value = |answer: &str| answer.rsplit_once("): ").map(|(_, value)| value.to_owned());
    ask_lines("shapes_are_those_of_mysql", include_str!("shapes.sql"), |ours, theirs| {
        ours == theirs
            || value(ours).zip(value(theirs)).is_some_and(|(ours, theirs)| shape::are_same(&ours, &theirs))
    });
}

#[test]
fn the_ellipsoid_is_that_of_mysql() {
    // MySQL computes with a formula of the first order of the flattening.
    const NEAR: f64 = 2e-5;
    ask_lines("the_ellipsoid_is_that_of_mysql", include_str!("ellipsoid.sql"), |ours, theirs| {
        are_near(ours, theirs, NEAR)
    });
}

#[test]
fn what_is_not_computed_is_refused() {
    let polygon = "st_geomfromtext('polygon((0 0,10 0,10 10,0 10,0 0))',4326)";
    let around = "st_geomfromtext('linestring(10 5,12 85,8 165,9 -110,7 -30)',4326)";
    let refused = [
        format!("st_intersects({polygon},{around})"),
        format!("st_union({around},{polygon})"),
        format!("st_distance({polygon},{around})"),
        format!("st_issimple({around})"),
    ];
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    for call in refused {
        let (code, text) = server.refuses(&format!("SELECT {call}"));
        assert_eq!(code, 3618, "{call}: {text}");
        assert!(
            text.ends_with("has not been implemented for geographic spatial reference systems."),
            "{text}"
        );
    }
    let crossed = "st_geomfromtext('polygon((0 0,4 4,4 0,0 4,0 0))')";
    let (code, text) = server.refuses(&format!("SELECT st_within({crossed},{crossed})"));
    assert_eq!(code, 3037, "a polygon that meets itself has no inside: {text}");
}

#[test]
fn large_results_are_null_with_a_warning() {
    let answers = same_answers(
        "large_results_are_null_with_a_warning",
        &["select st_astext(st_lineinterpolatepoint(st_geomfromtext('linestring(0 0,0 5,5 5)'),1))"],
    );
    assert!(answers[0].ends_with("POINT(5 5)"), "{answers:#?}");
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    let statement =
        "select st_lineinterpolatepoints(st_geomfromtext('linestring(0 0,0 5,5 5)'),1e-9) is null";
    let answer = answer_with_warnings(&mut client, statement);
    assert!(answer.contains(": 1\n") && answer.contains("1301"), "{answer}");
}

#[test]
fn long_lines_are_no_danger() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    // The line has a hundred thousand points on a spiral, so no two of its segments cross.
    client.query("set @points = 100000").expect("a number is kept");
    client.query("set cte_max_recursion_depth = 200000").expect("a number is kept");
    let spiral = "with recursive n (i) as (select 1 union all select i + 1 from n where i < @points) \
                  select concat('linestring(', group_concat(concat(i * cos(i / 50), ' ', i * sin(i / 50)) order by i), ')') \
                  into @line from n";
    client.query("set group_concat_max_len = 50000000").expect("a number is kept");
    client.query(spiral).expect("a text is made");
    for (call, wanted) in [
        ("st_issimple(st_geomfromtext(@line))", "1"),
        ("st_isvalid(st_geomfromtext(@line))", "1"),
        ("st_numpoints(st_geomfromtext(@line)) = @points", "1"),
        ("st_geometrytype(st_convexhull(st_geomfromtext(@line)))", "POLYGON"),
        ("st_numpoints(st_simplify(st_geomfromtext(@line), 1e6))", "2"),
        ("st_intersects(st_geomfromtext(@line), point(0, 1e7))", "0"),
    ] {
        let result =
            client.query(&format!("select {call}")).unwrap_or_else(|error| panic!("{call}: {error}"));
        assert_eq!(result.rows[0][0].as_deref(), Some(wanted.as_bytes()), "{call}");
    }
}
