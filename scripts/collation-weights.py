#!/usr/bin/env python3
"""Writes the weight tables in crates/types/src/collation/ from WEIGHT_STRING() of a MySQL server.

usage: collation-weights.py SOCKET [OUTPUT_DIR]

The server is MySQL 8.0 or newer, with a root user without a password. There is one table for each
family. It has the code points whose weights no rule gives (Hangul syllables and implicit weights
are computed):
  uca_0900.weights  levels 1 to 3 of utf8mb4_0900_as_cs (DUCET of Unicode 9.0.0)
  uca_0520.weights  utf8mb4_unicode_520_ci (Unicode 5.2.0)
  uca_0400.weights  utf8mb4_unicode_ci (Unicode 4.0.0)
  general.weights   utf8mb4_general_ci

The format: each code point, in order, begins with a varint, which is the gap to the last code point
(at least 1) shifted left by 1, plus 1 if the entry is "plain". A plain entry has exactly one
primary, and secondary 0x20 and tertiary 2 where the table has levels. It goes on with the primary
as a zigzag varint relative to the last primary. Any other entry goes on with the number of
primaries, the number of secondaries and the number of tertiaries (one byte each), then the
primaries (zigzag varints, each relative to the one before), the secondaries (varints) and the
tertiaries (varints). general.weights has plain entries only, and its weight is relative to the code
point.
"""
import subprocess
import sys

QUERY = """set cte_max_recursion_depth=2000000;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < {last}),
     c AS (SELECT i, convert(convert(unhex(lpad(hex(i),8,'0')) USING utf32) USING utf8mb4) AS s FROM n)
SELECT i, hex(weight_string(s COLLATE {collation})) FROM c WHERE i NOT BETWEEN 0xd800 AND 0xdfff"""


def weights(socket, collation, last):
    command = ["mysql", "--no-defaults", "-uroot", "-S", socket, "-N", "--raw", "--default-character-set=utf8mb4"]
    out = subprocess.run(command + ["-e", QUERY.format(last=last, collation=collation)], check=True, capture_output=True)
    for line in out.stdout.decode().splitlines():
        code, units = line.split("\t")
        yield int(code), [int(units[at : at + 4], 16) for at in range(0, len(units), 4)]


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def levels_of(units, level_count):
    """Splits the units of a weight string at the zero units between the levels."""
    levels = [[] for _ in range(level_count)]
    level = 0
    for unit in units:
        if unit == 0 and level + 1 < level_count:
            level += 1
        elif unit != 0:
            levels[level].append(unit)
    return levels


CJK_EXTENSIONS = [(0x2A700, 0x2B734), (0x2B740, 0x2B81D), (0x2B820, 0x2CEA1)]


def implicit(code, family):
    """Returns the primaries of a code point that has no entry."""
    if family == "0400" and code > 0xFFFF:
        return [0xFFFD]
    if family == "0900" and 0x17000 <= code <= 0x18AF2:
        return [0xFB00, code - 0x17000 | 0x8000]
    if 0x4E00 <= code <= (0x9FD5 if family == "0900" else 0x9FA5):
        base = 0xFB40
    elif 0x3400 <= code <= 0x4DB5 or (family == "0900" and 0x20000 <= code <= 0x2A6D6):
        base = 0xFB80
    elif family == "0900" and any(low <= code <= high for low, high in CJK_EXTENSIONS):
        base = 0xFB80
    else:
        base = 0xFBC0
    return [base + (code >> 15), code & 0x7FFF | 0x8000]


def write_uca(entries, family, path):
    out, last_code, last_primary, count = bytearray(), -1, 0, 0
    level_count = 3 if family == "0900" else 1
    table = {code: levels_of(units, level_count) for code, units in entries}
    for code, levels in table.items():
        secondaries, tertiaries = ([0x20], [2]) if level_count == 3 else ([], [])
        primaries = levels[0]
        if levels[0] == implicit(code, family) and (level_count == 1 or levels[1:] == [secondaries, tertiaries]):
            continue
        if family == "0900" and 0xAC00 <= code <= 0xD7A3:
            parts = [0x1100 + (code - 0xAC00) // 588, 0x1161 + (code - 0xAC00) % 588 // 28]
            if (code - 0xAC00) % 28:
                parts.append(0x11A7 + (code - 0xAC00) % 28)
            if levels == [sum((table[part][level] for part in parts), []) for level in range(3)]:
                continue
        rest = levels[1:] if level_count == 3 else [[], []]
        plain = len(primaries) == 1 and rest == [secondaries, tertiaries]
        out += varint((code - last_code) << 1 | plain)
        if not plain:
            out += bytes([len(primaries), len(rest[0]), len(rest[1])])
        for primary in primaries:
            out += zigzag(primary - last_primary)
            last_primary = primary
        if not plain:
            for unit in rest[0] + rest[1]:
                out += varint(unit)
        last_code, count = code, count + 1
    with open(path, "wb") as file:
        file.write(out)
    print(path, count, "entries", len(out), "bytes")


def write_general(entries, path):
    out, last_code, count = bytearray(), -1, 0
    for code, units in entries:
        assert len(units) == 1
        if units[0] != code:
            out += varint((code - last_code) << 1 | 1) + zigzag(units[0] - code)
            last_code, count = code, count + 1
    with open(path, "wb") as file:
        file.write(out)
    print(path, count, "entries", len(out), "bytes")


def main():
    socket = sys.argv[1]
    directory = sys.argv[2] if len(sys.argv) > 2 else "crates/types/src/collation"
    write_general(weights(socket, "utf8mb4_general_ci", 0xFFFF), f"{directory}/general.weights")
    write_uca(weights(socket, "utf8mb4_unicode_ci", 0x10FFFF), "0400", f"{directory}/uca_0400.weights")
    write_uca(weights(socket, "utf8mb4_unicode_520_ci", 0x10FFFF), "0520", f"{directory}/uca_0520.weights")
    write_uca(weights(socket, "utf8mb4_0900_as_cs", 0x10FFFF), "0900", f"{directory}/uca_0900.weights")


main()
