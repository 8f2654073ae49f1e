//! SPATIAL indexes beside the real MySQL: random conditions on geometries find the same rows, while
//! rows change and indexes come and go, and EXPLAIN says which index is read.

use bench::instance::Settings;
use os::random::{Rng, test_seed};
use testkit::answers::{answer, same_answers};
use testkit::server::same_as_mysql;

const TABLE: &str = "create table g (id int primary key, n int, p point not null srid 0, q geometry not null srid 0, \
                     w geometry not null srid 3857, spatial key p (p), spatial key q (q), spatial key w (w), key (n))";

/// Most coordinates are in a small square, so that geometries meet; some are far away or close to
/// each other.
fn coordinate(rng: &mut Rng) -> String {
    match rng.below(12) {
        0 => (rng.below(2_000_000) as f64 - 1e6).to_string(),
        1 => (rng.below(1000) as f64 / 1e7).to_string(),
        2 => ((rng.below(1000) as f64 - 500.0) / 8.0).to_string(),
        _ => (rng.below(20) as i64 - 10).to_string(),
    }
}

fn point(rng: &mut Rng) -> String {
    format!("{} {}", coordinate(rng), coordinate(rng))
}

fn rectangle(rng: &mut Rng) -> String {
    let (x, y) = (rng.below(20) as i64 - 10, rng.below(20) as i64 - 10);
    let (right, high) = (x + 1 + rng.below(6) as i64, y + 1 + rng.below(6) as i64);
    format!("POLYGON(({x} {y},{right} {y},{right} {high},{x} {high},{x} {y}))")
}

fn shape(rng: &mut Rng) -> String {
    match rng.below(5) {
        0 => format!("POINT({})", point(rng)),
        1 => format!("LINESTRING({},{})", point(rng), point(rng)),
        2 => format!("MULTIPOINT(({}),({}))", point(rng), point(rng)),
        _ => rectangle(rng),
    }
}

fn row(rng: &mut Rng, id: u64) -> String {
    let (p, q, w) = (point(rng), shape(rng), shape(rng));
    format!(
        "({id}, {}, st_geomfromtext('POINT({p})'), st_geomfromtext('{q}'), st_geomfromtext('{w}', 3857))",
        rng.below(5)
    )
}

fn condition(rng: &mut Rng, table: &str) -> String {
    const BOXES: [&str; 8] = [
        "mbrcontains",
        "mbrwithin",
        "mbrintersects",
        "mbrequals",
        "mbroverlaps",
        "mbrtouches",
        "mbrcovers",
        "mbrcoveredby",
    ];
    const RELATIONS: [&str; 5] = ["st_contains", "st_within", "st_intersects", "st_equals", "st_touches"];
    let (column, srid) = match rng.below(3) {
        0 => ("p", ""),
        1 => ("q", ""),
        _ => ("w", ", 3857"),
    };
    let of_boxes = rng.one_in(2);
    let function = match of_boxes {
        true => BOXES[rng.below(8) as usize],
        false => RELATIONS[rng.below(5) as usize],
    };
    let other = match rng.below(4) {
        0 => shape(rng),
        _ => rectangle(rng),
    };
    let (own, other) = (format!("{table}{column}"), format!("st_geomfromtext('{other}'{srid})"));
    match rng.one_in(2) {
        true => format!("{function}({own}, {other})"),
        false => format!("{function}({other}, {own})"),
    }
}

fn statement(rng: &mut Rng) -> String {
    let (one, id) = (condition(rng, ""), rng.below(300));
    match rng.below(12) {
        0 => format!("update g set n = n + 1, p = st_geomfromtext('POINT({})') where {one}", point(rng)),
        1 => format!("update g set q = st_geomfromtext('{}') where id = {id}", shape(rng)),
        2 => format!("delete from g where {one} and n = {}", rng.below(5)),
        3 => format!("replace into g values {}", row(rng, id)),
        4 => format!("select id from g where {one} and {} order by id", condition(rng, "")),
        5 => format!("select id from g where {one} or {} order by id", condition(rng, "")),
        6 => format!("select id from g where {one} and n < 3 order by id desc limit 5"),
        7 => format!("select count(*), sum(id) from g where not {one}"),
        _ => format!("select id from g where {one} order by id"),
    }
}

#[test]
fn random_conditions_find_what_mysqls_do() {
    let mut rng = Rng::new(test_seed("random_conditions_find_what_mysqls_do"));
    let mut statements = vec!["create database d".to_owned(), "use d".to_owned(), TABLE.to_owned()];
    let rows: Vec<String> = (0..300).map(|id| row(&mut rng, id)).collect();
    statements.push(format!("insert into g values {}", rows.join(", ")));
    for alter in [
        "",
        "alter table g drop key q, add key (id)",
        "alter table g add spatial key q (q)",
        "alter table g rename index p to x, rename column n to m",
        "alter table g rename column m to n, alter index w invisible",
        "alter table g engine = innodb, alter index w visible",
    ] {
        statements.extend(Some(alter.to_owned()).filter(|alter| !alter.is_empty()));
        statements.extend((0..60).map(|_| statement(&mut rng)));
    }
    statements.push("check table g".to_owned());
    let answers = same_as_mysql("spatial_conditions", &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| answer(&mut client, statement)).collect::<Vec<_>>()
    });
    let found = answers.iter().filter(|answer| answer.starts_with("select id") && answer.len() > 150).count();
    assert!(found > 30, "{answers:#?}");
}

