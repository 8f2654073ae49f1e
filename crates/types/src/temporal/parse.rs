//! Dates and times from text and numbers, by MySQL's rules (manual, "Date and Time Literals"): relaxed delimiters,
//! undelimited digits, two-digit years, fractions rounded by the caller.

use super::{Date, DateTime, Time, days_in_month};

/// A value read from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// What was read.
    pub value: T,
    /// Something that is no part of a date or time followed it (a warning, 1292 for DATETIME, 1265 for DATE).
    pub trailing_garbage: bool,
    /// The text had a time part.
    pub has_time: bool,
    /// Seconds east of UTC, where the text ended in `+hh:mm` or `-hh:mm`.
    pub offset_seconds: Option<i32>,
}

/// A reader over the text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    fn peek_is_digit(&self) -> bool {
        self.peek().is_some_and(|b| b.is_ascii_digit())
    }
    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }
    /// Up to `most` digits; None without any.
    fn digits(&mut self, most: usize) -> Option<(u32, usize)> {
        let start = self.at;
        let mut value = 0u32;
        while self.at - start < most && self.peek_is_digit() {
            value = value.saturating_mul(10).saturating_add(u32::from(self.text[self.at] - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some((value, self.at - start))
    }
    fn skip_if(&mut self, accept: impl Fn(u8) -> bool) -> bool {
        let yes = self.peek().is_some_and(accept);
        self.at += usize::from(yes);
        yes
    }
    /// The digits after a point, rounded to microseconds; 1_000_000 if they round up to a second.
    fn fraction(&mut self) -> u32 {
        let (mut micros, mut digits) = (0u32, 0);
        while digits < 6 && self.peek_is_digit() {
            micros = micros * 10 + u32::from(self.text[self.at] - b'0');
            digits += 1;
            self.at += 1;
        }
        micros *= 10u32.pow(6 - digits);
        if digits == 6 && self.peek().is_some_and(|b| (b'5'..=b'9').contains(&b)) {
            micros += 1;
        }
        while self.peek_is_digit() {
            self.at += 1;
        }
        micros
    }
}

/// A year of two digits is 1970 to 2069.
pub fn expand_year(year: u16) -> u16 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// Reads a DATETIME (or DATE) from text. None if the text is no date at all or one that does not exist.
pub fn datetime(text: &[u8]) -> Option<Parsed<DateTime>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    if !cursor.peek_is_digit() {
        return None;
    }
    let run = text[cursor.at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let after = text.get(cursor.at + run).copied();
    let undelimited =
        run > 4 || (matches!(after, None | Some(b'.')) && run > 2) || (after == Some(b'T') && run >= 6);
    let (parts, has_time) =
        if undelimited { undelimited_parts(&mut cursor, run)? } else { delimited_parts(&mut cursor)? };
    let mut micros = 0;
    if has_time && cursor.peek() == Some(b'.') {
        cursor.at += 1;
        micros = cursor.fraction();
    }
    let offset_seconds = if has_time { zone_offset(&mut cursor) } else { None };
    cursor.skip_spaces();
    let [year, month, day, hour, minute, second] = parts;
    if hour > 23 || minute > 59 || second > 59 || month > 12 || day > 31 {
        return None;
    }
    let date = Date::new(year as u16, month as u8, day as u8)?;
    let mut value = DateTime { date, hour: hour as u8, minute: minute as u8, second: second as u8, micros };
    if micros == super::MICROS_PER_SECOND {
        value.micros = 0;
        value = DateTime::from_micros(value.to_micros() + i64::from(super::MICROS_PER_SECOND))?;
    }
    Some(Parsed { value, trailing_garbage: cursor.at < text.len(), has_time, offset_seconds })
}

/// YYYYMMDD, YYMMDD and with HHMMSS after them.
fn undelimited_parts(cursor: &mut Cursor<'_>, run: usize) -> Option<([u32; 6], bool)> {
    if run < 5 {
        return None; // year, month and day are the least
    }
    let mut parts = [0; 6];
    let year_digits = if run == 8 || run >= 14 { 4 } else { 2 };
    let mut left = run.min(14);
    for (i, part) in parts.iter_mut().enumerate() {
        let width = if i == 0 { year_digits } else { 2 };
        if left == 0 {
            break;
        }
        let (value, used) = cursor.digits(width.min(left))?;
        *part = value;
        left -= used;
    }
    if year_digits == 2 {
        parts[0] = u32::from(expand_year(parts[0] as u16));
    }
    let mut has_time = run > 8 || (year_digits == 2 && run > 6);
    // 20240102T030405: a time after an undelimited date.
    if !has_time
        && (cursor.peek() == Some(b'T') || cursor.peek() == Some(b' '))
        && cursor.text.len() > cursor.at + 1
    {
        let mark = cursor.at;
        cursor.at += 1;
        cursor.skip_spaces();
        if let Some(time) = time_of_day(cursor) {
            parts[3..].copy_from_slice(&time);
            has_time = true;
        } else {
            cursor.at = mark;
        }
    }
    Some((parts, has_time))
}

/// hh[:mm[:ss]] with any punctuation, or hhmmss.
fn time_of_day(cursor: &mut Cursor<'_>) -> Option<[u32; 3]> {
    let mut time = [0; 3];
    time[0] = cursor.digits(2)?.0;
    for part in &mut time[1..] {
        let mark = cursor.at;
        if !cursor.peek_is_digit()
            && !cursor.skip_if(|b| b.is_ascii_punctuation() && b != b'.' && b != b'+' && b != b'-')
        {
            break;
        }
        match cursor.digits(2) {
            Some((value, _)) => *part = value,
            None => {
                cursor.at = mark;
                break;
            }
        }
    }
    Some(time)
}

fn delimited_parts(cursor: &mut Cursor<'_>) -> Option<([u32; 6], bool)> {
    let mut parts = [0; 6];
    let (year, year_digits) = cursor.digits(4)?;
    parts[0] = if year_digits <= 2 { u32::from(expand_year(year as u16)) } else { year };
    for part in &mut parts[1..3] {
        let mut any = false;
        while cursor.skip_if(|b| b.is_ascii_punctuation()) {
            any = true;
        }
        if !any {
            return None;
        }
        *part = cursor.digits(2)?.0;
    }
    if year_digits <= 2 && year == 0 && parts[1] == 0 && parts[2] == 0 {
        parts[0] = 0; // '00-00-00' is the zero date
    }
    let mark = cursor.at;
    let mut separated = cursor.skip_if(|b| b == b'T');
    while cursor.skip_if(|b| b.is_ascii_whitespace()) {
        separated = true;
    }
    if separated && let Some(time) = time_of_day(cursor) {
        parts[3..].copy_from_slice(&time);
        return Some((parts, true));
    }
    cursor.at = mark;
    Some((parts, false))
}

fn zone_offset(cursor: &mut Cursor<'_>) -> Option<i32> {
    let rest = cursor.text.get(cursor.at..cursor.at + 6)?;
    let digit = |i: usize| rest[i].is_ascii_digit().then(|| i32::from(rest[i] - b'0'));
    if !matches!(rest[0], b'+' | b'-') || rest[3] != b':' {
        return None;
    }
    let (hours, minutes) = (digit(1)? * 10 + digit(2)?, digit(4)? * 10 + digit(5)?);
    let total = hours * 3600 + minutes * 60;
    if hours > 14 || minutes > 59 || total > 14 * 3600 {
        return None;
    }
    cursor.at += 6;
    Some(if rest[0] == b'-' { -total } else { total })
}

/// Reads a TIME from text: `[-][days ]hh:mm:ss[.f]`, `hh:mm`, `hhmmss`, `ss`, or a whole DATETIME whose time part is
/// taken. None if it is none of these; hours over 838 are clipped (`out_of_range` is then for the caller: compare
/// with [`Time::largest`]).
pub fn time(text: &[u8]) -> Option<Parsed<TimeRead>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    let negative = cursor.skip_if(|b| b == b'-');
    if !negative {
        cursor.skip_if(|b| b == b'+');
    }
    if !negative && looks_like_datetime(&text[cursor.at..]) {
        let parsed = datetime(text)?;
        let value = TimeRead { time: parsed.value.time(), out_of_range: false };
        return Some(Parsed {
            value,
            trailing_garbage: parsed.trailing_garbage,
            has_time: true,
            offset_seconds: None,
        });
    }
    let (first, digits) = match cursor.digits(10) {
        Some(found) => found,
        None if cursor.peek() == Some(b'.') => (0, 0),
        None => return None,
    };
    let (hours, minutes, seconds) = time_parts(&mut cursor, first, digits)?;
    let mut micros = 0;
    if cursor.skip_if(|b| b == b'.') {
        micros = cursor.fraction();
    }
    cursor.skip_spaces();
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let total = i64::from(hours) * 3600 + i64::from(minutes * 60 + seconds);
    let total = total * i64::from(super::MICROS_PER_SECOND) + i64::from(micros);
    let limit = Time::largest(false).to_micros();
    let time = Time::from_micros(total.min(limit)).map(|t| Time { negative: negative && total != 0, ..t })?;
    let value = TimeRead { time, out_of_range: total > limit };
    Some(Parsed { value, trailing_garbage: cursor.at < text.len(), has_time: true, offset_seconds: None })
}

/// A TIME read from text or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRead {
    /// The time, clipped to TIME's range.
    pub time: Time,
    /// It had to be clipped (error 1264 or its warning).
    pub out_of_range: bool,
}

