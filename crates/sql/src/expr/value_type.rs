//! Properties that follow from a type alone: whether its values are numbers or text, and how long
//! they are.

use types::decimal::{MAX_COLUMN_SCALE, MAX_SCALE};
use types::{ColumnType, NumberForm, Shape, TypeCode, collation};

/// The characters that MySQL gives the text of an integer of 64 bits that an operation makes.
pub(crate) const BIGINT_WIDTH: u8 = 21;

/// Returns the type of an integer that an operation makes, whose text has at most `width`
/// characters, a sign among them. Clients are told of the width, and a column that is made of such
/// values is an INT where they fit one ([`column_type`]).
pub(crate) fn integer_type(width: u8, unsigned: bool) -> ColumnType {
    ColumnType { form: Some(NumberForm::new(width, None, false)), ..ColumnType::bigint(unsigned) }
}

/// Returns the type of an integer with at most so many digits.
pub(crate) fn integer_of_digits(digits: u32, unsigned: bool) -> ColumnType {
    let width = digits.saturating_add(u32::from(!unsigned));
    integer_type(u8::try_from(width).unwrap_or(u8::MAX), unsigned)
}

/// Returns the type of the remainder of a division of integers, which has room for a sign whether
/// it is unsigned or not.
pub(crate) fn remainder_type(a: &ColumnType, b: &ColumnType, unsigned: bool) -> ColumnType {
    let width = integer_digits(a).max(integer_digits(b)) + 1;
    integer_type(u8::try_from(width).unwrap_or(u8::MAX), unsigned)
}

/// Returns the type of the remainder of a division of which one number is a DECIMAL. It has the
/// sign of the dividend; without one, MySQL leaves room for a digit in its place.
pub(crate) fn decimal_remainder_type(a: &ColumnType, b: &ColumnType) -> ColumnType {
    let precision = |ty: &ColumnType| match ty.code {
        TypeCode::NewDecimal => u32::from(ty.precision()),
        _ => integer_digits(ty) + scale_of(ty),
    };
    let scale = scale_of(a).max(scale_of(b));
    let digits = precision(a).max(precision(b)).saturating_sub(scale) + u32::from(a.unsigned);
    ColumnType { unsigned: a.unsigned, ..decimal_type(digits, scale) }
}

/// Returns the type of a made integer that an aggregate or a function over a window keeps: MySQL
/// makes a BIGINT column of it, however few characters it has.
pub(crate) fn kept_integer(ty: &ColumnType) -> ColumnType {
    let form = NumberForm::of_kept(u8::try_from(ty.display_length()).unwrap_or(u8::MAX), false);
    ColumnType { form: Some(form), ..ColumnType::bigint(ty.unsigned) }
}

/// Returns the type of a YEAR that an aggregate keeps, of which a BIGINT column is made.
pub(crate) fn kept_year() -> ColumnType {
    ColumnType { form: Some(NumberForm::of_kept(4, false)), ..ColumnType::year() }
}

/// Returns the type of a value that a function over a window returns: MySQL keeps it in a table
/// that has no CHAR columns, and no columns of the type NULL.
pub(crate) fn of_window(ty: ColumnType) -> ColumnType {
    match ty.code {
        TypeCode::Null => ColumnType::varbinary(0),
        TypeCode::String if ty.text_form().is_none() && ty.collation != collation::BINARY => {
            text_type(text_length(&ty), ty.collation)
        }
        _ if ty.is_made_char() => column_type(&ty),
        _ => ty,
    }
}

/// Returns the type of IFNULL, given the type that holds both values: a column of it is a column of
/// this type, and the width is that of the wider value.
pub(crate) fn of_if_null(ty: ColumnType) -> ColumnType {
    match ty.form {
        Some(form) if ty.is_integer() && !form.zerofill() => {
            ColumnType { form: Some(NumberForm::of_kept(form.width(), false)), ..ty }
        }
        _ if ty.code == TypeCode::Year || ty.most_bytes().is_some() => ty,
        _ => without_width(ty),
    }
}

/// Returns the type of a column of a union, of whose integers clients are told the greatest width
/// of the branches.
pub(crate) fn of_union(ty: ColumnType) -> ColumnType {
    let width = u8::try_from(ty.display_length()).unwrap_or(u8::MAX);
    match ty.form {
        Some(form) if ty.is_integer() && !form.zerofill() => {
            ColumnType { form: Some(NumberForm::of_kept(width, true)), ..ty }
        }
        _ if ty.most_bytes().is_some() => ty,
        // The years of a union are kept in a column of type YEAR.
        _ => without_width(ty),
    }
}

/// Returns the type of a YEAR that an expression makes. It has a width, which that of a column does
/// not have: MySQL keeps such years as integers in computed tables ([`column_type`]).
pub(crate) fn made_year() -> ColumnType {
    ColumnType { form: Some(NumberForm::new(4, None, false)), ..ColumnType::year() }
}

