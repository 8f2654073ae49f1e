"""Django with all of its contrib applications and Wagtail: their migrations from nothing, and what an editor does then.

Words: the server's port, its user, his password, a database that is there and empty.
"""

import sys

import pymysql

port, user, password, database = sys.argv[1:5]

pymysql.version_info = (2, 2, 7, "final", 0)
pymysql.install_as_MySQLdb()

import django  # noqa: E402  the driver's name must be taken before
from django.conf import settings  # noqa: E402

WAGTAIL = "contrib.forms contrib.redirects contrib.search_promotions contrib.settings embeds sites users snippets documents"
DJANGO = "auth admin contenttypes sessions messages sites flatpages redirects"

settings.configure(
    SECRET_KEY="of nobody",
    SITE_ID=1,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    MEDIA_ROOT="/nonexistent",
    WAGTAILADMIN_BASE_URL="http://localhost",
    STATIC_URL="/static/",
    STORAGES={
        name: {"BACKEND": "django.core.files.storage.InMemoryStorage"} for name in ("default", "staticfiles")
    },
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    INSTALLED_APPS=[f"wagtail.{name}" for name in WAGTAIL.split()]
    + ["wagtail.images", "wagtail.search", "wagtail.admin", "wagtail", "modelcluster", "taggit"]
    + [f"django.contrib.{name}" for name in DJANGO.split()]
    + ["django.contrib.staticfiles"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.mysql",
            "HOST": "127.0.0.1",
            "PORT": port,
            "USER": user,
            "PASSWORD": password,
            "NAME": database,
        }
    },
)
django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.contrib.flatpages.models import FlatPage  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from wagtail.models import Collection, Page  # noqa: E402


def edit():
    """What an editor does: accounts, pages that move and have revisions, collections."""
    editor = User.objects.create_user("editor", "editor@example.com", "secret")
    editor.groups.add(*Group.objects.all())
    root = Page.objects.get(depth=1)
    pages = []
    for number in range(8):
        page = Page(title=f"Seite Nr. {number} – 日本", slug=f"page-{number}", owner=editor)
        root.add_child(instance=page)
        page.save_revision(user=editor).publish()
        pages.append(page)
    pages[3].move(pages[1], pos="last-child")
    Page.objects.get(slug="page-4").delete()
    Page.objects.filter(slug__startswith="page").update(search_description="once more")
    Collection.get_first_root_node().add_child(instance=Collection(name="pictures"))
    FlatPage.objects.create(url="/about/", title="About", content="text").sites.add(1)
    with transaction.atomic():
        User.objects.filter(username="editor").update(last_name="O'Neil \\ Sons")


class Parent(models.Model):
    name = models.CharField(max_length=40, unique=True)

    class Meta:
        app_label = "sites"


def field_types():
    """A field of each type by name, as Django would make it."""
    return {
        "big": models.BigIntegerField(default=7),
        "binary": models.BinaryField(default=b"\x00\xff"),
        "flag": models.BooleanField(null=True),
        "short": models.CharField(max_length=30, default="x", db_index=True),
        "collated": models.CharField(max_length=30, default="y", db_collation="utf8mb4_bin"),
        "day": models.DateField(null=True),
        "moment": models.DateTimeField(null=True),
        "price": models.DecimalField(max_digits=12, decimal_places=4, default=1),
        "span": models.DurationField(null=True),
        "ratio": models.FloatField(default=0.25),
        "address": models.GenericIPAddressField(null=True),
        "number": models.IntegerField(default=1, db_comment="counts what's there"),
        "document": models.JSONField(default=dict),
        "positive": models.PositiveIntegerField(default=3),
        "small": models.PositiveSmallIntegerField(default=4),
        "slug": models.SlugField(default="slug"),
        "tiny": models.SmallIntegerField(default=5),
        "text": models.TextField(default="long"),
        "clock": models.TimeField(null=True),
        "identity": models.UUIDField(null=True, unique=True),
        "made": models.GeneratedField(
            expression=models.F("number") * 2, output_field=models.BigIntegerField(), db_persist=True
        ),
        "parent": models.ForeignKey(Parent, null=True, on_delete=models.CASCADE),
    }


def change_every_type():
    """A model with a field of each type is made, filled, changed field by field, and taken away in part."""
    meta = type(
        "Meta",
        (),
        {
            "app_label": "sites",
            "db_table": "every_type",
            "db_table_comment": "one of each",
            "constraints": [
                models.CheckConstraint(condition=models.Q(number__gte=0), name="not_negative"),
                models.UniqueConstraint(fields=["short", "number"], name="short_and_number"),
            ],
            "indexes": [models.Index(fields=["-day", "moment"], name="day_then_moment")],
        },
    )
    every = type("Every", (models.Model,), {"__module__": __name__, "Meta": meta, **field_types()})
    with connection.schema_editor() as editor:
        editor.create_model(Parent)
        editor.create_model(every)
    parent = Parent.objects.create(name="Ä")
    for number in range(20):
        every.objects.create(number=number, short=f"s{number}", parent=parent, document={"n": [number, None, "ü"]})

    def replaced(name, new):
        new.set_attributes_from_name(name)
        new.model = every
        return new

    changes = {
        "short": models.CharField(max_length=300, null=True),
        "price": models.DecimalField(max_digits=20, decimal_places=2, null=True),
        "number": models.BigIntegerField(default=1),
        "text": models.CharField(max_length=100, default="long"),
        "flag": models.BooleanField(default=False),
        "day": models.DateTimeField(null=True),
        "ratio": models.DecimalField(max_digits=9, decimal_places=3, default=0),
        "slug": models.TextField(default="slug"),
    }
    for name, new in changes.items():
        if name == "number" and connection.mysql_is_mariadb is False:
            continue  # MySQL refuses to change what a stored column is computed from
        with connection.schema_editor() as editor:
            editor.alter_field(every, every._meta.get_field(name), replaced(name, new))
    with connection.schema_editor() as editor:
        editor.add_field(every, replaced("added", models.JSONField(null=True)))
        editor.add_field(every, replaced("other_parent", models.OneToOneField(Parent, null=True, on_delete=models.SET_NULL)))
        editor.remove_field(every, every._meta.get_field("made"))
        editor.remove_constraint(every, meta.constraints[0])
        editor.rename_index(every, meta.indexes[0], models.Index(fields=["-day", "moment"], name="renamed"))
        editor.alter_db_table(every, "every_type", "every_type_renamed")


call_command("migrate", verbosity=0)
edit()
change_every_type()
call_command("migrate", "flatpages", "zero", verbosity=0)
call_command("migrate", "flatpages", verbosity=0)
print("done")
