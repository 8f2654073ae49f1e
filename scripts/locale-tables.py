#!/usr/bin/env python3
"""Writes crates/sql/src/locale/names.txt: what a running MySQL server says of its locales.

Usage: scripts/locale-tables.py PORT [HOST], for root without a password; needs pymysql.

For each number that `SET lc_time_names` takes the server is asked for the names of months and days,
long and short, and for a few numbers by FORMAT(), which tell the signs and the groups of digits.
"""

import re
import sys
from pathlib import Path

import pymysql

OUT = Path(__file__).parent.parent / "crates" / "sql" / "src" / "locale" / "names.txt"


def main():
    port, host = int(sys.argv[1]), (sys.argv[2:] or ["127.0.0.1"])[0]
    cursor = pymysql.connect(host=host, port=port, user="root", charset="utf8mb4").cursor()

    def ask(query, *arguments):
        cursor.execute(query, arguments or None)
        return cursor.fetchone()[0]

    lines = [
        "# Made by scripts/locale-tables.py. A line is a locale: its number and name, the sign between groups of",
        "# digits (U+XXXX or nothing), the decimal sign, whether groups left of the first have 2 digits; then months,",
        "# short months, days from Monday on, short days. `=` stands for what the line before has.",
    ]
    before = [None] * 4
    number = 0
    while True:
        try:
            cursor.execute("SET lc_time_names = %s", (number,))
        except pymysql.err.Error:
            break
        name = ask("SELECT @@lc_time_names")
        dates = [f"2024-{month:02}-01" for month in range(1, 13)]
        days = [f"2024-01-{day:02}" for day in range(1, 8)]
        lists = [
            [ask("SELECT MONTHNAME(%s)", date) for date in dates],
            [ask("SELECT DATE_FORMAT(%s, %s)", date, "%b") for date in dates],
            [ask("SELECT DAYNAME(%s)", day) for day in days],
            [ask("SELECT DATE_FORMAT(%s, %s)", day, "%a") for day in days],
        ]
        shown = ask("SELECT FORMAT(1234567.5, 1, %s)", name)
        signs = re.fullmatch(r"(\d+)(?:(\D)(\d+)\D(\d+))?(\D)5", shown)
        separator = f"U+{ord(signs[2]):04X}" if signs[2] else ""
        words = ["=" if have == old else ",".join(have) for have, old in zip(lists, before)]
        before = lists
        pairs = "2" if signs[3] and len(signs[3]) == 2 else "3"
        lines.append("|".join([str(number), name, separator, signs[5], pairs, *words]))
        number += 1
    OUT.write_text("\n".join(lines) + "\n")


main()
