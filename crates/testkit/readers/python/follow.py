"""Follows a server with the Python package mysql-replication and prints every changed row, as testkit's module
`reader` takes them.

    follow.py PORT USER PASSWORD TABLE [gtid]

From the beginning of the binary log, by file and position or by GTID, until a row comes to TABLE.
"""

import datetime
import json
import sys

import pymysql
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n"})


def of_json(value):
    """The library gives keys and strings of a JSON value as bytes."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {of_json(key): of_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [of_json(inner) for inner in value]
    return value


def fraction(microseconds, digits):
    return "." + f"{microseconds:06}"[:digits] if digits else ""


def of_duration(value, digits):
    microseconds = value // datetime.timedelta(microseconds=1)
    seconds, micro = divmod(abs(microseconds), 1_000_000)
    sign = "-" if microseconds < 0 else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" + fraction(micro, digits)


def text(value, column):
    if value is None:
        return "\\N"
    digits = getattr(column, "fsp", 0)
    if column.type == 245:
        return json.dumps(of_json(value), ensure_ascii=False).translate(ESCAPES)
    if column.type == 16:
        return str(int(value, 2))
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, set):
        return ",".join(name for name in column.set_values if name in value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + fraction(value.microsecond, digits)
    if isinstance(value, datetime.timedelta):
        return of_duration(value, digits)
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M:%S") + fraction(value.microsecond, digits)
    return str(value).translate(ESCAPES)


def tell(sign, event, values):
    row = [text(value, column) for value, column in zip(values.values(), event.columns)]
    print(sign, f"{event.schema}.{event.table}", *row, sep="\t", flush=True)


def start(settings, by_gtid):
    """Where to begin, as options of the stream."""
    if by_gtid:
        return {"auto_position": "00000000-0000-0000-0000-000000000001:1"}
    with pymysql.connect(**settings) as session, session.cursor() as cursor:
        cursor.execute("SHOW BINARY LOGS")
        return {"resume_stream": True, "log_file": cursor.fetchone()[0], "log_pos": 4}


def main(port, user, password, last, by="position"):
    settings = {"host": "127.0.0.1", "port": int(port), "user": user, "password": password, "charset": "utf8mb4"}
    stream = BinLogStreamReader(
        connection_settings=dict(settings),
        server_id=4712,
        blocking=True,
        verify_checksum=True,
        use_column_name_cache=True,
        only_events=[DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent],
        enable_logging=False,
        **start(settings, by == "gtid"),
    )
    for event in stream:
        for row in event.rows:
            if isinstance(event, UpdateRowsEvent):
                tell("-", event, row["before_values"])
                tell("+", event, row["after_values"])
            else:
                tell("-" if isinstance(event, DeleteRowsEvent) else "+", event, row["values"])
        if f"{event.schema}.{event.table}" == last:
            break
    stream.close()


main(*sys.argv[1:])
