# SPDX-License-Identifier: Apache-2.0
"""Lets Django's inspectdb write models of jobs and job_status, inserts a job and reads it back.

    django_jobs.py CLIENT OWNER URL

CLIENT and OWNER are connection strings. inspectdb needs the right to read jobs, so it runs as OWNER.
"""

import io
import sys

import django
import psycopg
from django.conf import settings
from django.core.management import call_command

client, owner, url = sys.argv[1:]


def connection(database):
    known = psycopg.conninfo.conninfo_to_dict(database)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": known["dbname"],
        "HOST": known["host"],
        "PORT": known.get("port", ""),
        "USER": known["user"],
        "OPTIONS": {"options": "-c search_path=postrider"},
    }


settings.configure(USE_TZ=True, DATABASES={"default": connection(client), "owner": connection(owner)})
django.setup()

from django.db import DatabaseError  # noqa: E402


def model(relation, key, names):
    """The model that inspectdb writes, reduced to these fields. Django sends null for each field without a value."""
    text = io.StringIO()
    call_command("inspectdb", relation, database="owner", include_partitions=True, include_views=True, stdout=text)
    lines = []
    for line in text.getvalue().splitlines():
        field = line.split(" = ")[0].strip() if line.startswith("    ") and " = models." in line else None
        if field is None or field in names:
            lines.append(line.replace("class Meta:", "class Meta:\n        app_label = 'postrider'"))
            if field in ("extract", "run_if"):
                print(field, line.split("models.")[1].split("(")[0], "guessed" if "a guess" in line else "known")
    source = "\n".join(lines)
    # inspectdb finds no primary key for a view, and a model needs one.
    if key not in source:
        source = source.replace("    id = models.BigIntegerField(", f"    id = models.BigIntegerField({key}, ")
    space = {"__name__": "models"}
    exec(source, space)
    return space[relation.title().replace("_", "")]


Job = model("jobs", "primary_key=True", ["id", "url", "method", "extract", "run_if", "body_json", "tag"])
Status = model("job_status", "primary_key=True", ["id", "state", "method", "request_url", "tag"])
job = Job.objects.create(url=url, method="POST", extract="$.data.items", body_json={"a": [1, None]}, tag="orm")
found = Status.objects.get(id=job.id)
print(found.state, found.method, found.request_url)
try:
    Job.objects.create(url=url, method="GET", extract="$.data (")
except DatabaseError as error:
    print(error.__cause__.sqlstate, error.__cause__.diag.message_primary)
