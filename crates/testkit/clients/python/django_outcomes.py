"""Django's test runner, telling of each test in a line what came of it, as Go's tests do."""

import unittest

from django.test.runner import DiscoverRunner


class Result(unittest.TextTestResult):
    """Notes the worst outcome of each test: its parts may end otherwise than it does."""

    def __init__(self, *args, **words):
        super().__init__(*args, **words)
        self.worst = {}

    def note(self, test, outcome):
        order = ["PASS", "SKIP", "FAIL"]
        name = test.id()
        self.worst[name] = max(outcome, self.worst.get(name, "PASS"), key=order.index)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "PASS")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "SKIP")

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.note(test, "PASS")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "FAIL")

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "FAIL")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "FAIL")

    def addSubTest(self, test, part, error):
        super().addSubTest(test, part, error)
        if error is not None:
            self.note(test, "FAIL")


class Runner(DiscoverRunner):
    """Prints the outcomes when all tests have run."""

    def get_resultclass(self):
        return Result

    def suite_result(self, suite, result, **words):
        for name, outcome in result.worst.items():
            print(f"--- {outcome}: {name}")
        return super().suite_result(suite, result, **words)
