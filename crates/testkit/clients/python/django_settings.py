"""Settings of Django's own test suite: where the server is comes from the environment."""

import os


def database(name):
    """One of the two databases that the suite wants; it makes them itself, as `test_` and the name."""
    return {
        "ENGINE": "django.db.backends.mysql",
        "HOST": "127.0.0.1",
        "PORT": os.environ["SUITE_PORT"],
        "USER": os.environ["SUITE_USER"],
        "PASSWORD": os.environ["SUITE_PASSWORD"],
        "NAME": name,
        "TEST": {"CHARSET": "utf8mb4"},
    }


DATABASES = {"default": database("django"), "other": database("django_other")}
SECRET_KEY = "of nobody"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_outcomes.Runner"
