"""Runs the test suite of a client library against a server, and tells of each test in a line what came of it.

Words: the suite, the folder with the unpacked sources of the clients, the server's port, its user, his password, then
what of the suite is run.
"""

import glob
import os
import re
import subprocess
import sys

import pytest

suite, sources, port, user, password = sys.argv[1:6]
parts = sys.argv[6:]


class Outcomes:
    """Notes what pytest says of each test: it is told of the set-up, the test itself and what is done behind it."""

    def __init__(self):
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        order = ["PASS", "SKIP", "FAIL"]
        outcome = {"passed": "PASS", "skipped": "SKIP", "failed": "FAIL"}[report.outcome]
        # SQLAlchemy names its tests after the server's version.
        name = re.sub(r"_mysql\+pymysql[_0-9]*", "", report.nodeid)
        self.outcomes[name] = max(outcome, self.outcomes.get(name, "PASS"), key=order.index)


def run_pytest(words):
    """Runs pytest in this process; whether tests fail is for the caller of this program to judge."""
    outcomes = Outcomes()
    pytest.main(["-q", "-p", "no:cacheprovider", *words], plugins=[outcomes])
    for name, outcome in outcomes.outcomes.items():
        print(f"--- {outcome}: {name}")


def go_to(package):
    """Makes the folder of an unpacked package the working directory."""
    os.chdir(glob.glob(os.path.join(sources, package + "-[0-9]*"))[0])


if suite == "sqlalchemy":
    go_to("sqlalchemy")
    run_pytest(["--dburi", f"mysql+pymysql://{user}:{password}@127.0.0.1:{port}/suite?charset=utf8mb4", *parts])
elif suite == "mysqlclient":
    go_to("mysqlclient")
    options = f"tests/server_{port}.cnf"
    with open(options, "w") as file:
        file.write(f"[MySQLdb-tests]\nhost=127.0.0.1\nport={port}\nuser={user}\npassword={password}\n")
        file.write("database=suite\ndefault-character-set=utf8mb4\n")
    os.environ["TESTDB"] = os.path.basename(options)
    run_pytest(["tests", *parts])
elif suite == "django":
    settings = os.path.dirname(os.path.abspath(__file__))
    environment = dict(os.environ, PYTHONPATH=settings, SUITE_PORT=port, SUITE_USER=user, SUITE_PASSWORD=password)
    go_to("django")
    words = ["--settings=django_settings", "--noinput", "--parallel=1", *parts]
    subprocess.run([sys.executable, "tests/runtests.py", *words], env=environment)
else:
    sys.exit(f"{suite} is no suite")
print("done")