/// Returns the type of values that are true or false.
pub(crate) fn truth_type() -> ColumnType {
    integer_type(1, false)
}

/// Reports whether the type is that of a literal with an exponent: it has the width of the literal.
fn is_float_literal(ty: &ColumnType) -> bool {
    ty.code == TypeCode::Double && ty.form.is_some_and(|form| form.decimals().is_none())
}

/// Returns the type of a computed value: integers have no width, and numbers are not filled with
/// zeros.
pub(crate) fn without_width(ty: ColumnType) -> ColumnType {
    let has_width = ty.is_integer() || ty.code == TypeCode::Year || is_float_literal(&ty);
    let shape = ty.shape.filter(|shape| !matches!(shape, Shape::MostBytes(_)));
    if has_width { ColumnType { form: None, ..ty } } else { ColumnType { shape, ..ty.without_zerofill() } }
}

/// Returns the type of a column that is made of an expression's values, as MySQL chooses it. The
/// width of integers stays in the type.
pub(crate) fn column_type(ty: &ColumnType) -> ColumnType {
    const MOST_CHARS: u32 = 512;
    const WIDTH_OF_INT: u8 = 11;
    match ty.form {
        Some(form) if form.is_kept() && ty.code == TypeCode::Year => {
            let form = NumberForm::of_kept(form.width(), true);
            return ColumnType { form: Some(form), ..ColumnType::bigint(true) };
        }
        Some(form) if form.is_kept() => {
            let form = NumberForm::of_kept(form.width(), true);
            return ColumnType { form: Some(form), ..ty.clone() };
        }
        Some(form) if ty.is_integer() && !form.zerofill() => {
            let is_int = form.width() <= WIDTH_OF_INT;
            let made = if is_int { ColumnType::int(ty.unsigned) } else { ColumnType::bigint(ty.unsigned) };
            return ColumnType { form: Some(form), ..made };
        }
        Some(form) if ty.code == TypeCode::Year => {
            return ColumnType { form: Some(form), ..ColumnType::int(true) };
        }
        _ => {}
    }
    match ty.code {
        TypeCode::Blob if let Some(bytes) = ty.most_bytes() => {
            let per_char = u32::from(collation::max_bytes_per_char(ty.collation));
            let made = match bytes {
                0..=0xffff => ColumnType::text(ty.collation),
                0x1_0000..=0xff_ffff => ColumnType::mediumtext(ty.collation),
                _ => ColumnType::longtext(ty.collation),
            };
            ColumnType { shape: Some(Shape::MostBytes(bytes / per_char)), ..made }
        }
        TypeCode::Varchar if text_length(ty) > MOST_CHARS && ty.collation == collation::BINARY => {
            ColumnType::blob()
        }
        TypeCode::Varchar if text_length(ty) > MOST_CHARS => ColumnType::text(ty.collation),
        TypeCode::Varchar if ty.is_made_char() => ColumnType { shape: None, ..ty.clone() },
        _ => ty.clone(),
    }
}

/// Reports whether the type is that of integers, exact numbers or floating-point numbers.
pub(crate) fn is_plain_number(ty: &ColumnType) -> bool {
    ty.is_integer() || matches!(ty.code, TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double)
}

/// Returns the characters of a number or text in a CHAR column. A literal with an exponent has
/// those that are written.
pub(super) fn length_in_char(ty: &ColumnType, id: u16) -> u32 {
    match ty.form {
        Some(form) if is_float_literal(ty) => u32::from(form.width()),
        _ => length_in(ty, id),
    }
}

/// Returns the digits of an integer whose width is known.
fn made_digits(ty: &ColumnType, form: NumberForm) -> u32 {
    u32::from(form.width()).saturating_sub(u32::from(!ty.unsigned)).max(1)
}

/// The kinds of numbers in arithmetic. The largest kind among the operands is the kind of the
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NumericClass {
    Integer,
    Decimal,
    Double,
}

/// Returns the kind of number that a type's values are in arithmetic.
pub(crate) fn numeric_class(ty: &ColumnType) -> NumericClass {
    match ty.code {
        TypeCode::NewDecimal => NumericClass::Decimal,
        TypeCode::Tiny
        | TypeCode::Short
        | TypeCode::Int24
        | TypeCode::Long
        | TypeCode::LongLong
        | TypeCode::Year
        | TypeCode::Bit
        | TypeCode::Date => NumericClass::Integer,
        TypeCode::Datetime
        | TypeCode::Datetime2
        | TypeCode::Timestamp
        | TypeCode::Timestamp2
        | TypeCode::Time
        | TypeCode::Time2 => {
            if ty.fsp() == 0 {
                NumericClass::Integer
            } else {
                NumericClass::Decimal
            }
        }
        _ => NumericClass::Double,
    }
}

