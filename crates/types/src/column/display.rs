//! The description of a column for clients: its name in SQL, and its width.

use super::column_type::{BINARY, ColumnType};
use super::text_form::TextForm;
use super::type_code::TypeCode;

impl ColumnType {
    /// Returns the `column length` of a result set's column definition: MySQL's display width,
    /// which for characters is a number of bytes in utf8mb4.
    pub fn display_length(&self) -> u32 {
        let fraction = |fsp: u16| if fsp == 0 { 0 } else { u32::from(fsp) + 1 };
        if let Some(form) = self.form {
            // A text's characters count with the four bytes that utf8mb4 may need.
            let bytes = if form.text().is_some() { 4 } else { 1 };
            return u32::from(form.width()) * bytes;
        }
        match self.code {
            TypeCode::Tiny if self.meta == 1 => 1,
            TypeCode::Tiny => 4 - u32::from(self.unsigned),
            TypeCode::Short => 6 - u32::from(self.unsigned),
            TypeCode::Int24 => 9 - u32::from(self.unsigned),
            TypeCode::Long => 11 - u32::from(self.unsigned),
            TypeCode::LongLong => 20,
            TypeCode::Float => 12,
            TypeCode::Double => 22,
            TypeCode::Year => 4,
            TypeCode::Null => 0,
            TypeCode::Bit => u32::from(self.meta),
            TypeCode::Date => 10,
            TypeCode::Time | TypeCode::Time2 => 10 + fraction(self.meta),
            TypeCode::Datetime | TypeCode::Timestamp => 19,
            TypeCode::Datetime2 | TypeCode::Timestamp2 => 19 + fraction(self.meta),
            TypeCode::NewDecimal => {
                u32::from(self.precision()) + u32::from(self.scale() > 0) + u32::from(!self.unsigned)
            }
            TypeCode::Varchar | TypeCode::String | TypeCode::VarcharCompressed
                if self.collation != BINARY =>
            {
                self.chars() * 4
            }
            TypeCode::Enum => self
                .members
                .iter()
                .flat_map(|m| m.iter())
                .map(|m| m.chars().count() as u32 * 4)
                .max()
                .unwrap_or(0),
            TypeCode::Set => self
                .members
                .iter()
                .flat_map(|m| m.iter())
                .map(|m| (m.chars().count() as u32 + 1) * 4)
                .sum::<u32>()
                .saturating_sub(4),
            TypeCode::Json => u32::MAX,
            TypeCode::Blob if self.collation != BINARY && (self.meta < 4 || self.most_bytes().is_some()) => {
                (self.max_bytes() as u32).saturating_mul(4)
            }
            _ => self.max_bytes() as u32,
        }
    }

    /// Returns the type as `SHOW COLUMNS` and `SHOW CREATE TABLE` write it, such as `int unsigned`
    /// or `varchar(120)`, without character set and collation.
    pub fn sql_name(&self) -> String {
        let unsigned = match self.form {
            Some(form) if form.zerofill() => " unsigned zerofill",
            _ if self.unsigned => " unsigned",
            _ => "",
        };
        let width = match self.form.map(|form| (form.width(), form.decimals())) {
            Some((width, Some(decimals))) => format!("({width},{decimals})"),
            Some((width, None)) if self.is_integer() => format!("({width})"),
            _ => String::new(),
        };
        let fraction = if self.meta == 0 { String::new() } else { format!("({})", self.meta) };
        let binary = self.collation == BINARY;
        match self.code {
            TypeCode::Tiny if self.meta == 1 && !self.unsigned => "tinyint(1)".into(),
            TypeCode::Tiny => format!("tinyint{width}{unsigned}"),
            TypeCode::Short => format!("smallint{width}{unsigned}"),
            TypeCode::Int24 => format!("mediumint{width}{unsigned}"),
            TypeCode::Long => format!("int{width}{unsigned}"),
            TypeCode::LongLong => format!("bigint{width}{unsigned}"),
            TypeCode::Float => format!("float{width}{unsigned}"),
            TypeCode::Double => format!("double{width}{unsigned}"),
            TypeCode::NewDecimal => format!("decimal({},{}){unsigned}", self.precision(), self.scale()),
            TypeCode::Null => "null".into(),
            TypeCode::Timestamp | TypeCode::Timestamp2 => format!("timestamp{fraction}"),
            TypeCode::Datetime | TypeCode::Datetime2 => format!("datetime{fraction}"),
            TypeCode::Time | TypeCode::Time2 => format!("time{fraction}"),
            TypeCode::Date => "date".into(),
            TypeCode::Year => "year".into(),
            TypeCode::Bit => format!("bit({})", self.meta),
            TypeCode::Varchar | TypeCode::VarcharCompressed if binary => format!("varbinary({})", self.meta),
            TypeCode::Varchar | TypeCode::VarcharCompressed => format!("varchar({})", self.chars()),
            TypeCode::String if self.text_form().is_some() => {
                self.text_form().map_or("", TextForm::sql_name).into()
            }
            TypeCode::String if binary => format!("binary({})", self.meta),
            TypeCode::String => format!("char({})", self.chars()),
            TypeCode::Blob | TypeCode::BlobCompressed => {
                let size = ["tiny", "", "medium", "long"][usize::from(self.meta.clamp(1, 4)) - 1];
                format!("{size}{}", if binary { "blob" } else { "text" })
            }
            TypeCode::Json => "json".into(),
            TypeCode::Geometry => self.geometry_kind().sql_name().into(),
            TypeCode::Vector => self
                .dimensions()
                .map_or_else(|| "vector".into(), |dimensions| format!("vector({dimensions})")),
            TypeCode::Enum => format!("enum({})", quoted_members(self.members.as_deref())),
            TypeCode::Set => format!("set({})", quoted_members(self.members.as_deref())),
        }
    }
}

/// Returns the members as literals. Characters with a meaning in a literal are escaped.
fn quoted_members(members: Option<&[String]>) -> String {
    let mut text = String::new();
    for member in members.unwrap_or_default() {
        text.push_str(if text.is_empty() { "'" } else { ",'" });
        for sign in member.chars() {
            match sign {
                '\'' => text.push_str("''"),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\0' => text.push_str("\\0"),
                _ => text.push(sign),
            }
        }
        text.push('\'');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_can_be_read_again() {
        let members = ["a\\b", "it's", "\n\r\0", ""].map(String::from).to_vec();
        let ty = ColumnType::enumeration(members, crate::collation::UTF8MB4_0900_AI_CI);
        assert_eq!(ty.sql_name(), r"enum('a\\b','it''s','\n\r\0','')");
    }

    #[test]
    fn names() {
        assert_eq!(ColumnType::int(true).sql_name(), "int unsigned");
        assert_eq!(ColumnType::varchar(120, 255).sql_name(), "varchar(120)");
        assert_eq!(ColumnType::mediumtext(255).sql_name(), "mediumtext");
        assert_eq!(ColumnType::enumeration(vec!["it's".into()], 255).sql_name(), "enum('it''s')");
        assert_eq!(ColumnType::int(false).integer_range(), (-2147483648, 2147483647));
        assert_eq!(ColumnType::bigint(true).integer_range(), (0, u64::MAX));
    }
}
