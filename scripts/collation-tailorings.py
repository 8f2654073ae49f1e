#!/usr/bin/env python3
"""Writes the changes of languages to DUCET, in crates/types/src/collation/data/.

usage: collation-tailorings.py MYSQL_PORT MARIADB_PORT [OUTPUT_DIR]

Both servers listen on 127.0.0.1, have a root user without a password, and have the database of
charset-tables.py. Characters whose WEIGHT_STRING() is not what the base gives are asked for one by
one. The script finds a contraction by a text that is not equal to itself with an ignorable
character in between. It tries all pairs of Latin letters, of letters and marks, of kana, and of
letters of one block in the other scripts; triples of ASCII letters, and of Latin letters and two
marks; quadruples of small ASCII letters; and Burmese ones of any length.

tailored.weights   for each of LANGUAGES in order: byte base, byte levels, varint count of entries.
                   Each entry: varint count of code points, the code points as varints, then for
                   each level varint count of weights, and the weights as varints.
han.order          the Chinese characters in the order of utf8mb4_zh_0900_as_cs: varint count, and for
                   each a zigzag varint, which is the gap to the code point before. Its lowest bit
                   says that weights are left out before the character; a varint with their number
                   follows.

The bases are 0: 4.0.0, 1: 5.2.0, 2: 9.0.0, and those with a rule of their own, which `based_on` has:
3: 9.0.0 with capital letters first, 4: Japanese, 5: Chinese, 6: 5.2.0 with two levels.
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
    "blocks": "i div 128 in (3,4,7,8,9,10,11,12,13,27,28,29,32,96,97)",
    "marks": "i between 0x300 and 0x328",
    "kana": "i between 0x3000 and 0x30ff or i between 0x31f0 and 0x31ff or i between 0xff61 and 0xff9f or i between 0x1b000 and 0x1b001",
    "burmese": "i between 0x1000 and 0x109f",
}


def prepare(port):
    for table, condition in RANGES.items():
        ask(port, f"use charset_tables; drop table if exists {table}; create table {table}(a varchar(1) character set utf8mb4 collate utf8mb4_bin, i int, k int, key(k));"
                  f"insert into {table} select {POINT}, i, i div 128 from n where (i not between 0xd800 and 0xdfff) and ({condition})")


def contractions(port, collation):
    def found(tables, condition="true"):
        """Returns the texts of characters of these tables that are contractions as a whole."""
        names = "wxyz"[: len(tables)]
        whole = "concat(" + ",".join(f"{name}.a" for name in names) + ")"
        split = lambda at: "concat(" + ",".join(f"{name}.a" if n != at else f"{IGNORABLE}, {name}.a" for n, name in enumerate(names)) + ")"
        differ = " and ".join(f"{whole} collate {collation} <> {split(at)} collate {collation}" for at in range(1, len(tables)))
        joined = " join ".join(f"charset_tables.{table} {name}" for table, name in zip(tables, names))
        rows = ask(port, f"select {','.join(name + '.i' for name in names)} from {joined} where ({condition}) and {differ}")
        return {tuple(map(int, row)) for row in rows}

    def letters(names, low, high):
        return " and ".join(f"{name}.i between {low} and {high}" for name in names)

    out = found(["latin", "tails"]) | found(["blocks", "blocks"], "w.k = x.k")
    out |= found(["latin"] * 3, letters("wxy", 65, 122)) | found(["latin", "marks", "marks"])
    for text in found(["latin"] * 4, letters("wxyz", 97, 122)):
        # In a text of small letters alone every letter may also be a capital one.
        out |= found(["latin"] * 4, " and ".join(f"{name}.i in ({point}, {point - 32})" for name, point in zip("wxyz", text)))
    if "_ja_" in collation:
        out |= found(["kana"] * 2)
    if "_myanmar_" in collation:
        out |= found(["burmese"] * 3)
        # A few contractions have this vowel sign of two characters inside.
        vowel = (0x1031, 0x102C)
        fill_longer(port, {vowel})
        out |= {(text[0],) + vowel + text[2:] for text in found(["burmese", "longer", "burmese", "burmese"])}
        longest = {text for text in out if text[0] >= 0x1000}
        while longest:
            # A longer contraction begins or ends with a shorter one.
            fill_longer(port, longest)
            more = found(["longer", "burmese"]) | found(["longer", "burmese", "burmese"])
            in_order = sorted(longest)
            behind = {in_order[text[0]] + text[1:] for text in more}
            before = {(text[0],) + in_order[text[1]] for text in found(["burmese", "longer"])}
            begins_with_one = lambda text: any(text[:end] in out for end in range(2, len(text)))
            longest = (behind | {text for text in before if not begins_with_one(text)}) - out
            out |= longest
    return sorted(out)


def fill_longer(port, texts):
    values = ",".join(f"({at},convert(_utf32 0x{''.join(f'{point:08X}' for point in text)} using utf8mb4))" for at, text in enumerate(sorted(texts)))
    ask(port, "use charset_tables; drop table if exists longer; create table longer(i int, a varchar(20) character set utf8mb4 collate utf8mb4_bin);"
              f"insert into longer values {values}")


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


def all_weights(port, collation):
    rows = ask(port, f"select i, hex(weight_string({POINT} collate {collation})) from charset_tables.n where i not between 0xd800 and 0xdfff")
    return {int(point): weights for point, weights in rows}


CAPITALS = (0x8, 0x9, 0xA, 0xB, 0xC, 0xE, 0x11, 0x12, 0x1D)


def based_on(base, point, levels, han):
    """Returns the weights that a base with a rule of its own gives to a character. `levels` are its
    weights in 9.0.0, for base 6 in 5.2.0. `han` has the weights of Chinese characters."""
    primaries, rest = levels[0], levels[1:]
    if base == 3:
        capital = lambda weight: weight | (0x100 if weight in CAPITALS else 0x300)
        return [primaries, rest[0], [capital(weight) for weight in rest[1]]]
    if base == 6:
        return [primaries, [0x20] * sum(1 for _ in units(primaries))]
    if base == 4 and point in han:
        return [[han[point]], *rest]
    arranged = [weight for unit in units(primaries) for weight in (japanese(unit) if base == 4 else chinese(unit, han))]
    return [arranged, *rest]


def units(primaries):
    """Divides primaries into single ones and the pairs that a character without an entry has."""
    at = 0
    while at < len(primaries):
        length = 2 if 0xFB00 <= primaries[at] < 0xFFFD else 1
        yield primaries[at : at + length]
        at += length


def japanese(unit):
    """Kana come after Latin letters, then Chinese characters, then everything else."""
    first = unit[0]
    if 0x3D5A <= first <= 0x3D8B:
        return [first - 0x3D5A + 0x1FB6]
    return [0xFB86, first] if 0x1FB6 <= first <= 0x54A3 else unit


def chinese(unit, han):
    """Chinese characters come before Latin letters."""
    first = unit[0]
    if len(unit) == 1:
        return [first + 0xA17D] if 0x1C47 <= first <= 0x54A3 else [0xF65F] if first == 0xFFFD else unit
    point = (first & 0x3F) << 15 | unit[1] & 0x7FFF
    if 0xFB40 <= first < 0xFBC0 and point in han:
        return [han[point]]
    leads = {0xFB00: 0xF621, 0xFB40: 0xBDBF, 0xFB41: 0xBDC0, 0xFB80: 0xBDC1, 0xFB84: 0xBDC2, 0xFB85: 0xBDC3}
    return [leads.get(first, first - 0x59E), unit[1]]


def han_of(base, own, root):
    """Returns the weights of the Chinese characters that have one weight of their own."""
    if base == 4:
        # JIS X 0208 has them in this order.
        return {point: int(own[point][:4], 16) for point in root if root[point].startswith("FB4") and own[point][:2] != "FB"}
    single = lambda point: len(levels_of(own[point], 3)[0]) == 1
    is_own = lambda point: [weight for weight in levels_of(root[point], 3)[0]] in ([base + (point >> 15), point & 0x7FFF | 0x8000] for base in (0xFB40, 0xFB80))
    return {point: int(own[point][:4], 16) for point in root if root[point].startswith("FB") and single(point) and is_own(point)}


def write_han(weights, path):
    out, before, next_weight = varint(len(weights)), 0, 0x1C47
    for point in sorted(weights, key=weights.get):
        left_out = weights[point] - next_weight
        assert left_out >= 0, "no two characters have the same weight"
        out += zigzag_with(point - before, left_out > 0) + (varint(left_out) if left_out else b"")
        before, next_weight = point, weights[point] + 1
    open(path, "wb").write(out)
    print("han", len(weights), len(out))


def zigzag_with(number, flag):
    return varint((number << 1 if number >= 0 else (-number << 1) - 1) << 1 | flag)


def entries_of(port, collation, base, number, level_count, directory):
    if number <= 2:
        rows = ask(port, f"select i, hex(weight_string(x collate {collation})) w from (select i, {POINT} x from charset_tables.n where i not between 0xd800 and 0xdfff) d "
                         f"where hex(weight_string(x collate {collation})) <> hex(weight_string(x collate {base}))")
        singles = [((int(point),), weight) for point, weight in rows]
    else:
        own, root = all_weights(port, collation), all_weights(port, base)
        han = han_of(number, own, root) if number in (4, 5) else {}
        if number == 5:
            write_han(han, f"{directory}/han.order")
        singles = []
        for point, weights in own.items():
            expected = based_on(number, point, levels_of(root[point], 3 if number != 6 else 1), han)
            if split(weights, number, level_count) != expected + [[]] * (level_count - len(expected)):
                singles.append(((point,), weights))
    return singles + [(points, weight_of(port, collation, points)) for points in contractions(port, collation)]


def split(weights, number, level_count):
    """Divides a weight string into levels. Nothing stands between the two levels of base 6: the
    weights of the second one are those below 0x200."""
    if number != 6:
        return levels_of(weights, level_count)
    every = levels_of(weights, 1)[0]
    at = next((at for at, _ in enumerate(every) if len([x for x in every[at:] if x >= 0x200]) == 0), len(every))
    return [every[:at], every[at:]]


def encoded(base, level_count, entries):
    out = bytearray([base, level_count]) + varint(len(entries))
    for points, weight in entries:
        out += varint(len(points)) + b"".join(varint(point) for point in points)
        for level in split(weight, base, level_count):
            out += varint(len(level)) + b"".join(varint(unit) for unit in level)
    return bytes(out)


# Languages with a base of their own: the port's number, the base, its number, and the levels.
SPECIAL = {
    "da_0900_as_cs": (0, "utf8mb4_0900_as_cs", 3, 3),
    "ja_0900_as_cs_ks": (0, "utf8mb4_0900_as_cs", 4, 4),
    "zh_0900_as_cs": (0, "utf8mb4_0900_as_cs", 5, 3),
    "thai_520_w2": (1, "utf8mb4_unicode_520_ci", 6, 2),
    "myanmar_ci": (1, "utf8mb4_unicode_520_ci", 1, 1),
}


def source_of(language, ports):
    """Returns the port, the collation, the base, the base's number, and the number of levels."""
    if language in SPECIAL:
        port, *rest = SPECIAL[language]
        return ports[port], f"utf8mb4_{language}", *rest
    if language.endswith("_0900"):
        levels = 1 if language == "da_0900" else 3
        suffix = "_as_cs" if levels == 3 else "_ai_ci"
        return ports[0], f"utf8mb4_{language}{suffix}", f"utf8mb4_0900{suffix}", 2, levels
    port = ports[1] if language == "croatian_mariadb" else ports[0]
    return port, f"utf8mb4_{language.removesuffix('_mariadb')}_ci", "utf8mb4_unicode_ci", 0, 1


def main():
    ports = int(sys.argv[1]), int(sys.argv[2])
    directory = sys.argv[3] if len(sys.argv) > 3 else "crates/types/src/collation/data"
    for port in ports:
        prepare(port)
    out = b""
    for language in LANGUAGES:
        port, collation, base, number, levels = source_of(language, ports)
        entries = entries_of(port, collation, base, number, levels, directory)
        out += encoded(number, levels, entries)
        print(language, len(entries), len(out), flush=True)
    open(f"{directory}/tailored.weights", "wb").write(out)


if __name__ == "__main__":
    main()
