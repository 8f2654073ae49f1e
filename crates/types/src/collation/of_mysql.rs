//! Which character set each of MySQL's collation ids belongs to, those that are not here included:
//! a client names its character set by such an id.

/// MySQL's character sets with the ids of their collations, first and last of each run.
const CHARSETS: &[(&str, &[(u16, u16)])] = &[
    ("big5", &[(1, 1), (84, 84)]),
    ("latin2", &[(2, 2), (9, 9), (21, 21), (27, 27), (77, 77)]),
    ("dec8", &[(3, 3), (69, 69)]),
    ("cp850", &[(4, 4), (80, 80)]),
    ("latin1", &[(5, 5), (8, 8), (15, 15), (31, 31), (47, 49), (94, 94)]),
    ("hp8", &[(6, 6), (72, 72)]),
    ("koi8r", &[(7, 7), (74, 74)]),
    ("swe7", &[(10, 10), (82, 82)]),
    ("ascii", &[(11, 11), (65, 65)]),
    ("ujis", &[(12, 12), (91, 91)]),
    ("sjis", &[(13, 13), (88, 88)]),
    ("cp1251", &[(14, 14), (23, 23), (50, 52)]),
    ("hebrew", &[(16, 16), (71, 71)]),
    ("tis620", &[(18, 18), (89, 89)]),
    ("euckr", &[(19, 19), (85, 85)]),
    ("latin7", &[(20, 20), (41, 42), (79, 79)]),
    ("koi8u", &[(22, 22), (75, 75)]),
    ("gb2312", &[(24, 24), (86, 86)]),
    ("greek", &[(25, 25), (70, 70)]),
    ("cp1250", &[(26, 26), (34, 34), (44, 44), (66, 66), (99, 99)]),
    ("gbk", &[(28, 28), (87, 87)]),
    ("cp1257", &[(29, 29), (58, 59)]),
    ("latin5", &[(30, 30), (78, 78)]),
    ("armscii8", &[(32, 32), (64, 64)]),
    ("utf8mb3", &[(33, 33), (76, 76), (83, 83), (192, 215), (223, 223)]),
    ("ucs2", &[(35, 35), (90, 90), (128, 151), (159, 159)]),
    ("cp866", &[(36, 36), (68, 68)]),
    ("keybcs2", &[(37, 37), (73, 73)]),
    ("macce", &[(38, 38), (43, 43)]),
    ("macroman", &[(39, 39), (53, 53)]),
    ("cp852", &[(40, 40), (81, 81)]),
    (
        "utf8mb4",
        &[(45, 46), (224, 247), (255, 271), (273, 275), (277, 294), (296, 298), (300, 300), (303, 323)],
    ),
    ("utf16", &[(54, 55), (101, 124)]),
    ("utf16le", &[(56, 56), (62, 62)]),
    ("cp1256", &[(57, 57), (67, 67)]),
    ("utf32", &[(60, 61), (160, 183)]),
    ("binary", &[(63, 63)]),
    ("geostd8", &[(92, 93)]),
    ("cp932", &[(95, 96)]),
    ("eucjpms", &[(97, 98)]),
    ("gb18030", &[(248, 250)]),
];

/// MySQL's name of the character set of a collation; `None` for an id that MySQL 9.7 does not know
/// either.
pub fn charset_name_in_mysql(id: u16) -> Option<&'static str> {
    let has = |ids: &[(u16, u16)]| ids.iter().any(|(first, last)| (*first..=*last).contains(&id));
    CHARSETS.iter().find(|(_, ids)| has(ids)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_are_among_them() {
        for collation in super::super::all() {
            assert_eq!(charset_name_in_mysql(collation.id), Some(collation.charset.name()));
        }
        assert_eq!(charset_name_in_mysql(51), Some("cp1251"));
        assert_eq!(charset_name_in_mysql(0), None);
        assert_eq!(charset_name_in_mysql(2047), None);
    }
}