fn looks_like_datetime(text: &[u8]) -> bool {
    let run = text.iter().take_while(|b| b.is_ascii_digit()).count();
    match text.get(run) {
        Some(b'-' | b'/') => true,
        Some(b'T') => run >= 6,
        _ => run >= 12,
    }
}

/// Hours, minutes and seconds after the first run of digits has been read.
fn time_parts(cursor: &mut Cursor<'_>, first: u32, digits: usize) -> Option<(u32, u32, u32)> {
    if digits > 0 && cursor.peek() == Some(b' ') {
        let mark = cursor.at;
        cursor.skip_spaces();
        if let Some((hours, _)) = cursor.digits(4) {
            let (minutes, seconds) = colon_parts(cursor);
            return Some((first.min(40).saturating_mul(24).saturating_add(hours), minutes, seconds));
        }
        cursor.at = mark;
    }
    if cursor.peek() == Some(b':') {
        let (minutes, seconds) = colon_parts(cursor);
        return Some((first.min(10_000), minutes, seconds));
    }
    Some(((first / 10_000).min(10_000), first / 100 % 100, first % 100))
}

fn colon_parts(cursor: &mut Cursor<'_>) -> (u32, u32) {
    let mut parts = [0; 2];
    for part in &mut parts {
        let mark = cursor.at;
        match cursor.skip_if(|b| b == b':').then(|| cursor.digits(2)).flatten() {
            Some((value, _)) => *part = value,
            None => {
                cursor.at = mark;
                break;
            }
        }
    }
    (parts[0], parts[1])
}

