#!/usr/bin/env python3
"""Writes crates/types/src/collation/data/ and list.rs from what real servers answer.

usage: charset-tables.py MYSQL_PORT MARIADB_PORT [OUTPUT_DIR]

Both servers listen on 127.0.0.1 and have a root user without a password. The script makes a
database `charset_tables` on them, with the numbers from 0 to 0x10FFFF. All numbers in the files are
little endian.

single.tables   for each one-byte character set a table of 256 u16: the code point of each byte, or
                FFFF where there is none; then for each collation a table of 256 bytes: the weight
                of each byte. list.rs and charset.rs name the tables by number.
multi.tables    for each entry of MULTI, u16: the code points of [lead][trail], FFFF where there is
                none; after `planes` such tables (ujis: the two-byte codes and those behind 8F), for
                gbk the weights of the same places
multi.reverse   for each entry of MULTI: varint count, then (u16 code point, u16 code) for each code
                point that several codes have and that is not converted to the lowest of them (or to
                which no code is converted back)
gb18030.runs    runs (gap, difference, length as varints and zigzags), ended by a gap of 0: first
                from code points to four-byte codes counted linearly, then from codes to weights
                (see `gb18030_number`, `gb18030_weight`)
czech.tables    for latin2_czech_cs and for cp1250_czech_cs: byte number of passes; for each pass 256 bytes:
                the weight of each byte, 0 where it has none, 2 where it ends a word; varint count of
                pairs that weigh as one, and for each its two bytes and a weight for each pass; 256
                bytes: the weight of each byte in the hash of PARTITION BY KEY
case.tables     for each family of list.rs: upper case, then lower case, each as a varint count and
                then, for each entry, varint gap of code points and zigzag difference
"""
import subprocess
import sys

HEADER = "--skip-ssl -h127.0.0.1 -uroot -N --raw --default-character-set=utf8mb4".split()
# Each entry: character set, range of lead bytes, range of trail bytes, number of planes, and
# whether the weights differ from the codes.
MULTI = [
    # big5_chinese_ci compares by code. Its WEIGHT_STRING() counts strokes, and ORDER BY sorts by
    # them where it uses no index.
    ("big5", (0xA1, 0xF9), (0x40, 0xFE), 1, False),
    ("gbk", (0x81, 0xFE), (0x40, 0xFE), 1, True),
    ("gb2312", (0xA1, 0xF7), (0xA1, 0xFE), 1, False),
    ("sjis", (0x81, 0xFC), (0x40, 0xFC), 1, False),
    ("cp932", (0x81, 0xFC), (0x40, 0xFC), 1, False),
    ("euckr", (0x81, 0xFE), (0x41, 0xFE), 1, False),
    ("ujis", (0xA1, 0xFE), (0xA1, 0xFE), 2, False),
    ("eucjpms", (0xA1, 0xFE), (0xA1, 0xFE), 2, False),
    ("gb18030", (0x81, 0xFE), (0x40, 0xFE), 1, False),
]
UNICODE = ["utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32"]
POINT = "convert(unhex(lpad(hex(i),8,'0')) using utf32)"
POINTS = "charset_tables.n where i not between 0xd800 and 0xdfff"


def ask(port, sql):
    command = ["mariadb", *HEADER, "-P", str(port)]
    out = subprocess.run(command, input=sql.encode(), check=True, capture_output=True)
    return [line.split("\t") for line in out.stdout.decode().splitlines()]


def prepare(port):
    ask(port, "create database if not exists charset_tables; create table if not exists charset_tables.n(i int primary key)")
    if ask(port, "select count(*) from charset_tables.n")[0][0] == "0":
        ask(port, "insert into charset_tables.n values " + ",".join(f"({i})" for i in range(1024)))
        ask(port, "use charset_tables; insert into n select a.i*1024+b.i from n a join n b where a.i>0;"
                  "insert into n select i+1048576 from n where i<65536")


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def u16(numbers):
    return b"".join(number.to_bytes(2, "little") for number in numbers)


def runs_of(pairs):
    runs = []
    for key, value in sorted(pairs):
        if runs and key == runs[-1][0] + runs[-1][2] and value == runs[-1][1] + runs[-1][2]:
            runs[-1][2] += 1
        else:
            runs.append([key, value, 1])
    out, key_before, value_before = bytearray(), -1, 0
    for key, value, length in runs:
        out += varint(key - key_before) + zigzag(value - value_before) + varint(length)
        key_before, value_before = key + length - 1, value + length - 1
    return bytes(out + varint(0))


