//! Character sets: their names, and how they store characters.

/// A character set of MySQL; all of them are here. Those of one byte come first, in the order of
/// `single.tables`, then those of `multi.tables`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // `INFO` has their names and descriptions.
pub enum Charset {
    Dec8,
    Cp850,
    Hp8,
    Koi8r,
    /// Windows code page 1252, with its five undefined bytes mapped to C1 controls.
    Latin1,
    Latin2,
    Swe7,
    /// One byte for each character, 7 bits.
    Ascii,
    Hebrew,
    Tis620,
    Koi8u,
    Greek,
    Cp1250,
    Latin5,
    Armscii8,
    Cp866,
    Keybcs2,
    Macce,
    Macroman,
    Cp852,
    Latin7,
    Cp1251,
    Cp1256,
    Cp1257,
    Geostd8,
    Big5,
    Gbk,
    Gb2312,
    Sjis,
    Cp932,
    Euckr,
    Ujis,
    Eucjpms,
    Gb18030,
    /// Bytes that are not characters.
    Binary,
    /// UTF-8 of up to three bytes for each character.
    Utf8mb3,
    /// UTF-8.
    Utf8mb4,
    /// UTF-16, big endian, without the characters that need two units.
    Ucs2,
    /// UTF-16, big endian.
    Utf16,
    Utf16le,
    /// UTF-32, big endian.
    Utf32,
}

/// The form in which a character set stores characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The bytes are not looked at. This is the form of `binary`, and of `ascii`, whose columns may
    /// hold other bytes.
    Raw,
    Utf8,
    /// One byte for each character. The number is that of the table in `single.tables`.
    Single(usize),
    /// One byte or several for each character. The number is that of the table in `multi.tables`.
    Multi(usize),
    /// UCS-2, UTF-16 or UTF-32.
    Wide,
}

struct Info {
    charset: Charset,
    name: &'static str,
    description: &'static str,
    default_collation: u16,
    bin_collation: u16,
    max_bytes_per_char: u8,
}

const fn info(
    charset: Charset,
    name: &'static str,
    description: &'static str,
    collations: [u16; 2],
    max_bytes_per_char: u8,
) -> Info {
    let [default_collation, bin_collation] = collations;
    Info { charset, name, description, default_collation, bin_collation, max_bytes_per_char }
}

/// The facts about each character set, by its number.
static INFO: [Info; 41] = [
    info(Charset::Dec8, "dec8", "DEC West European", [3, 69], 1),
    info(Charset::Cp850, "cp850", "DOS West European", [4, 80], 1),
    info(Charset::Hp8, "hp8", "HP West European", [6, 72], 1),
    info(Charset::Koi8r, "koi8r", "KOI8-R Relcom Russian", [7, 74], 1),
    info(Charset::Latin1, "latin1", "cp1252 West European", [8, 47], 1),
    info(Charset::Latin2, "latin2", "ISO 8859-2 Central European", [9, 77], 1),
    info(Charset::Swe7, "swe7", "7bit Swedish", [10, 82], 1),
    info(Charset::Ascii, "ascii", "US ASCII", [11, 65], 1),
    info(Charset::Hebrew, "hebrew", "ISO 8859-8 Hebrew", [16, 71], 1),
    info(Charset::Tis620, "tis620", "TIS620 Thai", [18, 89], 1),
    info(Charset::Koi8u, "koi8u", "KOI8-U Ukrainian", [22, 75], 1),
    info(Charset::Greek, "greek", "ISO 8859-7 Greek", [25, 70], 1),
    info(Charset::Cp1250, "cp1250", "Windows Central European", [26, 66], 1),
    info(Charset::Latin5, "latin5", "ISO 8859-9 Turkish", [30, 78], 1),
    info(Charset::Armscii8, "armscii8", "ARMSCII-8 Armenian", [32, 64], 1),
    info(Charset::Cp866, "cp866", "DOS Russian", [36, 68], 1),
    info(Charset::Keybcs2, "keybcs2", "DOS Kamenicky Czech-Slovak", [37, 73], 1),
    info(Charset::Macce, "macce", "Mac Central European", [38, 43], 1),
    info(Charset::Macroman, "macroman", "Mac West European", [39, 53], 1),
    info(Charset::Cp852, "cp852", "DOS Central European", [40, 81], 1),
    info(Charset::Latin7, "latin7", "ISO 8859-13 Baltic", [41, 79], 1),
    info(Charset::Cp1251, "cp1251", "Windows Cyrillic", [51, 50], 1),
    info(Charset::Cp1256, "cp1256", "Windows Arabic", [57, 67], 1),
    info(Charset::Cp1257, "cp1257", "Windows Baltic", [59, 58], 1),
    info(Charset::Geostd8, "geostd8", "GEOSTD8 Georgian", [92, 93], 1),
    info(Charset::Big5, "big5", "Big5 Traditional Chinese", [1, 84], 2),
    info(Charset::Gbk, "gbk", "GBK Simplified Chinese", [28, 87], 2),
    info(Charset::Gb2312, "gb2312", "GB2312 Simplified Chinese", [24, 86], 2),
    info(Charset::Sjis, "sjis", "Shift-JIS Japanese", [13, 88], 2),
    info(Charset::Cp932, "cp932", "SJIS for Windows Japanese", [95, 96], 2),
    info(Charset::Euckr, "euckr", "EUC-KR Korean", [19, 85], 2),
    info(Charset::Ujis, "ujis", "EUC-JP Japanese", [12, 91], 3),
    info(Charset::Eucjpms, "eucjpms", "UJIS for Windows Japanese", [97, 98], 3),
    info(Charset::Gb18030, "gb18030", "China National Standard GB18030", [248, 249], 4),
    info(Charset::Binary, "binary", "Binary pseudo charset", [63, 63], 1),
    info(Charset::Utf8mb3, "utf8mb3", "UTF-8 Unicode", [33, 83], 3),
    info(Charset::Utf8mb4, "utf8mb4", "UTF-8 Unicode", [255, 46], 4),
    info(Charset::Ucs2, "ucs2", "UCS-2 Unicode", [35, 90], 2),
    info(Charset::Utf16, "utf16", "UTF-16 Unicode", [54, 55], 4),
    info(Charset::Utf16le, "utf16le", "UTF-16LE Unicode", [56, 62], 4),
    info(Charset::Utf32, "utf32", "UTF-32 Unicode", [60, 61], 4),
];

