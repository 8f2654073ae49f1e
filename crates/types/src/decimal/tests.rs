use super::*;

fn dec(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn text_round_trip() {
    for text in ["0", "-1", "0.10", "-0.001", "123456789012345678901234567890.5", &"9".repeat(65)] {
        assert_eq!(dec(text).to_string(), text);
    }
    assert_eq!(dec("1e3").to_string(), "1000");
    assert_eq!(dec("1.25e-2").to_string(), "0.0125");
    assert_eq!(dec("+.5").to_string(), "0.5");
    assert_eq!(dec("-0").to_string(), "0");
    assert!("1e66".parse::<Decimal>().is_err());
    assert!("".parse::<Decimal>().is_err());
    assert!("1x".parse::<Decimal>().is_err());
    let prefix = Decimal::parse_prefix(b" 12.5abc");
    assert_eq!((prefix.number.to_string().as_str(), prefix.len), ("12.5", 5));
}

#[test]
fn rounding_is_half_away_from_zero() {
    for (text, scale, expected) in [
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("2.449", 1, "2.4"),
        ("155", -1, "160"),
        ("0.4", 0, "0"),
        ("-0.4", 0, "0"),
    ] {
        assert_eq!(dec(text).round(scale).to_string(), expected);
    }
    assert_eq!(dec("-1.99").truncate(1).to_string(), "-1.9");
    assert_eq!((dec("-1.5").ceil().to_string(), dec("-1.5").floor().to_string()), ("-1".into(), "-2".into()));
    assert_eq!((dec("1.5").ceil().to_string(), dec("2.0").ceil().to_string()), ("2".into(), "2".into()));
}

#[test]
fn arithmetic() {
    assert_eq!(dec("1.5").add(&dec("-2.25")).unwrap().to_string(), "-0.75");
    assert_eq!(dec("1.5").mul(&dec("-2.25")).unwrap().to_string(), "-3.375");
    // The expected values are those of SELECT 1/3, 10/3.00, -7.5/2.
    assert_eq!(dec("1").div(&dec("3"), 4).unwrap().to_string(), "0.3333");
    assert_eq!(dec("2").div(&dec("3"), 4).unwrap().to_string(), "0.6667");
    assert_eq!(dec("-7.5").div(&dec("2"), 4).unwrap().to_string(), "-3.75000");
    assert!(dec("1").div(&dec("0.00"), 4).is_none());
    assert_eq!(dec("-7.5").rem(&dec("2")).unwrap().to_string(), "-1.5");
    let nines = dec(&"9".repeat(65));
    assert!(nines.add(&dec("1")).is_none());
    assert!(nines.mul(&nines).is_none());
    assert_eq!(nines.sub(&nines).unwrap().to_string(), "0");
    assert_eq!(nines.div(&nines, 4).unwrap().to_string(), "1.0000");
    let third = dec(&format!("0.{}", "3".repeat(30)));
    assert_eq!(third.mul(&third).unwrap().scale(), 30);
}

#[test]
fn conversions() {
    assert_eq!(dec("-9223372036854775808").to_i64(), Some(i64::MIN));
    assert_eq!(dec("9223372036854775808").to_i64(), None);
    assert_eq!(dec("18446744073709551615").to_u64(), Some(u64::MAX));
    assert_eq!(dec("-1").to_u64(), None);
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Decimal::from_f64(-1.5e10).unwrap().to_string(), "-15000000000");
    assert!(Decimal::from_f64(f64::INFINITY).is_none());
    assert_eq!(dec("123.456").to_f64(), 123.456);
}

/// Arithmetic agrees with that of i128, for numbers from a fixed sequence.
#[test]
fn agrees_with_integers() {
    let mut state = 0x9e3779b97f4a7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> (state >> 59)) as i64 >> (state & 31)
    };
    for _ in 0..2000 {
        let (a, b) = (next(), next());
        let (da, db) = (Decimal::from(a), Decimal::from(b));
        assert_eq!(da.add(&db).unwrap().to_string(), (i128::from(a) + i128::from(b)).to_string());
        assert_eq!(da.sub(&db).unwrap().to_string(), (i128::from(a) - i128::from(b)).to_string());
        assert_eq!(da.mul(&db).unwrap().to_string(), (i128::from(a) * i128::from(b)).to_string());
        assert_eq!(da.cmp(&db), a.cmp(&b));
        if b != 0 {
            assert_eq!(da.rem(&db).unwrap().to_string(), (i128::from(a) % i128::from(b)).to_string());
            let whole = da.div(&db, 0).unwrap();
            let (q, r) = (i128::from(a) / i128::from(b), i128::from(a) % i128::from(b));
            let up = 2 * r.abs() >= i128::from(b).abs();
            let sign = if (a < 0) != (b < 0) { -1 } else { 1 };
            assert_eq!(whole.to_string(), (q + if up { sign } else { 0 }).to_string());
        }
    }
}

#[test]
fn order_keys_order_as_the_numbers_do_and_parts_are_all_of_them() {
    let texts = [
        "-99999999999999999999.5",
        "-100",
        "-99.01",
        "-99",
        "-10.5",
        "-10",
        "-1.000001",
        "-1",
        "-0.9",
        "-0.01",
        "-0.001",
        "0",
        "0.00",
        "0.001",
        "0.0010",
        "0.01",
        "0.09",
        "0.1",
        "0.10",
        "0.11",
        "0.9",
        "1",
        "1.0",
        "1.00",
        "1.01",
        "1.1",
        "9.99",
        "10",
        "10.0",
        "10.01",
        "99",
        "100",
        "1000000",
        "1000000.000001",
    ];
    let key = |number: &Decimal| {
        let mut key = Vec::new();
        number.write_order_key(&mut key);
        key
    };
    let mut numbers: Vec<Decimal> = texts.iter().map(|text| dec(text)).collect();
    numbers.extend([Decimal::largest(65, 30), Decimal::largest(65, 0), Decimal::largest(30, 30)]);
    numbers.extend(numbers.clone().iter().map(Decimal::negate));
    for a in &numbers {
        let (magnitude, scale, negative) = a.parts();
        let again = Decimal::from_parts(magnitude, scale, negative).expect("a number's parts");
        assert_eq!((again.to_string(), again.scale()), (a.to_string(), a.scale()));
        for b in &numbers {
            assert_eq!(key(a).cmp(&key(b)), a.cmp(b), "{a} {b}");
            assert!(a == b || !key(a).starts_with(&key(b)), "{a} {b}");
        }
    }
    for (magnitude, scale, negative) in
        [([0, 0, 0, 1 << 24], 0, false), ([1, 0, 0, 0], 39, false), ([0; 4], 0, true)]
    {
        assert!(Decimal::from_parts(magnitude, scale, negative).is_none());
    }
}