def defined(code, hexed):
    """Whether a code has a code point. A server answers with a question mark where it has none."""
    return hexed not in ("NULL", "") and len(hexed) == 8 and (hexed != "0000003F" or code == 0x3F)


def single_charset(port, name):
    rows = ask(port, f"select i, hex(convert(convert(char(i) using {name}) using utf32)) from charset_tables.n where i<256")
    return u16(int(hexed, 16) if defined(int(code), hexed) else 0xFFFF for code, hexed in rows)


def single_weights(port, charset, collation):
    rows = ask(port, f"select hex(weight_string(convert(char(i) using {charset}) collate {collation})) from charset_tables.n where i<256")
    # In latin1_german2_ci some characters have a second weight, which is not in the table.
    good = collation == "latin1_german2_ci" or all(len(weight) == 2 for weight, in rows)
    return bytes(int(weight[:2], 16) for weight, in rows) if good else None


def multi_points(port, charset, weigh_by=None):
    """Returns a dictionary from codes to pairs of code point and weight."""
    out = {}
    forms = [(2, "i")] + ([(3, "i+0x8f0000")] if charset in ("ujis", "eucjpms") else [])
    for length, code in forms:
        text = f"convert(unhex(lpad(hex({code}),{2 * length},'0')) using {charset})"
        rows = ask(port, f"select hex({code}), hex(convert({text} using utf32)), char_length({text}), "
                         f"hex(weight_string({text} collate {weigh_by or charset + '_bin'})) from charset_tables.n where i between 32768 and 65535")
        for code, hexed, chars, weight in rows:
            if chars == "1":
                point = int(hexed, 16) if defined(0x10000, hexed) else 0xFFFF
                out[int(code, 16)] = (point, int(weight, 16))
    return out


def points_from(port, charset):
    rows = ask(port, f"select i, hex(convert({POINT} using {charset})) from {POINTS}")
    return {int(point): hexed for point, hexed in rows if hexed != "3F" or point == "63"}


def write_multi(port, directory):
    tables, reverse = bytearray(), bytearray()
    for charset, (low, high), (first, last), planes, weighed in MULTI:
        codes = multi_points(port, charset, f"{charset}_chinese_ci" if weighed else None)
        places = [lead << 8 | trail for lead in range(low, high + 1) for trail in range(first, last + 1)]
        for plane in range(planes):
            tables += u16(codes.get(place | (0x8F0000 if plane else 0), (0xFFFF, 0))[0] for place in places)
        if weighed:
            tables += u16(codes.get(place, (0, 0))[1] for place in places)
        lowest = {}
        for code in sorted(codes):
            lowest.setdefault(codes[code][0], code)
        back = points_from(port, charset)
        exceptions = [(point, int(hexed, 16)) for point, hexed in sorted(back.items()) if 0x80 <= point < 0xFFFF
                      and len(hexed) == 4 and lowest.get(point) != int(hexed, 16)]
        reverse += varint(len(exceptions)) + u16(number for pair in exceptions for number in pair)
        for point, hexed in back.items():
            if len(hexed) == 6:
                assert lowest[point] == int(hexed, 16), (charset, point, hexed)
    open(f"{directory}/multi.tables", "wb").write(tables)
    open(f"{directory}/multi.reverse", "wb").write(reverse)
    print("multi", len(tables), len(reverse))


def gb18030_number(hexed):
    """Returns a two-byte code as it is, and a four-byte code counted linearly above these."""
    if len(hexed) <= 4:
        return int(hexed, 16)
    a, b, c, d = bytes.fromhex(hexed)
    return 0x10000 + (a - 0x81) * 12600 + (b - 0x30) * 1260 + (c - 0x81) * 10 + d - 0x30


def gb18030_weight(hexed):
    """Returns a number less than 0x1F0000 for a weight. The numbers order as the weights do."""
    if len(hexed) <= 4:
        return int(hexed, 16)
    weight = int(hexed, 16) - 0xFF000000
    if weight >= 0xA00000:
        assert weight < 0xA10000 + 0x10000
        return 0x1A0000 + weight - 0xA00000
    assert weight < 0x190000
    return 0x10000 + weight


