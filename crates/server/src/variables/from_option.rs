//! Conversion of the text of an option to a setting, with mysqld's errors and notes.

use super::{Definition, Kind, Setting};
use std::fmt;

/// The error of an option's value, as mysqld words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadValue(pub String);

impl Definition {
    /// Returns the default as a setting.
    pub fn default_setting(&self) -> Setting {
        match self.from_option(Some(self.default)) {
            Ok((setting, None)) => setting,
            other => panic!("the default of {} is not in its range: {other:?}", self.name),
        }
    }

    /// Converts the text of an option to a setting; `None` is an option without `=value`. A value
    /// out of range is moved into the range, and the second part of the result is a note that says
    /// so.
    pub fn from_option(&self, text: Option<&str>) -> Result<(Setting, Option<String>), BadValue> {
        let name = self.name;
        let Some(text) = text else {
            return match self.kind {
                Kind::Bool => Ok((Setting::Bool(true), None)),
                Kind::Enum(words) if word_index(words, "ON").is_some() => {
                    Ok((Setting::Text("ON".into()), None))
                }
                _ => Err(BadValue(format!("option '--{}' requires an argument", name.replace('_', "-")))),
            };
        };
        match self.kind {
            Kind::Bool => parse_bool(text).map(|v| (Setting::Bool(v), None)).ok_or_else(|| {
                BadValue(format!("option '{name}': boolean value '{text}' was not recognized"))
            }),
            Kind::Text => Ok((Setting::Text(text.to_owned()), None)),
            Kind::Collation(names) => names
                .iter()
                .find(|name| name.eq_ignore_ascii_case(text))
                .map(|name| (Setting::Text((*name).to_owned()), None))
                .ok_or_else(|| BadValue(format!("Error while setting value '{text}' to '{name}'"))),
            Kind::Enum(words) => word_index(words, text)
                .or_else(|| text.parse().ok().filter(|&i: &usize| i < words.len()))
                .map(|i| (Setting::Text(words[i].to_owned()), None))
                .ok_or_else(|| BadValue(format!("Error while setting value '{text}' to '{name}'"))),
            Kind::Double(..) => {
                let v = text
                    .parse()
                    .map_err(|_| BadValue(format!("Invalid decimal value for option '{name}'")))?;
                let (setting, moved) = self.fit_double(v);
                Ok((setting, moved.then(|| self.adjusted("value", text, &v))))
            }
            Kind::Int(..) | Kind::UInt(..) => {
                let v = parse_size(name, text)?;
                let (setting, moved) = self.fit_int(v);
                let sign = if matches!(self.kind, Kind::Int(..)) { "signed value" } else { "unsigned value" };
                let note = moved.then(|| self.adjusted(sign, text, &setting));
                Ok((setting, note))
            }
        }
    }

    fn adjusted(&self, what: &str, text: &str, to: &dyn fmt::Display) -> String {
        format!("option '{}': {what} {text} adjusted to {to}", self.name)
    }

    /// Moves an integer into the range and rounds it down to a multiple of the block. The second
    /// part of the result is true when that changed the number.
    pub fn fit_int(&self, v: i128) -> (Setting, bool) {
        match self.kind {
            Kind::Int(min, max) => {
                let fit = v.clamp(min.into(), max.into());
                (Setting::Int(fit as i64), fit != v)
            }
            Kind::UInt(min, max) => {
                let fit = v.clamp(min.into(), max.into());
                let fit = (fit - fit % i128::from(self.block)).max(min.into());
                (Setting::UInt(fit as u64), fit != v)
            }
            _ => panic!("{} is no integer", self.name),
        }
    }

    /// Moves a number into the range. The second part of the result is true when that changed it.
    pub fn fit_double(&self, v: f64) -> (Setting, bool) {
        let Kind::Double(min, max) = self.kind else { panic!("{} is no double", self.name) };
        let fit = if v.is_nan() { min } else { v.clamp(min, max) };
        (Setting::Double(fit), fit != v)
    }
}

/// Returns the index of a word, in any letter case.
pub fn word_index(words: &[&str], text: &str) -> Option<usize> {
    words.iter().position(|w| w.eq_ignore_ascii_case(text))
}

/// Parses a boolean by the rules of mysqld's options and of SET.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_uppercase().as_str() {
        "ON" | "TRUE" | "1" | "YES" => Some(true),
        "OFF" | "FALSE" | "0" | "NO" => Some(false),
        _ => None,
    }
}

/// Parses a number with one of the suffixes K, M, G, T, P, E, or without one.
fn parse_size(name: &str, text: &str) -> Result<i128, BadValue> {
    let digits = text.len()
        - text.trim_start_matches(['-', '+']).trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    let shift = match suffix {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        "p" | "P" => 50,
        "e" | "E" => 60,
        _ => {
            let message = format!("Unknown suffix '{suffix}' used for variable '{name}' (value '{text}').");
            return Err(BadValue(message));
        }
    };
    let number: i64 = match number.parse::<i64>() {
        Ok(number) => number,
        Err(_) if number.parse::<u64>().is_ok() && shift == 0 => {
            return Ok(number.parse::<u64>().unwrap_or(0).into());
        }
        Err(_) => return Err(BadValue(format!("Error while setting value '{text}' to '{name}'"))),
    };
    Ok(i128::from(number) << shift)
}

#[cfg(test)]
mod tests {
    use super::super::definition::global;
    use super::*;

    #[test]
    fn numbers_take_suffixes_and_are_moved_into_the_range() {
        let pool = global("innodb_buffer_pool_size", Kind::UInt(5_242_880, u64::MAX), "128M");
        let of = |text| pool.from_option(Some(text));
        assert_eq!(of("2g"), Ok((Setting::UInt(2 << 30), None)));
        assert_eq!(of("18446744073709551615"), Ok((Setting::UInt(u64::MAX), None)));
        let (setting, note) = of("1").unwrap();
        assert_eq!(setting, Setting::UInt(5_242_880));
        assert_eq!(note.unwrap(), "option 'innodb_buffer_pool_size': unsigned value 1 adjusted to 5242880");
        assert!(of("12x").unwrap_err().0.contains("Unknown suffix 'x'"));
        assert!(of("").is_err());
        assert!(of("99999999999999999999").is_err());
        assert!(pool.from_option(None).is_err());
        let packet = global("max_allowed_packet", Kind::UInt(1024, 1 << 30), "1024").block(1024);
        assert_eq!(packet.from_option(Some("2047")).unwrap().0, Setting::UInt(1024));
    }

    #[test]
    fn booleans_and_words_are_read_in_any_case() {
        let flag = global("read_only", Kind::Bool, "OFF");
        assert_eq!(flag.from_option(None), Ok((Setting::Bool(true), None)));
        assert_eq!(flag.from_option(Some("off")), Ok((Setting::Bool(false), None)));
        assert!(flag.from_option(Some("2")).is_err());
        let image = global("binlog_row_image", Kind::Enum(&["MINIMAL", "FULL"]), "FULL");
        assert_eq!(image.from_option(Some("minimal")), Ok((Setting::Text("MINIMAL".into()), None)));
        assert_eq!(image.from_option(Some("1")), Ok((Setting::Text("FULL".into()), None)));
        assert!(image.from_option(Some("2")).is_err());
    }
}
