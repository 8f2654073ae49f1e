//! Converts expressions where another type is wanted: in numeric context, beside another operand in
//! a comparison, for a column, and to a document or out of one.

use super::documents;
use super::functions::characters::{CHARACTERS_FOR_COLUMN, CHECKED_CHARACTERS, FORM_FOR_COLUMN};
use super::functions::extremes::{is_extreme, is_of_date, number_of_extreme};
use super::functions::json::{AS_JSON, AS_VALUE};
use super::functions::vector::TEXT_FOR_VECTOR;
use super::functions::{
    AS_TEXT, DATE_OF_YEAR, MOMENT_IN_LIST, NUMBER_IN_TEXT, NUMBER_OF_MOMENT, SHOWN_SUM, WHOLE_SECONDS,
    is_sum, is_sum_of_times,
};
use super::node::{Coercibility, Expr, Node};
use super::recode::{become_characters, converted, in_form_of, is_form_changed};
use super::text::{text_as, text_of};
use super::value_type::{is_number, is_text, is_time, length_in, text_length, text_type};
use types::collation::{Charset, characters_for_column, charset_of, is_well_formed};
use types::{ColumnType, TypeCode, Value, Zone};

/// The most digits of a fraction of a second.
const MOST_FSP: u8 = 6;

impl Expr {
    /// Returns this expression in numeric context, where `x'1F'` is a number
    /// ([`Expr::literal_number`]).
    pub fn numeric(self) -> Expr {
        let Some(number) = self.literal_number() else { return self };
        let ty = ColumnType::bigint(matches!(number, Value::UInt(_)));
        Expr { ty, coercibility: Coercibility::Numeric, ..Expr::constant(number) }
    }

    /// Returns this expression where a number is wanted. A text that IF or CASE chooses among
    /// values of several kinds is never made there: MySQL asks the chosen value for its number. The
    /// column of a TEXT or BLOB gives its number without a warning. Other expressions stay as they
    /// are.
    #[inline(never)]
    pub fn choice_as_number(self) -> Expr {
        if self.is_moment_text() {
            return self.number_of_moment();
        }
        if is_extreme(&self.node) {
            return self.extreme_as_number();
        }
        if self.ty.code == TypeCode::Blob && matches!(self.node, Node::Slot(_)) {
            return self.without_complaints();
        }
        self.choice_of(ColumnType::double(), Expr::become_double)
    }

    /// Does the same as [`Expr::choice_as_number`] for an operation on bits, which asks the chosen
    /// value for its integer: a date or a time is rounded to a second, and not to a whole number.
    #[inline(never)]
    pub fn choice_as_integer(self) -> Expr {
        if self.is_moment_text() {
            return self.number_of_moment();
        }
        if self.is_second_with_fraction() {
            let ty = ColumnType::bigint(false);
            let (nullable, coercibility) = (self.nullable, Coercibility::Numeric);
            let node = Node::Call { function: &WHOLE_SECONDS, args: vec![self] };
            return Expr { node, ty, nullable, coercibility };
        }
        self.choice_of(ColumnType::bigint(false), Expr::become_integer)
    }

    /// Makes each value that IF or CASE chooses from a number of the type `ty`, if the choice is a
    /// text and one of the values is none.
    fn choice_of(mut self, ty: ColumnType, become_number: fn(&mut Expr, Expr)) -> Expr {
        let is_number_of_its_own = |branch: &Expr| {
            let is_literal = matches!(branch.node, Node::HexLiteral(..));
            !is_text(&branch.ty) || branch.is_json() || is_literal || branch.shows_a_value()
        };
        if !is_text(&self.ty) || self.is_json() {
            return self;
        }
        let mut branches = self.branches();
        if !branches.iter().any(|branch| branch.ty.code != TypeCode::Null && is_number_of_its_own(branch)) {
            return self;
        }
        for branch in &mut branches {
            let value = std::mem::replace(*branch, Expr::constant(Value::Null));
            become_number(branch, value);
        }
        (self.ty, self.coercibility) = (ty, Coercibility::Numeric);
        self
    }