/// A DATETIME from a number: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss. None if it is none.
pub fn datetime_from_number(number: u64) -> Option<DateTime> {
    let full = match number {
        0 => return Some(DateTime::default()),
        1..=100 => return None,
        101..=691_231 => (number + 20_000_000) * 1_000_000,
        691_232..=700_100 => return None,
        700_101..=991_231 => (number + 19_000_000) * 1_000_000,
        991_232..=10_000_100 => return None,
        10_000_101..=99_991_231 => number * 1_000_000,
        99_991_232..=101_000_000 => return None,
        101_000_001..=691_231_235_959 => number + 20_000_000_000_000,
        691_231_235_960..=700_101_000_000 => return None,
        700_101_000_001..=991_231_235_959 => number + 19_000_000_000_000,
        _ => number,
    };
    let (date, time) = (full / 1_000_000, full % 1_000_000);
    let (hour, minute, second) = ((time / 10_000) as u8, (time / 100 % 100) as u8, (time % 100) as u8);
    let (month, day) = ((date / 100 % 100) as u8, (date % 100) as u8);
    if hour > 23
        || minute > 59
        || second > 59
        || month > 12
        || day > days_in_month((date / 10_000) as u16, month)
    {
        return None;
    }
    let date = Date::new(u16::try_from(date / 10_000).ok()?, month, day)?;
    Some(DateTime { date, hour, minute, second, micros: 0 })
}