/// Returns a DECIMAL type with this many digits before and after the point, within the limits of
/// columns. The scale of a number that is computed is limited by [`computed_scale`].
pub(crate) fn decimal_type(integer_digits: u32, scale: u32) -> ColumnType {
    let scale = scale.min(u32::from(MAX_COLUMN_SCALE));
    let precision = (integer_digits + scale).clamp(1, 65);
    ColumnType::decimal(precision as u8, scale.min(precision) as u8)
}

/// Returns the digits behind the point of a number that is computed from operands with these
/// scales, of which it would have `scale`. It has at most MySQL's 30, but not fewer than its
/// operands: those of a MariaDB source may have 38.
pub(crate) fn computed_scale(scale: u32, operands: &[u32]) -> u32 {
    operands.iter().fold(u32::from(MAX_SCALE), |most, operand| most.max(*operand)).min(scale)
}

/// Reports whether values of the type are characters or bytes.
pub(crate) fn is_text(ty: &ColumnType) -> bool {
    ty.is_character() || ty.is_blob() || matches!(ty.code, TypeCode::Varchar | TypeCode::String)
}

/// Reports whether values of the type are times without a date.
pub(crate) fn is_time(ty: &ColumnType) -> bool {
    matches!(ty.code, TypeCode::Time | TypeCode::Time2)
}

/// Returns the collation of a type's values as text. JSON documents have one too.
pub(crate) fn text_collation(ty: &ColumnType) -> u16 {
    if ty.code == TypeCode::Json { collation::UTF8MB4_BIN } else { ty.collation }
}

/// Returns the most characters that a value of the type may have as text.
pub(crate) fn text_length(ty: &ColumnType) -> u32 {
    if is_text(ty) {
        let per_char = u64::from(collation::max_bytes_per_char(ty.collation));
        return match ty.code {
            TypeCode::Enum | TypeCode::Set => ty.display_length() / 4,
            TypeCode::Blob if let Some(bytes) = ty.most_bytes() => bytes / per_char as u32,
            // MySQL counts the bytes of a TEXT as characters.
            TypeCode::Blob if ty.max_bytes() > u64::from(u8::MAX) => {
                ty.max_bytes().saturating_mul(per_char).min(u64::from(u32::MAX)) as u32
            }
            TypeCode::Blob => ty.max_bytes() as u32,
            _ => (ty.max_bytes() / per_char).min(u64::from(u32::MAX)) as u32,
        };
    }
    match ty.form {
        // Computations with a column or a literal do not know the width that clients are told.
        Some(form) if form.is_kept_in_column() || is_float_literal(ty) => {
            without_width(ty.clone()).display_length()
        }
        _ => ty.display_length(),
    }
}

/// Returns the length of a type's values as text of a collation: in bytes for `binary`, otherwise
/// in characters.
pub(crate) fn length_in(ty: &ColumnType, id: u16) -> u32 {
    let bytes_per_char = match id == collation::BINARY && is_text(ty) {
        true => u32::from(collation::max_bytes_per_char(text_collation(ty))),
        false => 1,
    };
    text_length(ty).saturating_mul(bytes_per_char)
}

/// Returns a text type for at most `chars` characters: VARCHAR, or LONGTEXT where VARCHAR is too
/// short.
pub(crate) fn text_type(chars: u32, collation_id: u16) -> ColumnType {
    if ColumnType::char_fits(chars, collation_id) {
        ColumnType::varchar(chars, collation_id)
    } else {
        long_text(chars, collation_id)
    }
}

/// The characters that MySQL gives a text whose length it does not know.
pub(crate) const MOST_CHARS_OF_BLOB: u32 = 1 << 24;

/// Returns the type of computed texts of at most so many characters, which are too long for a
/// VARCHAR.
pub(crate) fn long_text(chars: u32, collation_id: u16) -> ColumnType {
    let bytes = chars.saturating_mul(u32::from(collation::max_bytes_per_char(collation_id)));
    match bytes.checked_mul(4) {
        Some(_) => ColumnType::computed_text(bytes, collation_id),
        None => ColumnType::longtext(collation_id),
    }
}

/// Reports whether the texts of a type are of MySQL's type CHAR: those of a column, or computed
/// ones.
pub(crate) fn is_char(ty: &ColumnType) -> bool {
    let is_of_column = ty.code == TypeCode::String && ty.text_form().is_none();
    (is_of_column || ty.is_made_char()) && ty.collation != collation::BINARY
}

/// Returns the type of what a function makes of a text: of a CHAR it makes one that is computed.
pub(crate) fn made_of(ty: ColumnType) -> ColumnType {
    if is_char(&ty) { ColumnType::made_char(text_length(&ty), ty.collation) } else { ty }
}

