# SPDX-License-Identifier: Apache-2.0
"""Reflects postrider.jobs with SQLAlchemy, inserts a job as a client and reads it back.

    sqlalchemy_jobs.py DATABASE URL
"""

import sys
import warnings

import psycopg
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Session

# For a column of an unknown type SQLAlchemy only warns. It fails later, when a statement uses the column.
warnings.simplefilter("error", sa.exc.SAWarning)

database, url = sys.argv[1:]
engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database))
metadata = sa.MetaData(schema="postrider")
jobs = sa.Table("jobs", metadata, autoload_with=engine)
status = sa.Table("job_status", metadata, autoload_with=engine)
print(*(str(jobs.c[name].type) for name in ("extract", "run_if", "body_json")))


class Base(DeclarativeBase):
    pass


class Job(Base):
    __table__ = jobs
    # A client may read the id that an INSERT returns, and no other column of jobs.
    __mapper_args__ = {"eager_defaults": False}


with Session(engine) as session:
    job = Job(url=url, method="POST", extract="$.data.items", body_json={"a": [1, None]}, tag="orm")
    session.add(job)
    session.flush()
    id = job.id
    session.commit()
    print(*session.execute(sa.select(status.c.state, status.c.method, status.c.request_url).where(status.c.id == id)).one())
    try:
        session.add(Job(url=url, extract="$.data ("))
        session.commit()
    except sa.exc.DatabaseError as error:
        print(error.orig.sqlstate, error.orig.diag.message_primary, "|", error.orig.diag.message_hint)