const _: () = {
    let mut at = 0;
    while at < INFO.len() {
        assert!(INFO[at].charset as usize == at, "INFO is in the order of the character sets");
        at += 1;
    }
};

impl Charset {
    /// Returns all character sets, sorted by name.
    pub fn all() -> Vec<Charset> {
        let mut all: Vec<Charset> = INFO.iter().map(|info| info.charset).collect();
        all.sort_by_key(|charset| charset.name());
        all
    }

    fn info(self) -> &'static Info {
        &INFO[self as usize]
    }

    /// Returns MySQL's name of the character set.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the description that `SHOW CHARACTER SET` has.
    pub fn description(self) -> &'static str {
        self.info().description
    }

    /// Returns the character set with this name (`utf8` is utf8mb3).
    pub fn from_name(name: &str) -> Option<Charset> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        INFO.iter().find(|info| info.name.eq_ignore_ascii_case(name)).map(|info| info.charset)
    }

    /// Returns the number of bytes of the longest character.
    pub fn max_bytes_per_char(self) -> u8 {
        self.info().max_bytes_per_char
    }

    /// Returns the number of bytes of the shortest character.
    pub fn min_bytes_per_char(self) -> u8 {
        match self {
            Charset::Ucs2 | Charset::Utf16 | Charset::Utf16le => 2,
            Charset::Utf32 => 4,
            _ => 1,
        }
    }

    /// Returns the bytes of a space, which a CHAR is filled up with.
    pub fn space(self) -> &'static [u8] {
        match self {
            Charset::Ucs2 | Charset::Utf16 => b"\0 ",
            Charset::Utf16le => b" \0",
            Charset::Utf32 => b"\0\0\0 ",
            _ => b" ",
        }
    }

    /// Reports whether a client may send and receive it. Statements in it must begin as ASCII ones
    /// do.
    pub fn is_for_clients(self) -> bool {
        self.min_bytes_per_char() == 1
    }

    /// Reports whether its characters are stored in the same bytes as in utf8mb4.
    pub fn is_stored_as_utf8mb4(self) -> bool {
        matches!(self, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Ascii)
    }

    /// Reports whether every ASCII character is stored as its ASCII byte.
    pub fn has_ascii(self) -> bool {
        self.min_bytes_per_char() == 1 && self != Charset::Swe7
    }

    /// Reports whether it has all of Unicode's characters, or those of the basic plane.
    pub fn is_unicode(self) -> bool {
        matches!(self.form(), Form::Utf8 | Form::Wide)
    }

    /// Returns the collation of a column for which only the character set is named.
    pub fn default_collation(self) -> u16 {
        self.info().default_collation
    }

    /// Returns the `_bin` collation of the character set.
    pub fn bin_collation(self) -> u16 {
        self.info().bin_collation
    }

    pub(super) fn form(self) -> Form {
        match self {
            Charset::Binary | Charset::Ascii => Form::Raw,
            Charset::Utf8mb3 | Charset::Utf8mb4 => Form::Utf8,
            Charset::Ucs2 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32 => Form::Wide,
            _ if self as u8 >= Charset::Big5 as u8 => Form::Multi(self as usize - Charset::Big5 as usize),
            _ => Form::Single(self as usize),
        }
    }
}