/// Reports whether values of the type are numbers.
pub(crate) fn is_number(ty: &ColumnType) -> bool {
    ty.is_integer()
        || matches!(
            ty.code,
            TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double | TypeCode::Year | TypeCode::Bit
        )
}

/// Returns the most digits that a value of the type may have before the decimal point.
pub(crate) fn integer_digits(ty: &ColumnType) -> u32 {
    match ty.code {
        TypeCode::LongLong | TypeCode::Long
            if let Some(form) = ty.form.filter(|form| !form.zerofill() && !form.is_kept_in_column()) =>
        {
            made_digits(ty, form)
        }
        TypeCode::NewDecimal => u32::from(ty.precision() - ty.scale()),
        TypeCode::Tiny => 3,
        TypeCode::Short => 5,
        TypeCode::Int24 => 8,
        TypeCode::Long => 10,
        TypeCode::Date => 8,
        TypeCode::Year => 4,
        TypeCode::Bit => u32::from(ty.meta),
        TypeCode::Datetime | TypeCode::Datetime2 | TypeCode::Timestamp | TypeCode::Timestamp2 => 14,
        TypeCode::Time | TypeCode::Time2 => 7,
        TypeCode::LongLong if ty.unsigned => 20,
        _ => 19,
    }
}

/// Returns the number of digits after the decimal point.
pub(crate) fn scale_of(ty: &ColumnType) -> u32 {
    match ty.code {
        TypeCode::NewDecimal => u32::from(ty.scale()),
        _ => u32::from(ty.fsp()),
    }
}

/// Returns the number of decimals that a number of this type is shown with. `None` if that depends
/// on the number.
fn fixed_decimals(ty: &ColumnType) -> Option<u32> {
    match numeric_class(ty) {
        NumericClass::Double if ty.code == TypeCode::Null => Some(0),
        NumericClass::Double => ty.form.and_then(NumberForm::decimals).map(u32::from),
        _ => Some(scale_of(ty)),
    }
}

/// Returns the number of decimals that fits all types, if each has a number of them.
pub(crate) fn decimals_of_all(types: &[&ColumnType]) -> Option<u32> {
    types.iter().map(|ty| fixed_decimals(ty)).try_fold(0, |most, decimals| Some(most.max(decimals?)))
}

/// Returns the type DOUBLE, whose numbers are shown with this many decimals as those of
/// `DOUBLE(22,D)`.
pub(crate) fn double_with(decimals: Option<u32>) -> ColumnType {
    const WIDTH: u8 = 22;
    const MOST_DECIMALS: u32 = 30;
    let decimals = decimals.filter(|decimals| *decimals <= MOST_DECIMALS);
    let form = decimals.map(|decimals| NumberForm::new(WIDTH, Some(decimals as u8), false));
    ColumnType { form, ..ColumnType::double() }
}

/// Returns the length in bytes that MySQL announces for a value of the type as text. For a TEXT it
/// counts each byte as a character.
pub(crate) fn announced_bytes(ty: &ColumnType) -> u64 {
    let per_char = u64::from(collation::max_bytes_per_char(ty.collation));
    match ty.code {
        TypeCode::Blob => ty.max_bytes().saturating_mul(per_char).min(u64::from(u32::MAX)),
        _ if is_text(ty) => u64::from(text_length(ty)) * per_char,
        _ => u64::from(text_length(ty)),
    }
}

/// Returns the type of a text of GROUP_CONCAT: the shortest one that holds as many characters as
/// the text may have bytes.
pub(crate) fn group_concat_type(most_bytes: usize, collation_id: u16) -> ColumnType {
    const MOST_CHARS: usize = 512;
    // MySQL multiplies with the bytes of a character twice.
    let chars = most_bytes.saturating_mul(usize::from(collation::max_bytes_per_char(collation_id)));
    match most_bytes {
        0..=MOST_CHARS => text_type(most_bytes as u32, collation_id),
        _ => long_text(u32::try_from(chars).unwrap_or(u32::MAX), collation_id),
    }
}

/// Returns the type of the same texts in another collation.
pub(crate) fn text_in(ty: &ColumnType, id: u16) -> ColumnType {
    match ty.code {
        TypeCode::Varchar if ty.is_made_char() => ColumnType::made_char(text_length(ty), id),
        TypeCode::Varchar => text_type(text_length(ty), id),
        _ => ColumnType { collation: id, ..ty.clone() },
    }
}

/// Returns a type for at most `bytes` bytes. As in MySQL, columns that are made of more than a few
/// bytes have a BLOB type.
pub(crate) fn bytes_type(bytes: u64) -> ColumnType {
    match bytes {
        0..=512 => ColumnType::varbinary(bytes as u32),
        513..=65_535 => ColumnType::blob(),
        _ => ColumnType::longblob(),
    }
}