#[test]
fn joins_and_texts_of_plans_are_mysqls() {
    let area = "st_geomfromtext('POLYGON((1 1,3 1,3 3,1 3,1 1))')";
    let number = "with recursive n as (select 1 i union all select i + 1 from n where i < 900) select i";
    let fill = format!(
        "insert into g {number}, i % 5, point(i % 30, i div 30), st_buffer(point(i % 30, i div 30), 0.1), \
         st_srid(point(i, i), 3857) from n"
    );
    let joined = "select count(*), sum(a.id), sum(b.id) from g a join g b on st_contains(a.q, b.p)";
    let explained = |what: &str| format!("explain format=tree {what}");
    let statements = [
        "create database d".to_owned(),
        "use d".to_owned(),
        TABLE.to_owned(),
        fill,
        "analyze table g".to_owned(),
        joined.to_owned(),
        format!("{joined} where a.id < 20"),
        format!("select id from g where mbrcontains({area}, p) order by id"),
        format!("select id from g ignore index (p) where mbrcontains({area}, p) order by id"),
        format!(
            "select id from g where st_contains({area}, p) and st_intersects(q, point(2, 2)) order by id"
        ),
        "select id from g where st_equals(w, st_srid(point(7, 7), 3857))".to_owned(),
        "select id from g where st_equals(w, point(7, 7))".to_owned(),
        "select id from g where st_intersects(q, null)".to_owned(),
        "select id from g where st_equals(q, st_geomfromtext('GEOMETRYCOLLECTION EMPTY'))".to_owned(),
        "insert into g values (5000, 0, point(0, 0), st_geomfromtext('GEOMETRYCOLLECTION EMPTY'), \
         st_srid(point(1, 2), 3857))"
            .to_owned(),
        "select id from g where st_equals(q, st_geomfromtext('GEOMETRYCOLLECTION EMPTY'))".to_owned(),
    ];
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let answers = same_answers("spatial_joins", &statements);
    assert!(answers.iter().any(|answer| answer.contains("3643")), "{answers:#?}");
    // The costs differ, and so do the ways in which constants are written.
    let server = testkit::Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    for statement in &statements[..5] {
        answer(&mut client, statement);
    }
    let plan = answer(&mut client, &explained(&format!("select id from g where mbrcontains({area}, p)")));
    assert!(plan.contains("Index range scan on g using p over (p unprintable_geometry_value)"), "{plan}");
    let plan = answer(
        &mut client,
        &format!("explain format=traditional select id from g where st_intersects({area}, q)"),
    );
    assert!(plan.contains(",range,q,q,"), "{plan}");
    let plan = answer(&mut client, &explained(&format!("{joined} where a.id < 20")));
    assert!(plan.contains("Index range scan on b using p over (p unprintable_geometry_value)"), "{plan}");
}

/// A locking read keeps others from inserting what it would have found.
#[test]
fn what_a_locking_read_finds_stays_the_same() {
    let area = "st_geomfromtext('POLYGON((1 1,3 1,3 3,1 3,1 1))')";
    let answers = same_as_mysql("spatial_locks", &Settings::default(), |server| {
        let (mut reader, mut writer) = (server.connect(), server.connect());
        let mut answers = Vec::new();
        for statement in [
            "create database d",
            "create table d.g (id int primary key auto_increment, p point not null srid 0, spatial key p (p))",
            "insert into d.g (p) with recursive n as (select 1 i union all select i + 1 from n where i < 900) \
             select point(100 + i, 100 + i) from n",
            "insert into d.g (p) values (point(2, 2))",
            "analyze table d.g",
            "begin",
        ] {
            answers.push(answer(&mut reader, statement));
        }
        let read = format!("select id from d.g where mbrcontains({area}, p) for update");
        answers.push(answer(&mut reader, &read));
        answers.push(answer(&mut writer, "set innodb_lock_wait_timeout = 1"));
        answers.push(answer(&mut writer, "insert into d.g (id, p) values (2000, point(2, 2.5))"));
        answers.push(answer(&mut reader, &read));
        answers.push(answer(&mut reader, "commit"));
        answers
    });
    assert!(answers.iter().any(|answer| answer.contains("1205")), "{answers:#?}");
}

const GLOBE_TABLE: &str = "create table e (id int primary key, n int, p point not null srid 4326, \
                           q geometry not null srid 4326, spatial key p (p), spatial key q (q))";