def write_gb18030(port, directory):
    text = f"convert({POINT} using gb18030)"
    rows = ask(port, f"select i, hex({text}), hex(weight_string({text} collate gb18030_chinese_ci)) from {POINTS}")
    four = [(int(point), gb18030_number(code) - 0x10000) for point, code, _ in rows if len(code) == 8]
    # Two-byte codes are asked for by code, because several of them may have the same code point.
    weights = {code: weight for code, (_, weight) in multi_points(port, "gb18030", "gb18030_chinese_ci").items()}
    weights = {code: gb18030_weight(f"{weight:04X}" if weight < 0x10000 else f"{weight:08X}") for code, weight in weights.items()}
    # Two characters have the weights of I and S, but are not equal to these letters.
    weights.update((gb18030_number(code), gb18030_weight(weight)) for _, code, weight in rows if len(code) == 8 and len(weight) > 2)
    out = runs_of(four) + runs_of((code, weight) for code, weight in weights.items() if code != weight)
    open(f"{directory}/gb18030.runs", "wb").write(out)
    print("gb18030", len(out))


CZECH = [("latin2", "latin2_czech_cs", 4), ("cp1250", "cp1250_czech_cs", 2)]


def czech_weights(port, charset, collation, passes):
    """Returns a function from lists of byte strings to their weights in each pass."""
    def of(texts):
        union = " union all ".join(f"select 0x{text.hex()} s" for text in texts)
        rows = ask(port, f"select hex(weight_string(convert(s using {charset}) collate {collation})) from ({union}) d")
        # In latin2 a byte 1 stands behind each of the first passes, and 0 behind the last one.
        split = lambda weights: weights[:-1].split(b"\x01", passes - 1) if passes == 4 else [weights[: len(weights) // 2], weights[len(weights) // 2 :]]
        return [split(bytes.fromhex(weights)) for weights, in rows]
    return of


def czech_hash(port, charset, collation):
    """Returns the weight of each byte in the hash, from the partitions that the bytes are in."""
    ask(port, f"use charset_tables; drop table if exists hashed; create table hashed(s varchar(1) character set {charset} collate {collation}) "
              "partition by key(s) partitions 1024; insert into hashed values " + ",".join(f"(0x{byte:02X})" for byte in range(256)))
    # The hash of one byte with weight w is this, as types::collation::KeyHash computes it.
    rows = ask(port, ";".join(f"select {w}, ord(s) from charset_tables.hashed partition(p{(1 ^ 5 * w + 256) % 1024}) where s <> ''" for w in range(256)))
    weights = {int(byte): int(weight) for weight, byte in rows}
    return bytes(weights.get(byte, byte) for byte in range(256))


def write_czech(port, directory):
    out = b""
    for charset, collation, passes in CZECH:
        of = czech_weights(port, charset, collation, passes)
        single = of([bytes([byte]) for byte in range(256)])
        for byte in (0x09, 0x20) if passes == 4 else ():
            single[byte] = [b"\x02"] * passes
        assert all(len(weight) <= 1 for weights in single for weight in weights)
        out += bytes([passes])
        for at in range(passes):
            out += bytes((weights[at] or b"\0")[0] for weights in single)
        texts = [bytes([first, second]) for first in b"CDHSZcdhsz" for second in range(0x21, 0x100)]
        pairs = [(text, weights) for text, weights in zip(texts, of(texts))
                 if weights != [a + b for a, b in zip(single[text[0]], single[text[1]])]]
        out += varint(len(pairs)) + b"".join(text + b"".join(weights) for text, weights in pairs)
        out += czech_hash(port, charset, collation)
        print(collation, len(pairs), "pairs")
    open(f"{directory}/czech.tables", "wb").write(out)


def case_family(port, charset, collation):
    text = f"convert({POINT} using {charset})"
    good = f"and (hex({text}) <> '3F' or i = 63)" if charset not in UNICODE else "and i < 65536" if charset in ("ucs2", "utf8mb3") else ""
    rows = ask(port, f"select * from (select i, hex(convert(upper({text} collate {collation}) using utf32)) u, "
                     f"hex(convert(lower({text} collate {collation}) using utf32)) l from {POINTS} {good}) d "
                     "where u <> lpad(hex(i),8,'0') or l <> lpad(hex(i),8,'0')")
    out = b""
    for at in (1, 2):
        # MySQL makes control characters of latin2_czech_cs question marks when it converts them.
        pairs = [(int(row[0]), int(row[at], 16)) for row in rows if row[at] not in ("", "NULL", "0000003F") and int(row[at], 16) != int(row[0])]
        before, out = 0, out + varint(len(pairs))
        for point, other in pairs:
            out += varint(point - before) + zigzag(other - point)
            before = point
    return out


# The languages are in the order of tailored.weights (`collation-tailorings.py`).
LANGUAGES = """icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak
spanish2 roman persian esperanto hungarian sinhala german2 croatian vietnamese croatian_mariadb de_pb_0900 is_0900 lv_0900
ro_0900 sl_0900 pl_0900 et_0900 es_0900 sv_0900 tr_0900 cs_0900 da_0900 lt_0900 sk_0900 es_trad_0900 la_0900 eo_0900
hu_0900 hr_0900 vi_0900 ru_0900 nb_0900 nn_0900 sr_latn_0900 bs_0900 bg_0900 gl_0900 mn_cyrl_0900 da_0900_as_cs
ja_0900_as_cs_ks zh_0900_as_cs thai_520_w2 myanmar_ci""".split()


def weighing(name, charset, single):
    base = name.replace("_nopad", "")
    wide = charset in ("ucs2", "utf16", "utf16le", "utf32")
    if wide and name.endswith("_bin"):
        return "CodePoints"
    if name == "binary" or name.endswith("_nopad_bin") or name == "utf8mb4_0900_bin":
        return "Bytes"
    if name.endswith("_bin"):
        return "PaddedBytes"
    if base == "latin1_german2_ci":
        return f"German2({single[base]})"
    if base in single and charset in [row[0] for row in MULTI]:
        return f"Multi({single[base]})"
    if base in single:
        return f"Single({single[base]})"
    special = {"latin2_czech_cs": "Czech(0)", "cp1250_czech_cs": "Czech(1)",
               "tis620_thai_ci": "Thai", "utf8mb3_tolower_ci": "GeneralVariant(1)",
               "utf8mb3_general_mysql500_ci": "GeneralVariant(0)", "ucs2_general_mysql500_ci": "GeneralVariant(0)",
               "utf8mb4_0900_ai_ci": "Uca { levels: 1 }", "utf8mb4_0900_as_ci": "Uca { levels: 2 }",
               "utf8mb4_0900_as_cs": "Uca { levels: 3 }"}
    if base in special:
        return special[base]
    rest = base[len(charset) + 1 :]
    rest = {"unicode_ci": "UcaPadded(V400)", "unicode_520_ci": "UcaPadded(V520)", "general_ci": "General"}.get(rest, rest)
    if rest[0].isupper():
        return rest
    if charset in UNICODE:
        return tailored(rest)
    raise ValueError(name)


def tailored(rest):
    """Returns how list.rs names the weights of a language, which all encodings of Unicode share."""
    # Japanese has one table, whose fourth level counts only in the collation that ends with _ks.
    own_levels = {"da_0900_as_cs": 3, "ja_0900_as_cs": 3, "ja_0900_as_cs_ks": 4, "zh_0900_as_cs": 3, "thai_520_w2": 2, "myanmar_ci": 1}
    if rest in own_levels:
        language = rest if rest in LANGUAGES else rest + "_ks"
        return f"Tailored {{ language: {LANGUAGES.index(language)}, levels: {own_levels[rest]} }}"
    # With _mysql561, MariaDB names the collation that MySQL calls croatian.
    language = rest.replace("_mysql561", "").removesuffix("_ci").removesuffix("_cs")
    levels = 3 if language.endswith("_as") else 1
    language = language.removesuffix("_as").removesuffix("_ai")
    return f"Tailored {{ language: {LANGUAGES.index(language)}, levels: {levels} }}"


def camel(charset):
    return charset[0].upper() + charset[1:]


def main():
    mysql, mariadb = int(sys.argv[1]), int(sys.argv[2])
    directory = (sys.argv[3] if len(sys.argv) > 3 else "crates/types/src/collation") + "/data"
    for port in (mysql, mariadb):
        prepare(port)
    charsets = {row[0]: row for row in ask(mysql, "select character_set_name, maxlen, description, default_collate_name from information_schema.character_sets")}
    collations = {int(row[0]): row[1:] for row in ask(mysql, "select id, collation_name, character_set_name, sortlen, pad_attribute from information_schema.collations")}
    own = [row for row in ask(mariadb, "select a.id, full_collation_name, a.character_set_name, sortlen from information_schema.collation_character_set_applicability a join information_schema.collations c using(collation_name) where full_collation_name not like '%uca1400%'")]
    port_of = {collation: mysql for collation in collations}
    names = {row[0] for row in collations.values()}
    for id, name, charset, sort_len in own:
        if int(id) not in collations:
            # MySQL has another collation with this name.
            name = name.replace("_croatian_ci", "_croatian_mariadb_ci")
            assert name not in names
            collations[int(id)] = [name, charset, sort_len, "NO PAD" if "nopad" in name else "PAD SPACE"]
            port_of[int(id)] = mariadb

    one_byte = [name for name, row in charsets.items() if row[1] == "1" and name != "binary"]
    single = bytearray().join(single_charset(mysql, name) for name in one_byte)
    with_weights = {}
    for id in sorted(collations):
        name, charset = collations[id][:2]
        if charset in one_byte and not name.endswith("_bin") and "_nopad" not in name and name != "tis620_thai_ci" and not name.endswith("_czech_cs"):
            weights = single_weights(mysql, charset, name)
            if weights:
                with_weights[name] = len(with_weights)
                single += weights
    for charset, *_ in MULTI:
        name = next(row[0] for row in collations.values() if row[1] == charset and not row[0].endswith("_bin"))
        rows = ask(mysql, f"select hex(weight_string(convert(char(i) using {charset}) collate {name})) from charset_tables.n where i<128")
        with_weights[name] = len(with_weights)
        single += bytes(int(weight, 16) for weight, in rows) + bytes(range(128, 256))
    # The table of latin1_german2_ci has the first weight of each character. tis620_thai_ci has no
    # table.
    open(f"{directory}/single.tables", "wb").write(single)
    print("single", len(single), one_byte, len(with_weights))
    write_czech(mysql, directory)
    if "-multi" not in sys.argv:  # -multi skips these tables, which take long
        write_multi(mysql, directory)
        write_gb18030(mysql, directory)

    families, family_of_sample, lines = [], {}, []
    for id in sorted(collations):
        name, charset, sort_len, pad = collations[id]
        text = f"convert({POINT} using {charset})"
        family = 0xFF
        if charset != "binary":
            asked = name if port_of[id] == mysql else name.replace("_croatian_mariadb_ci", "_croatian_ci")
            sample = ask(port_of[id], f"select hex(group_concat(convert(concat(upper({text} collate {asked}), lower({text} collate {asked})) using utf32) order by i separator '')) from (select /*+ no_merge */ i from {POINTS} and i between 65 and 8000) d" .replace("select hex", "set group_concat_max_len=1000000; select hex", 1))[0][0]
            key = (charset, sample) if charset not in UNICODE else sample
            if port_of[id] == mariadb:
                family = next((f for k, f in family_of_sample.items() if k == key), None)
                if family is None:
                    print("another case of MariaDB:", name)
                    family = family_of_sample.get(key_of_base.get(charset), 0)
            else:
                if name == "gb18030_unicode_520_ci":
                    # Here MySQL cuts code points over U+FFFF to 16 bits: U+10428 becomes U+0428.
                    key = key_of_base[charset]
                if key not in family_of_sample:
                    content = case_family(mysql, charset, name)
                    if content not in families:
                        families.append(content)
                    family_of_sample[key] = families.index(content)
                    print("case", name, family_of_sample[key], len(content), flush=True)
                family = family_of_sample[key]
                key_of_base.setdefault(charset, key)
        weigh = weighing(name, charset, with_weights)
        pads = "true" if pad == "PAD SPACE" else "false"
        if weigh is None:
            print("not there:", name)
            continue
        lines.append(f'    entry({id}, "{name}", Charset::{camel(charset)}, {weigh}, {sort_len}, {pads}, {family}),')
    open(f"{directory}/case.tables", "wb").write(b"".join(families))
    print("case", len(b"".join(families)), len(families))
    with open(f"{directory}/../list.rs", "w") as file:
        file.write("//! All collations, by id: written by `scripts/charset-tables.py`.\n\n"
                   "use super::charset::Charset;\nuse super::definition::Weighing::*;\n"
                   "use super::definition::{Collation, entry};\nuse super::version::Version::*;\n\n"
                   "/// How many families of upper and lower case `case.tables` has.\n"
                   f"pub(super) const CASE_FAMILIES: usize = {len(families)};\n\n"
                   "/// Id, name, character set, weights, SORTLEN, PAD SPACE, family of upper and lower case.\n"
                   "#[rustfmt::skip]\n"
                   f"pub(super) static COLLATIONS: [Collation; {len(lines)}] = [\n" + "\n".join(lines) + "\n];\n")
    for name in charsets:
        _, length, description, default = charsets[name]
        print(f"    /// {description}\n    {camel(name)},  // {length} {default}")


key_of_base = {}
if __name__ == "__main__":
    main()