/// A TIME from a number hhmmss, clipped. None if minutes or seconds are over 59.
pub fn time_from_number(number: i64) -> Option<TimeRead> {
    let magnitude = number.unsigned_abs();
    if magnitude > 8_385_959 {
        if magnitude >= 10_000_000_000 {
            let at = datetime_from_number(magnitude)?;
            return Some(TimeRead { time: at.time(), out_of_range: false });
        }
        return Some(TimeRead { time: Time::largest(number < 0), out_of_range: true });
    }
    let (minutes, seconds) = ((magnitude / 100 % 100) as u8, (magnitude % 100) as u8);
    let time = Time::new(number < 0, (magnitude / 10_000) as u16, minutes, seconds, 0)?;
    Some(TimeRead { time, out_of_range: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dt(text: &str) -> Option<String> {
        datetime(text.as_bytes()).map(|p| p.value.to_string())
    }

    #[test]
    fn datetimes() {
        for (text, expected) in [
            ("2024-01-02 03:04:05", "2024-01-02 03:04:05"),
            ("2024-1-2 3:4:5.6", "2024-01-02 03:04:05.600000"),
            ("2024/01/02", "2024-01-02 00:00:00"),
            ("20240102030405", "2024-01-02 03:04:05"),
            ("20240102", "2024-01-02 00:00:00"),
            ("240102", "2024-01-02 00:00:00"),
            ("700102", "1970-01-02 00:00:00"),
            ("99-12-31", "1999-12-31 00:00:00"),
            ("2024-01-02T03:04:05.0000005", "2024-01-02 03:04:05.000001"),
            ("20240102T030405", "2024-01-02 03:04:05"),
            ("0000-00-00 00:00:00", "0000-00-00 00:00:00"),
            ("2024-02-29", "2024-02-29 00:00:00"),
            ("2023-12-31 23:59:59.9999999", "2024-01-01 00:00:00"),
        ] {
            assert_eq!(dt(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "abc", "2023-02-29", "2024-13-01", "2024-01-01 24:00:00", "2024", "2024-01"] {
            assert_eq!(dt(text), None, "{text}");
        }
        assert!(datetime(b"2024-01-02x").unwrap().trailing_garbage);
        assert_eq!(datetime(b"2024-01-02 10:00:00+05:30").unwrap().offset_seconds, Some(19_800));
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("11:12", "11:12:00"),
            ("1112", "00:11:12"),
            ("12", "00:00:12"),
            ("-1 02:03:04", "-26:03:04"),
            ("101112.5", "10:11:12.500000"),
            ("900:00:00", "838:59:59"),
            ("2024-01-02 03:04:05", "03:04:05"),
        ] {
            assert_eq!(
                time(text.as_bytes()).map(|p| p.value.time.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        assert!(time(b"900:00:00").unwrap().value.out_of_range);
        assert!(time(b"10:99:00").is_none() && time(b"x").is_none());
        assert_eq!(time_from_number(-101112).unwrap().time.to_string(), "-10:11:12");
        assert_eq!(datetime_from_number(20240102030405).unwrap().to_string(), "2024-01-02 03:04:05");
        assert!(datetime_from_number(20240230).is_none());
    }
}
