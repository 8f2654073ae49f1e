//! Literals, operators, units and truth values, of which expressions consist.

/// A name as it is written. All such names count as equal, because the spelling makes no difference
/// to what is meant.
#[derive(Debug, Clone)]
pub struct Written(pub String);

impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    /// An integer. It is never negative, because the sign is an operator.
    Integer(u64),
    /// Digits with a decimal point, or an integer of more than 64 bits.
    Decimal(String),
    /// A number with an exponent, and its text.
    Float(f64, Written),
    /// A text, with its character set introducer if one is written (`_latin1'x'`).
    Text(Vec<u8>, Option<String>),
    /// `x'..'` or `0x..`, with its character set introducer if one is written, or bits with one.
    Bytes(Vec<u8>, Option<String>),
    /// MariaDB's `x'..'` without an introducer, which is a text of bytes where `0x..` is a number.
    HexText(Vec<u8>),
    /// `b'..'` or `0b..`.
    Bits(Vec<u8>),
    /// `DATE '...'`.
    Date(Vec<u8>),
    /// `TIME '...'`.
    Time(Vec<u8>),
    /// `TIMESTAMP '...'`.
    Timestamp(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Minus,
    Plus,
    Not,
    BitNot,
    /// `BINARY expr`.
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Xor,
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
    BitXor,
}

impl BinaryOp {
    /// Reports whether the operator compares its operands.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, NullSafeEqual};
        matches!(self, Equal | NullSafeEqual | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// Reports whether the operator works on the bits of its operands.
    pub fn is_of_bits(self) -> bool {
        use BinaryOp::{BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight};
        matches!(self, BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight)
    }

    /// Returns the text that MySQL writes between the operands.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Xor => "xor",
            BinaryOp::Equal => "=",
            BinaryOp::NullSafeEqual => "<=>",
            BinaryOp::NotEqual => "<>",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::BitOr => "|",
            BinaryOp::BitAnd => "&",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::IntegerDivide => "DIV",
            BinaryOp::Modulo => "%",
            BinaryOp::BitXor => "^",
        }
    }
}

/// The units of INTERVAL, EXTRACT and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthValue {
    True,
    False,
    Unknown,
}
