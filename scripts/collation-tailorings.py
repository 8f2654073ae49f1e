#!/usr/bin/env python3
"""Writes crates/types/src/collation/data/tailored.weights, the changes of languages to DUCET.

usage: collation-tailorings.py MYSQL_PORT MARIADB_PORT [OUTPUT]

Both servers listen on 127.0.0.1, have a root user without a password, and have the database of
charset-tables.py. Characters whose WEIGHT_STRING() is not that of the base are asked for one by
one. The script finds a contraction by a text that is not equal to itself with an ignorable
character in between. It tries all pairs of Latin letters, of letters and marks, and of letters of
one block in the other scripts, and triples of ASCII letters.

The format, for each of LANGUAGES in order: byte base (0: 4.0.0, 1: 5.2.0, 2: 9.0.0), byte levels,
varint count of entries. Each entry: varint count of code points, the code points as varints, then
for each level varint count of weights, and the weights as varints.
"""
import sys

SCRIPT = __file__.rsplit("/", 1)[0] + "/charset-tables.py"
shared = {"__name__": "shared"}
exec(compile(open(SCRIPT).read(), SCRIPT, "exec"), shared)
ask, varint, LANGUAGES = shared["ask"], shared["varint"], shared["LANGUAGES"]
IGNORABLE = "_utf8mb4 x'01'"
POINT = "convert(convert(unhex(lpad(hex(i),8,'0')) using utf32) using utf8mb4)"
RANGES = {
    "latin": "i between 0x27 and 0x7e or i between 0xb7 and 0x24f or i between 0x1e00 and 0x1eff",
    "tails": "i between 0x27 and 0x7e or i between 0xb7 and 0x17f or i between 0x1c0 and 0x1ff or i between 0x2b0 and 0x345",
    "blocks": "i div 128 in (3,4,7,8,9,10,11,12,13,27,32,96,97)",
}


def prepare(port):
    for table, condition in RANGES.items():
        ask(port, f"use charset_tables; drop table if exists {table}; create table {table}(a varchar(1) character set utf8mb4 collate utf8mb4_bin, i int, k int, key(k));"
                  f"insert into {table} select {POINT}, i, i div 128 from n where (i not between 0xd800 and 0xdfff) and ({condition})")


def contractions(port, collation):
    differ = f"concat(x.a, y.a) collate {collation} <> concat(x.a, {IGNORABLE}, y.a) collate {collation}"
    pairs = ask(port, f"select x.i, y.i from charset_tables.latin x join charset_tables.tails y where {differ}")
    pairs += ask(port, f"select x.i, y.i from charset_tables.blocks x join charset_tables.blocks y on x.k = y.k where {differ}")
    letters = " and ".join(f"{t}.i between 65 and 122" for t in "xyz")
    whole = f"concat(x.a, y.a, z.a) collate {collation}"
    triples = ask(port, f"select x.i, y.i, z.i from charset_tables.latin x join charset_tables.latin y join charset_tables.latin z where {letters} "
                        f"and {whole} <> concat(x.a, y.a, {IGNORABLE}, z.a) collate {collation} and {whole} <> concat(x.a, {IGNORABLE}, y.a, z.a) collate {collation}")
    return sorted({tuple(map(int, row)) for row in pairs + triples})


def weight_of(port, collation, points):
    text = "concat(" + ",".join(POINT.replace("hex(i)", f"hex({point})") for point in points) + ")"
    return ask(port, f"select hex(weight_string({text} collate {collation}))")[0][0]


def levels_of(hexed, count):
    levels = [[] for _ in range(count)]
    level = 0
    for at in range(0, len(hexed), 4):
        unit = int(hexed[at : at + 4], 16)
        if unit == 0:
            level += 1
        else:
            levels[level].append(unit)
    return levels


def entries_of(port, collation, base):
    rows = ask(port, f"select i, hex(weight_string(x collate {collation})) w from (select i, {POINT} x from charset_tables.n where i not between 0xd800 and 0xdfff) d "
                     f"where hex(weight_string(x collate {collation})) <> hex(weight_string(x collate {base}))")
    singles = [((int(point),), weight) for point, weight in rows]
    return singles + [(points, weight_of(port, collation, points)) for points in contractions(port, collation)]


def encoded(base, level_count, entries):
    out = bytearray([base, level_count]) + varint(len(entries))
    for points, weight in entries:
        out += varint(len(points)) + b"".join(varint(point) for point in points)
        for level in levels_of(weight, level_count):
            out += varint(len(level)) + b"".join(varint(unit) for unit in level)
    return bytes(out)


def source_of(language, mysql, mariadb):
    """Returns the port, the collation, the base, the base's number, and the number of levels."""
    if language.endswith("_0900"):
        levels = 1 if language == "da_0900" else 3
        suffix = "_as_cs" if levels == 3 else "_ai_ci"
        return mysql, f"utf8mb4_{language}{suffix}", f"utf8mb4_0900{suffix}", 2, levels
    port = mariadb if language == "croatian_mariadb" else mysql
    return port, f"utf8mb4_{language.removesuffix('_mariadb')}_ci", "utf8mb4_unicode_ci", 0, 1


def main():
    mysql, mariadb = int(sys.argv[1]), int(sys.argv[2])
    path = sys.argv[3] if len(sys.argv) > 3 else "crates/types/src/collation/data/tailored.weights"
    for port in (mysql, mariadb):
        prepare(port)
    out = b""
    for language in LANGUAGES:
        port, collation, base, number, levels = source_of(language, mysql, mariadb)
        entries = entries_of(port, collation, base)
        out += encoded(number, levels, entries)
        print(language, len(entries), len(out), flush=True)
    open(path, "wb").write(out)


if __name__ == "__main__":
    main()