/// The latitude and the longitude of a point in the north, most often on a lattice in the Alps.
fn on_globe(rng: &mut Rng) -> [f64; 2] {
    match rng.below(10) {
        0 => [rng.below(800) as f64 / 10.0 + 1.0, rng.below(3000) as f64 / 10.0 - 150.0],
        1 => [46.0 + rng.below(100_000) as f64 / 1e6, 10.0 + rng.below(100_000) as f64 / 1e6],
        _ => [40.0 + rng.below(20) as f64 / 2.0, 5.0 + rng.below(20) as f64 / 2.0],
    }
}

/// Returns a shape whose corners are this far from those of the lattice.
fn shape_on_globe(rng: &mut Rng, aside: f64) -> String {
    let text = |[latitude, longitude]: [f64; 2]| format!("{latitude} {longitude}");
    let from = on_globe(rng).map(|number| number + aside);
    // What is wider than a cap of 80 degrees around both shapes is refused here.
    let mut near = |number: f64, most: f64| (number + rng.below(21) as f64 - 10.0).clamp(-most, most);
    let to = [near(from[0], 80.0), near(from[1], 179.0)];
    match rng.below(6) {
        0 => format!("POINT({})", text(from)),
        1 | 2 => format!("LINESTRING({},{})", text(from), text(to)),
        3 => format!("MULTIPOINT(({}),({}))", text(from), text(to)),
        _ => {
            let [height, width] = [1, 1].map(|least| (least + rng.below(6)) as f64 / 2.0);
            let [south, west] = from;
            let (north, east) = (south + height, west + width);
            format!("POLYGON(({south} {west},{south} {east},{north} {east},{north} {west},{south} {west}))")
        }
    }
}

/// The edges of geometries rise above the box around their ends, so a window has to find rows that
/// are north of it. MySQL's index does not: what it finds without the index is compared.
#[test]
fn conditions_on_the_globe_find_what_mysqls_do() {
    let mut rng = Rng::new(test_seed("conditions_on_the_globe_find_what_mysqls_do"));
    let geometry = |text: &str| format!("st_geomfromtext('{text}', 4326)");
    let mut filled = vec!["create database d".to_owned(), "use d".to_owned(), GLOBE_TABLE.to_owned()];
    let rows: Vec<String> = (0..400)
        .map(|id| {
            let [latitude, longitude] = on_globe(&mut rng);
            let point = geometry(&format!("POINT({latitude} {longitude})"));
            format!("({id}, 0, {point}, {})", geometry(&shape_on_globe(&mut rng, 0.0)))
        })
        .collect();
    filled.push(format!("insert into e values {}", rows.join(", ")));
    filled.push("analyze table e".to_owned());
    let (mut asked, mut statements) = (Vec::new(), filled.clone());
    const FUNCTIONS: [&str; 9] = [
        "st_intersects",
        "st_contains",
        "st_within",
        "st_touches",
        "mbrintersects",
        "mbrcontains",
        "mbrwithin",
        "mbrcovers",
        "mbroverlaps",
    ];
    for at in 0..300 {
        let function = FUNCTIONS[at % FUNCTIONS.len()];
        let column = if rng.one_in(3) { "p" } else { "q" };
        // MySQL's boxes have other last digits at some edges, so boxes must not only touch.
        let aside = if function.starts_with("mbr") { 0.123 } else { 0.0 };
        let mut sides = [column.to_owned(), geometry(&shape_on_globe(&mut rng, aside))];
        if rng.one_in(2) {
            sides.swap(0, 1);
        }
        let condition = format!("{function}({}, {})", sides[0], sides[1]);
        if at % 20 == 0 {
            let moved = geometry(&shape_on_globe(&mut rng, 0.0));
            statements.push(format!("update e set n = n + 1, q = {moved} where id = {at}"));
        }
        asked.push((statements.len(), format!("select id from e where {condition} order by id")));
        statements.push(format!("select id from e ignore index (p, q) where {condition} order by id"));
    }
    let answers = same_as_mysql("spatial_conditions_on_the_globe", &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| answer(&mut client, statement)).collect::<Vec<_>>()
    });
    let server = testkit::Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    let (mut at, mut found) = (0, 0);
    for (place, statement) in &asked {
        for statement in &statements[at..=*place] {
            answer(&mut client, statement);
        }
        at = place + 1;
        let indexed = answer(&mut client, statement);
        let (_, ids) = indexed.rsplit_once(": ").expect("an answer has a colon");
        let (_, wanted) =
            answers.get(*place).and_then(|answer| answer.rsplit_once(": ")).unwrap_or(("", ids));
        assert_eq!(ids, wanted, "{statement}");
        found += usize::from(!ids.is_empty());
    }
    assert!(found > 100, "{found}");
    assert!(answer(&mut client, "check table e").contains("OK"));
    let area = geometry("POLYGON((46 10,46 11,47 11,47 10,46 10))");
    let plan =
        answer(&mut client, &format!("explain format=tree select id from e where st_contains({area}, p)"));
    assert!(plan.contains("Index range scan on e using p over (p unprintable_geometry_value)"), "{plan}");
}
