# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/sql.md and cli.md from the comments of a migrated database and from the help of the worker.

    generate_reference.py WORKER [FOLDER]

FOLDER, by default docs/reference, gets the two files.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import psycopg
import run_page

worker = str(pathlib.Path(sys.argv[1]).resolve())
folder = pathlib.Path(sys.argv[2]) if sys.argv[2:] else run_page.ROOT / "docs/reference"

RELATIONS = """
select c.relname, c.relkind in ('r', 'p') as is_table, coalesce(obj_description(c.oid), ''),
       array(select array[a.attname::text, format_type(a.atttypid, a.atttypmod),
                          coalesce(pg_get_expr(d.adbin, d.adrelid), case when a.attidentity <> '' then 'identity' else '' end),
                          coalesce(col_description(c.oid, a.attnum), '')]
               from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
              where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum)
  from pg_class c where c.relnamespace = 'postrider'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
 order by c.relname
"""
FUNCTIONS = """
select p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), coalesce(obj_description(p.oid), '')
  from pg_proc p where p.pronamespace = 'postrider'::regnamespace order by p.proname, pg_get_function_arguments(p.oid)
"""
CODES = "select code, number, class, retryable, meaning from postrider.error_codes order by class, code"


def cell(text):
    """A text in a cell of a table."""
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").strip()


def code(text):
    return f"`{cell(text)}`" if text else ""


def anchor(title):
    return re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-")


def sql_page(connection):
    relations = connection.execute(RELATIONS).fetchall()
    functions = connection.execute(FUNCTIONS).fetchall()
    lines = ["# SQL reference", "", "Look here for a table, view, column, function or error code of the schema `postrider`. "
             "`make generate` writes this page from the comments in the database; in psql, `\\d+ postrider.jobs` shows them.", ""]
    for title, wanted in (("Tables", True), ("Views", False)):
        names = [name for name, is_table, *_ in relations if is_table is wanted]
        lines.append(f"{title}: " + ", ".join(f"[{name}](#{anchor(name)})" for name in names))
        lines.append("")
    lines += ["[Functions](#functions) · [Error codes](#error-codes)", ""]
    for title, wanted in (("Tables", True), ("Views", False)):
        lines += [f"## {title}", ""]
        for name, is_table, text, columns in relations:
            if is_table is not wanted:
                continue
            lines += [f"### {name}", "", sentence(text), ""]
            if wanted:
                lines += ["| column | type | default | meaning |", "|---|---|---|---|"]
                lines += [f"| {code(c)} | {cell(t)} | {code(d)} | {cell(m)} |" for c, t, d, m in columns]
            else:
                lines += ["| column | type | meaning |", "|---|---|---|"]
                lines += [f"| {code(c)} | {cell(t)} | {cell(m)} |" for c, t, _, m in columns]
            lines.append("")
    lines += ["## Functions", "", "| function | returns | meaning |", "|---|---|---|"]
    lines += [f"| {code(f'{name}({arguments})')} | {cell(result)} | {cell(text)} |" for name, arguments, result, text in functions]
    lines += ["", "## Error codes", "", "| code | number | class | retryable | meaning |", "|---|---|---|---|---|"]
    for name, number, kind, retryable, meaning in connection.execute(CODES):
        lines.append(f"| {code(name)} | {number} | {kind} | {'yes' if retryable else 'no'} | {cell(meaning)} |")
    return "\n".join(lines) + "\n"


def sentence(text):
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") or not text else ".")


def cli_page():
    listing = help_of("help")
    # The commands stand indented, the name before two spaces.
    names = re.findall(r"^  ([a-z]+)(?= |\n)", listing, re.M)
    lines = ["# Command line reference", "", "Look here for a command or a flag. `make generate` writes this page from the help of the program.",
             "", "```text", listing.rstrip(), "```", ""]
    for name in dict.fromkeys(names):
        if name in ("help", "version"):
            continue
        lines += [f"## worker {name}", "", "```text", help_of(name, "--help").rstrip(), "```", ""]
    return "\n".join(lines)


def help_of(*words):
    return subprocess.run([worker, *words], check=True, capture_output=True, text=True).stdout


folder.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory(dir="/var/tmp") as place, run_page.playground(worker, place) as database, \
        psycopg.connect(database) as connection:
    (folder / "sql.md").write_text(sql_page(connection), encoding="utf-8")
(folder / "cli.md").write_text(cli_page(), encoding="utf-8")