    /// The values among which IF or CASE chooses. Other expressions have none.
    fn branches(&mut self) -> Vec<&mut Expr> {
        match &mut self.node {
            Node::If(operands) => operands[1..].iter_mut().collect(),
            Node::Case { whens, otherwise, .. } => {
                whens.iter_mut().map(|(_, then)| then).chain(otherwise.as_deref_mut()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns this expression where a text is wanted. What IF or CASE chooses among numbers of
    /// several types has its own digits as a text, and not those of the type that they have in
    /// common. A sum of times has six digits behind the seconds or none. Other expressions stay as
    /// they are.
    #[inline(never)]
    pub fn choice_as_text(mut self) -> Expr {
        if is_sum_of_times(&self) {
            let length = text_length(&ColumnType::time(MOST_FSP));
            let ty = text_type(length, types::collation::UTF8MB4_0900_AI_CI);
            let (nullable, coercibility) = (self.nullable, self.coercibility);
            let node = Node::Call { function: &SHOWN_SUM, args: vec![self] };
            return Expr { node, ty, nullable, coercibility };
        }
        let is_inexact = matches!(self.ty.code, TypeCode::NewDecimal | TypeCode::Double);
        let ty = self.ty.clone();
        let has_same_digits = |branch: &Expr| ty.code == TypeCode::Double || branch.ty.scale() == ty.scale();
        let is_other = |branch: &&mut Expr| {
            is_number(&branch.ty) && (branch.ty.code != ty.code || !has_same_digits(branch))
        };
        if !is_inexact || !self.branches().iter().any(is_other) {
            return self;
        }
        for branch in self.branches() {
            let value = std::mem::replace(branch, Expr::constant(Value::Null));
            *branch = if value.ty.code == TypeCode::Null { value } else { value.choice_as_text().shown() };
        }
        self.ty = text_type(text_length(&ty), types::collation::UTF8MB4_0900_AI_CI);
        self
    }

    /// Reports whether the expression adds to a date or a time that is given as a text or a number.
    /// Such a sum is a text, but where a number is wanted it is the number of the date or the time:
    /// `'2024-01-01' + INTERVAL 1 DAY + 0` is 20240102.
    pub fn is_moment_text(&self) -> bool {
        is_sum(self) && is_text(&self.ty)
    }

    /// Reports whether the expression is UNIX_TIMESTAMP() with a fraction, which is not rounded
    /// where an integer is wanted.
    fn is_second_with_fraction(&self) -> bool {
        let Node::Call { function, .. } = &self.node else { return false };
        function.name == "unix_timestamp" && self.ty.code == TypeCode::NewDecimal
    }

    fn number_of_moment(self) -> Expr {
        let node = Node::Call { function: &NUMBER_OF_MOMENT, args: vec![self] };
        Expr { node, ty: ColumnType::double(), nullable: true, coercibility: Coercibility::Numeric }
    }

    /// Reports whether the expression is a call of GREATEST or LEAST.
    pub fn is_extreme(&self) -> bool {
        is_extreme(&self.node)
    }

    /// Returns GREATEST or LEAST, if it is a text, where a number is wanted. As in MySQL, it is the
    /// number of the greatest or least date where a date is among the arguments, and the greatest
    /// or least of their numbers where a time is. Otherwise it is the number that the text begins
    /// with. Other expressions stay as they are.
    #[inline(never)]
    pub fn extreme_as_number(mut self) -> Expr {
        let is_of_texts = is_text(&self.ty) && !self.is_json() && is_extreme(&self.node);
        let Node::Call { function, args } = &mut self.node else { return self };
        if !is_of_texts || args.iter().any(Expr::is_json) {
            return self;
        }
        if !args.iter().any(|arg| arg.ty.is_temporal()) {
            return self.without_complaints();
        }
        if !args.iter().any(is_of_date) {
            for arg in args {
                let value = std::mem::replace(arg, Expr::constant(Value::Null));
                arg.become_double(value);
            }
        }
        *function = number_of_extreme(function);
        (self.ty, self.coercibility) = (ColumnType::double(), Coercibility::Numeric);
        self
    }

    /// Returns the text of a TEXT or BLOB column where a number is wanted: as in MySQL, what
    /// follows the number in such a text causes no warning.
    fn without_complaints(self) -> Expr {
        let (ty, nullable, coercibility) = (self.ty.clone(), self.nullable, self.coercibility);
        Expr { node: Node::Call { function: &NUMBER_IN_TEXT, args: vec![self] }, ty, nullable, coercibility }
    }

    /// Reports whether the expression is the text that shows a date, a time or a number.
    fn shows_a_value(&self) -> bool {
        match &self.node {
            Node::Recollate(shown) => shown.shows_a_value(),
            Node::Call { function, .. } => **function == AS_TEXT,
            _ => false,
        }
    }

    /// Becomes the number with a floating point that a value is.
    fn become_double(&mut self, value: Expr) {
        self.become_number(value, ColumnType::double(), Expr::choice_as_number);
    }

    /// Becomes the integer that a value is.
    fn become_integer(&mut self, value: Expr) {
        self.become_number(value, ColumnType::bigint(false), Expr::choice_as_integer);
    }

    /// Becomes the number of the type `ty` that a value is. `of_choice` does the same for what the
    /// value itself chooses from.
    fn become_number(&mut self, value: Expr, ty: ColumnType, of_choice: fn(Expr) -> Expr) {
        // The text that shows a date or a time stands for it.
        let value = match value.node {
            Node::Recollate(shown) if shown.shows_a_value() => *shown,
            node => Expr { node, ..value },
        };
        let value = match value.node {
            Node::Call { function, mut args } if *function == AS_TEXT && args.len() == 1 => args.remove(0),
            node => Expr { node, ..value },
        };
        let number = of_choice(value).numeric().read_from_json(&ty, None);
        let (nullable, coercibility) = (number.nullable, Coercibility::Numeric);
        *self = Expr { node: Node::Cast(Box::new(number)), ty, nullable, coercibility };
    }

    /// Returns the number that a literal such as `x'1F'` is in numeric context. As in MySQL, a
    /// literal of more than eight bytes is 0, and one of bits has a sign.
    pub fn literal_number(&self) -> Option<Value> {
        const MOST_BYTES: usize = 8;
        let Node::HexLiteral(Value::Bytes(bytes), of_bits) = &self.node else { return None };
        let number = match bytes.len() {
            0..=MOST_BYTES => bytes.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte)),
            _ => 0,
        };
        Some(if *of_bits { Value::Int(number as i64) } else { Value::UInt(number) })
    }

    /// Makes a TIMESTAMP the date and time in the session's time zone. Other expressions stay as
    /// they are.
    pub fn show_on_clocks(&mut self) {
        if self.ty.code == TypeCode::Timestamp2 && !matches!(self.node, Node::OnClocks(_)) {
            let ty = ColumnType::datetime(self.ty.fsp());
            let (nullable, coercibility) = (self.nullable, self.coercibility);
            let shown = Expr { node: Node::Constant(Value::Null), ty, nullable, coercibility };
            let moment = std::mem::replace(self, shown);
            self.node = Node::OnClocks(Box::new(moment));
        }
    }

    /// Returns this expression as it is compared with an operand of the type `other`: `x'1F'` is a
    /// number if the operand is one, or a year.
    pub fn beside(self, other: &ColumnType) -> Expr {
        let wants_number = is_number(other) || other.code == TypeCode::Year;
        if matches!(self.node, Node::HexLiteral(..)) && wants_number { self.numeric() } else { self }
    }

    /// Returns this text for an operation in the collation `id`. Where the collation is `binary`,
    /// it becomes the bytes that its own character set stores. Where only the text is `binary`, it
    /// becomes the characters of its bytes. Texts are kept in utf8mb4, so no other conversion
    /// changes a value.
    pub fn in_characters_of(self, id: u16) -> Expr {
        if self.may_be_no_characters(id) { self.checked_characters() } else { self.stored_as_in(id) }
    }

    /// Does the same as [`Expr::in_characters_of`] for a value that a column gets, which looks at
    /// its characters itself.
    fn stored_as_in(self, id: u16) -> Expr {
        if is_stored_otherwise(&self.ty, id) { self.recollated(id) } else { self }
    }

    /// Reports whether this text has bytes that take part in an operation on characters of utf8mb4,
    /// and may be none.
    fn may_be_no_characters(&self, id: u16) -> bool {
        let is_of_bytes = is_text(&self.ty)
            && self.ty.collation == types::collation::BINARY
            && charset_of(id) == Charset::Utf8mb4;
        is_of_bytes
            && match &self.node {
                Node::Constant(Value::Bytes(bytes)) | Node::HexLiteral(Value::Bytes(bytes), _) => {
                    !is_well_formed(id, bytes)
                }
                Node::Constant(_) | Node::Parameter(_) | Node::UserVariable(_) => false,
                Node::Call { function, .. } => **function != CHECKED_CHARACTERS,
                _ => true,
            }
    }

    fn checked_characters(self) -> Expr {
        let (ty, nullable, coercibility) = (self.ty.clone(), self.nullable, self.coercibility);
        let node = Node::Call { function: &CHECKED_CHARACTERS, args: vec![self] };
        Expr { node, ty, nullable, coercibility }
    }

    /// Returns this text in the character set of a collation, with a length that has room for the
    /// converted text. Bytes that are no characters of it become NULL, with a warning.
    pub fn recollated(self, id: u16) -> Expr {
        let ty = text_type(length_in(&self.ty, id), id);
        let may_be_wrong = become_characters(&self.ty, &ty);
        let (nullable, coercibility) = (self.nullable || may_be_wrong, self.coercibility);
        let node = match &self.node {
            Node::Constant(Value::Bytes(bytes)) | Node::HexLiteral(Value::Bytes(bytes), _)
                if !may_be_wrong || is_well_formed(id, bytes) =>
            {
                let converted = converted(bytes, &self.ty, &ty);
                Node::Constant(Value::Bytes(converted.unwrap_or_else(|| bytes.clone())))
            }
            _ => Node::Recollate(Box::new(self)),
        };
        Expr { node, ty, nullable, coercibility }
    }

    /// Returns this expression as a value for a column of this type. A VECTOR takes no text.
    /// Whether a parameter or a user variable is a text is not known here.
    pub fn for_column(self, column: &ColumnType, source: Option<&str>) -> Expr {
        let is_refused = column.code == TypeCode::Vector
            && self.ty.code != TypeCode::Vector
            && is_text(&self.ty)
            && self.ty.collation != types::collation::BINARY
            && !matches!(self.node, Node::UserVariable(_))
            && !self.has_parameter();
        match is_refused {
            true => Expr {
                ty: self.ty.clone(),
                nullable: self.nullable,
                coercibility: self.coercibility,
                node: Node::Call { function: &TEXT_FOR_VECTOR, args: vec![self] },
            },
            // Of an expression, and not of a column, MySQL takes the year of today.
            false if column.code == TypeCode::Year && is_time(&self.ty) && !self.is_read() => Expr {
                ty: ColumnType::datetime(self.ty.fsp()),
                nullable: self.nullable,
                coercibility: Coercibility::Numeric,
                node: Node::Cast(Box::new(self)),
            },
            // Of a column, and not of an expression, MySQL takes the number of the moment.
            false if column.code == TypeCode::Bit && self.is_read() && has_time(&self.ty) => Expr {
                ty: ColumnType::bigint(false),
                nullable: self.nullable,
                coercibility: Coercibility::Numeric,
                node: Node::Cast(Box::new(self)),
            },
            false => {
                let value = self.beside(column).document_for_column(column, source);
                // Of a number with a floating point MySQL stores the number's text.
                let value = match is_text(column) && value.ty.code == TypeCode::NewDecimal {
                    true => value.choice_as_text(),
                    false => value,
                };
                match is_text(column) {
                    _ if is_form_changed(&value.ty, column) => value.into_form_of(column),
                    true if value.ty.fsp() > 0 => value.shown(),
                    true => value.into_stored_text(column),
                    false => value,
                }
            }
        }
    }

    /// Converts a document that is put into a column of the type `ty`. `source` is the document's
    /// name where it is a column.
    pub fn document_for_column(self, ty: &ColumnType, source: Option<&str>) -> Expr {
        // Of a column with documents MySQL takes the number, and of others the text.
        if ty.code == TypeCode::Year && self.is_read() {
            return self.read_from_json(&ColumnType::bigint(true), source);
        }
        self.read_from_json(ty, source)
    }

    /// Reports whether the value is that of a column or of a parameter.
    fn is_read(&self) -> bool {
        matches!(self.node, Node::Slot(_) | Node::Outer(_) | Node::Parameter(_))
    }

    /// Returns the bytes of this UUID or address for a binary column, or these bytes as the UUID or
    /// address that a column has.
    fn into_form_of(self, column: &ColumnType) -> Expr {
        let (nullable, coercibility) = (self.nullable, self.coercibility);
        let of_type = Expr { ty: column.clone(), ..Expr::constant(Value::Bytes(Vec::new())) };
        let node = Node::Call { function: &FORM_FOR_COLUMN, args: vec![self, of_type] };
        Expr { node, ty: column.clone(), nullable, coercibility }
    }

    /// Returns this text in the characters that a text column stores. Bytes of no character set
    /// become characters as far as they are some, and the column tells about the others.
    fn into_stored_text(self, column: &ColumnType) -> Expr {
        let id = column.collation;
        let is_plain = match &self.node {
            Node::Constant(Value::Bytes(bytes)) | Node::HexLiteral(Value::Bytes(bytes), _) => {
                is_well_formed(id, bytes)
            }
            _ => false,
        };
        if is_plain || !become_characters(&self.ty, column) || !is_stored_otherwise(&self.ty, id) {
            return self.stored_as_in(id);
        }
        let ty = text_type(length_in(&self.ty, id), id);
        let (nullable, coercibility) = (self.nullable, self.coercibility);
        let of_type = Expr { ty: ty.clone(), ..Expr::constant(Value::Bytes(Vec::new())) };
        let node = Node::Call { function: &CHARACTERS_FOR_COLUMN, args: vec![self, of_type] };
        Expr { node, ty, nullable, coercibility }
    }

    /// Returns this expression where a text is wanted: a date or a time has the digits of its
    /// type's fraction, and a number is written as its column shows it. Other expressions stay as
    /// they are.
    pub fn into_text(self) -> Expr {
        self.choice_as_text().shown_as_typed()
    }

    /// Does the same as [`Expr::into_text`], but what IF or CASE chooses and a sum of times have
    /// the digits of their type.
    pub fn shown_as_typed(mut self) -> Expr {
        self.show_on_clocks();
        let is_plain = self.ty.form.is_none_or(|form| !form.changes_text());
        if self.ty.fsp() == 0 && (is_plain || is_text(&self.ty)) { self } else { self.shown() }
    }

    /// The text that shows this value: of a moment what the session's clocks show, of a date or a
    /// time the digits that its type gives the fraction.
    pub fn shown(mut self) -> Expr {
        self.show_on_clocks();
        let ty = text_type(text_length(&self.ty), types::collation::UTF8MB4_0900_AI_CI);
        let (nullable, coercibility) = (self.nullable, self.coercibility);
        Expr { node: Node::Call { function: &AS_TEXT, args: vec![self] }, ty, nullable, coercibility }
    }

    /// Returns this date or time, if its type has a fraction of seconds, as the exact number that
    /// it is, with all digits of the fraction. Other expressions stay as they are.
    pub fn exact_if_fractional(mut self) -> Expr {
        const MOST_DIGITS: u8 = 14;
        if !self.ty.is_temporal() || self.ty.fsp() == 0 {
            return self;
        }
        self.show_on_clocks();
        let (nullable, fsp) = (self.nullable, self.ty.fsp());
        let ty = ColumnType::decimal(MOST_DIGITS + fsp, fsp);
        Expr { node: Node::Cast(Box::new(self)), ty, nullable, coercibility: Coercibility::Numeric }
    }

    /// Returns this YEAR as it is compared with a date: as a date without a month and a day.
    pub fn year_as_date(self) -> Expr {
        let (nullable, coercibility) = (self.nullable, self.coercibility);
        let node = Node::Call { function: &DATE_OF_YEAR, args: vec![self] };
        Expr { node, ty: ColumnType::date(), nullable, coercibility }
    }

    /// Returns this operand for an operation whose result has the type `ty`.
    pub fn for_result(self, ty: &ColumnType) -> Expr {
        if is_text(ty) { self.into_text().in_characters_of(ty.collation) } else { self }
    }

    /// Converts a document to a value of the kind that the type `ty` is of. Other expressions stay
    /// as they are. `column` is the document's name where it is a column.
    pub fn read_from_json(self, ty: &ColumnType, column: Option<&str>) -> Expr {
        if !self.is_json() || ty.code == TypeCode::Json || documents::Kind::of(ty) == documents::Kind::Text {
            return self;
        }
        // Messages show the name of the function or of the column.
        let name = match &self.node {
            Node::Call { function, .. } => function.name,
            _ => column.unwrap_or_default(),
        };
        let name = Expr { ty: ty.clone(), ..Expr::constant(Value::text(name)) };
        Expr {
            ty: ty.clone(),
            nullable: true,
            coercibility: Coercibility::Numeric,
            node: Node::Call { function: &AS_VALUE, args: vec![self, name] },
        }
    }

    /// Returns this text as it is compared with moments of the type `ty` in an IN list. `column` is
    /// the name of the column that has these, and empty if none has.
    pub fn into_moment(self, ty: &ColumnType, column: &str) -> Expr {
        let name = Expr { ty: ty.clone(), ..Expr::constant(Value::text(column)) };
        let nullable = self.nullable;
        let args = vec![self, name];
        let ty = if is_time(ty) { ColumnType::time(MOST_FSP) } else { ColumnType::datetime(MOST_FSP) };
        let coercibility = Coercibility::Numeric;
        Expr { node: Node::Call { function: &MOMENT_IN_LIST, args }, ty, nullable, coercibility }
    }

    /// Converts an SQL value to a document, so that it can be compared with one. A document stays
    /// as it is.
    pub fn into_json(self) -> Expr {
        if self.is_json() || self.ty.code == TypeCode::Null {
            return self;
        }
        Expr {
            ty: ColumnType::json(),
            nullable: self.nullable,
            coercibility: Coercibility::Implicit,
            node: Node::Call { function: &AS_JSON, args: vec![self] },
        }
    }
}

/// Reports whether values of a type have a time of the day.
fn has_time(ty: &ColumnType) -> bool {
    is_time(ty) || matches!(ty.code, TypeCode::Datetime2 | TypeCode::Timestamp2)
}

/// Converts a value of the type `from` to the text that a column of the type `to` stores. A date or
/// a time has the digits of its own type's fraction. Bytes are converted where one of the two types
/// has bytes and the other characters. `None` means that the value is stored as it is.
pub(crate) fn text_for(value: &Value, from: &ColumnType, to: &ColumnType, zone: Zone) -> Option<Value> {
    if let Value::Bytes(bytes) = value
        && is_form_changed(from, to)
    {
        return Some(Value::Bytes(in_form_of(bytes, from, to)));
    }
    if !is_text(to) {
        return None;
    }
    match value {
        Value::Bytes(bytes) if become_characters(from, to) && is_stored_otherwise(from, to.collation) => {
            Some(Value::Bytes(characters_for_column(to.collation, bytes)))
        }
        Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => {
            let changes = is_stored_otherwise(from, to.collation);
            changes.then(|| converted(&text_of(value), from, to)).flatten().map(Value::Bytes)
        }
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            Some(Value::Bytes(text_as(value, from).into_owned()))
        }
        Value::Timestamp { .. } => {
            let local = value.clone().in_zone(zone);
            Some(Value::Bytes(text_as(&local, from).into_owned()))
        }
        _ => None,
    }
}

/// Reports whether values of a type have other bytes in a collation: one of the two is `binary`,
/// and the other has characters that are not stored as in utf8mb4.
pub(crate) fn is_stored_otherwise(ty: &ColumnType, id: u16) -> bool {
    let other = match (charset_of(ty.collation), charset_of(id)) {
        (Charset::Binary, other) | (other, Charset::Binary) => other,
        _ => return false,
    };
    let is_same = other.is_stored_as_utf8mb4() || other == Charset::Binary;
    !is_same && is_text(ty) && ty.code != TypeCode::Json
}
