#!/usr/bin/env python3
"""Runs the statements of *.sql (one a line) on a MySQL server and writes what it answers to *.result.

usage: generate.py SOCKET, of a server with a root account without a password. Each file starts in an empty schema `test`.
"""
import pathlib
import subprocess
import sys

MARK = "<<<next>>>"


def answers(socket, statements):
    script = ["DROP DATABASE IF EXISTS d2", "DROP DATABASE IF EXISTS test", "CREATE DATABASE test", "USE test"]
    script += ["SET time_zone = '+00:00'", "SET NAMES utf8mb4"]
    for statement in statements:
        script += [f"SELECT '{MARK}'", statement]
    command = ["mysql", "--no-defaults", "-uroot", f"--socket={socket}", "--batch", "--skip-column-names", "--force",
               "--unbuffered", "--default-character-set=utf8mb4", "--comments"]
    text = "".join(statement + ";\n" for statement in script)
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    parts = done.stdout.decode("utf-8", "replace").split(MARK + "\n")[1:]
    assert len(parts) == len(statements), (len(parts), len(statements))
    return parts


def main():
    here = pathlib.Path(__file__).parent
    for path in sorted(here.glob("*.sql")):
        statements = [line for line in path.read_text().splitlines() if line]
        out = []
        for statement, answer in zip(statements, answers(sys.argv[1], statements)):
            out.append("> " + statement)
            lines = answer.splitlines()
            if lines[:1] == ["-" * 14]:
                # In batch mode the client repeats a statement that failed.
                lines = lines[4:]
            for line in lines:
                if line.startswith("ERROR "):
                    # `ERROR 1054 (42S22) at line 9: text` -> without the line.
                    head, _, message = line.partition(": ")
                    line = head.split(" at line ")[0] + ": " + message
                out.append(line)
        path.with_suffix(".result").write_text("\n".join(out) + "\n")
        print(path.name, len(statements))


if __name__ == "__main__":
    main()
