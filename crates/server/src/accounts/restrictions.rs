//! Partial revokes in the form of `mysql.user.User_attributes`: `{"Restrictions": [{"Database":
//! "d1", "Privileges": ["SELECT", "INSERT"]}]}`.

use super::Privileges;
use std::collections::BTreeMap;

/// Returns the JSON document. `None` means that nothing is restricted.
pub fn to_json(restrictions: &BTreeMap<String, Privileges>) -> Option<String> {
    if restrictions.is_empty() {
        return None;
    }
    let one = |(schema, set): (&String, &Privileges)| {
        let names: Vec<String> = set.names().into_iter().map(quoted).collect();
        format!(r#"{{"Database": {}, "Privileges": [{}]}}"#, quoted(schema), names.join(", "))
    };
    let list: Vec<String> = restrictions.iter().map(one).collect();
    Some(format!(r#"{{"Restrictions": [{}]}}"#, list.join(", ")))
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads the restrictions in a document that has the form in which JSON columns are printed. Parts
/// of another form count as no restriction.
pub fn read(json: &str) -> BTreeMap<String, Privileges> {
    let mut found = BTreeMap::new();
    let Some((_, mut rest)) = json.split_once(r#""Restrictions": ["#) else { return found };
    while let Some(behind) = rest.trim_start_matches([',', ' ']).strip_prefix(r#"{"Database": "#) {
        let Some((schema, behind)) = string(behind) else { break };
        let Some(mut behind) = behind.strip_prefix(r#", "Privileges": ["#) else { break };
        let mut set = Privileges::NONE;
        while let Some((name, more)) = string(behind.trim_start_matches([',', ' '])) {
            set = set.with(Privileges::named(&name).unwrap_or_default());
            behind = more;
        }
        found.insert(schema, set);
        let Some(more) = behind.strip_prefix("]}") else { break };
        rest = more;
    }
    found.retain(|_, set: &mut Privileges| !set.is_empty());
    found
}

/// Reads a JSON string at the start of a text, and returns it and the rest.
fn string(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let body = text.strip_prefix('"')?;
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &body[at + 1..])),
            '\\' => match chars.next()?.1 {
                'u' => {
                    let digits: String = (0..4).filter_map(|_| chars.next().map(|(_, c)| c)).collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restrictions_are_read_as_they_are_written() {
        let set = Privileges::named("SELECT").unwrap().with(Privileges::named("INSERT").unwrap());
        let both = BTreeMap::from([("d1".to_owned(), set), ("a\"b\\\u{1}ü".to_owned(), set)]);
        assert_eq!(read(&to_json(&both).unwrap()), both);
        let one = BTreeMap::from([("d1".to_owned(), set)]);
        let written = r#"{"Restrictions": [{"Database": "d1", "Privileges": ["SELECT", "INSERT"]}]}"#;
        assert_eq!(to_json(&one).as_deref(), Some(written));
        assert_eq!(to_json(&BTreeMap::new()), None);
        assert_eq!(read(r#"{"Restrictions": [{"Database": "d1"#), BTreeMap::new());
        assert_eq!(read(""), BTreeMap::new());
    }
}
