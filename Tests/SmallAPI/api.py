# SPDX-License-Identifier: Apache-2.0
"""A small API with its own database, for tests and for `make demo`.

Accounts, for chains. A call needs a value from the answer to an earlier call:

    POST /register {"username"}    {"data": {"id", "username", "team", "fresh"}}; fresh: whether the name was new
    GET  /users/ID                 {"data": {"id", "username", "team", "avatar"}}
    GET  /avatars/ID               an SVG picture
    GET  /teams/NAME               {"data": {"name", "members": [ids]}}, by user name
    POST /welcome {"id"}           {"data": {"greeting"}}; without an id it greets the user that registered last

Lists, for pagination. `of` is the number of items (95), `limit` the size of a page (10, at most 100):

    GET /items?page                {"code": 200, "data": {"list", "page", "pages", "total"}}
    GET /offset?offset             the array itself
    GET /cursor?after              {"items", "next"}; next is null on the last page
    GET /link?page                 the array itself, and a Link header (RFC 8288)
                                   as=absolute, path, query: the form of the reference
                                   in=body: {"items", "links": {"next"}} and no header
    POST /graphql                  {"data": {"items": {"nodes", "end"}}}; the body's `variables` has first and after
                                   as=object, number, list, true: the JSON type of end; after must equal the last end
    GET /header                    the array itself; X-Cursor of the request is the page, X-Next of the answer the next

Behind the last page of /items, ends=STATUS answers with that status, and repeats=1 repeats the last page.

Faults of a list at page N: loop=N (next leads back to page 1), away=N (next leads to another origin), odd=N (the answer
has no list), fail=N (status 503, once for each `run`). slow=MS delays each page.

GET /calls returns all requests so far, in order: [{"at", "method", "path", "key"}].

accounts.py adds accounts with logins below /v1, sales.py contacts and payments below /sales.
"""

import os
import sqlite3
import time

from accounts import accounts
from flask import Flask, Response, g, jsonify, request
from sales import sales

app = Flask(__name__)
app.register_blueprint(accounts)
app.register_blueprint(sales)
app.json.sort_keys = False
database = sqlite3.connect(os.environ.get("SMALL_API_DATABASE", ":memory:"), check_same_thread=False, isolation_level=None)
database.executescript(
    """
    create table if not exists users (id integer primary key, username text not null unique, team text not null);
    create table if not exists greetings (id integer not null);
    create table if not exists calls (at real not null, method text not null, path text not null, key text);
    create table if not exists failures (run text primary key);
    """
)


@app.before_request
def note():
    if request.path != "/calls":
        database.execute(
            "insert into calls values (?, ?, ?, ?)",
            (time.time(), request.method, request.full_path.rstrip("?"), request.headers.get("Idempotency-Key")),
        )


def missing(what):
    return jsonify(error=f"{what} does not exist"), 404


@app.post("/register")
def register():
    username = (request.get_json(silent=True) or {}).get("username")
    if not isinstance(username, str) or not username:
        return jsonify(error="username is missing"), 400
    team = "early" if username[0].lower() < "n" else "late"
    fresh = database.execute(
        "insert into users (username, team) values (?, ?) on conflict do nothing", (username, team)
    ).rowcount
    number = database.execute("select id from users where username = ?", (username,)).fetchone()[0]
    return jsonify(data={"id": number, "username": username, "team": team, "fresh": fresh == 1}), 201 if fresh else 200


@app.get("/users/<int:number>")
def user(number):
    row = database.execute("select username, team from users where id = ?", (number,)).fetchone()
    if row is None:
        return missing(f"user {number}")
    return jsonify(data={"id": number, "username": row[0], "team": row[1], "avatar": f"/avatars/{number}"})


@app.get("/avatars/<int:number>")
def avatar(number):
    row = database.execute("select username from users where id = ?", (number,)).fetchone()
    if row is None:
        return missing(f"user {number}")
    letter = row[0][0].upper() if row[0][0].isalnum() else "?"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><text x="20" y="40">{letter}</text></svg>'
    return Response(svg, mimetype="image/svg+xml")


@app.get("/teams/<name>")
def team(name):
    members = [row[0] for row in database.execute("select id from users where team = ? order by username", (name,))]
    return jsonify(data={"name": name, "members": members}) if members else missing(f"team {name}")


@app.post("/welcome")
def welcome():
    number = (request.get_json(silent=True) or {}).get("id")
    if number is None:
        row = database.execute("select id, username from users order by id desc limit 1").fetchone()
    else:
        row = database.execute("select id, username from users where id = ?", (number,)).fetchone()
    if row is None:
        return missing("the user")
    database.execute("insert into greetings values (?)", (row[0],))
    return jsonify(data={"greeting": f"Welcome, {row[1]}!"})


@app.get("/calls")
def calls():
    rows = database.execute("select at, method, path, key from calls order by rowid").fetchall()
    return jsonify([{"at": row[0], "method": row[1], "path": row[2], "key": row[3]} for row in rows])


# Lists


def number(name, default):
    return request.args.get(name, default, type=int)


def begin(page):
    """Waits and fails as the query requests. Returns an answer, or None to continue."""
    g.page = page
    time.sleep(number("slow", 0) / 1000)
    if page == number("fail", 0):
        first = database.execute(
            "insert into failures values (?) on conflict do nothing", (request.path + request.args.get("run", ""),)
        ).rowcount
        if first:
            return jsonify(error="not now"), 503
    return jsonify(code=200, data={}, error="something else") if page == number("odd", 0) else None


def size():
    return max(1, min(number("limit", 10), 100))


def items(start):
    """The items of a page from start on, and whether more follow."""
    total = number("of", 95)
    numbers = range(start, min(start + size(), total))
    return [{"id": n + 1, "name": f"item {n + 1}"} for n in numbers], start + size() < total


@app.route("/items", methods=["GET", "POST"])
def by_page():
    page = number("page", 1)
    if (answer := begin(page)) is not None:
        return answer
    total = number("of", 95)
    if page > (last := -(-total // size())):
        if (status := number("ends", 0)) > 0:
            return "" if status == 204 else "<p>nothing here</p>", status
        page = last if number("repeats", 0) else page
    found, _ = items((page - 1) * size())
    return jsonify(code=200, data={"list": found, "page": page, "pages": -(-total // size()), "total": total})


@app.get("/offset")
def by_offset():
    start = number("offset", 0)
    if (answer := begin(start // size() + 1)) is not None:
        return answer
    return jsonify(items(start)[0])


@app.get("/cursor")
def by_cursor():
    after = request.args.get("after", "")
    # Its cursors contain characters that must be encoded in a query.
    page = int(after.split("&")[0][2:]) if after.startswith("p=") else 1
    if (answer := begin(page)) is not None:
        return answer
    found, more = items((page - 1) * size())
    following = 1 if page == number("loop", 0) else page + 1
    return jsonify(items=found, next=f"p={following}&/+é" if more else None)


@app.get("/link")
def by_link():
    page = number("page", 1)
    if (answer := begin(page)) is not None:
        return answer
    found, more = items((page - 1) * size())
    args = request.args.to_dict()
    args["page"] = str(1 if page == number("loop", 0) else page + 1)
    query = "?" + "&".join(f"{name}={value}" for name, value in args.items())
    origin = "http://elsewhere.example" if page == number("away", 0) else request.host_url.rstrip("/")
    form = "absolute" if page == number("away", 0) else request.args.get("as", "absolute")
    target = {"absolute": origin + "/link" + query, "path": "/link" + query, "query": query}[form]
    if request.args.get("in") == "body":
        return jsonify(items=found, links={"next": target if more else None})
    response = jsonify(found)
    if more:
        # The client must skip the link with other relations, and the comma between quotes.
        response.headers["Link"] = f'<{origin}/link?page=1>; rel="first prefetch", <{target}>; title="a, b"; rel="next"'
    return response


@app.post("/graphql")
def by_variables():
    variables = (request.get_json(silent=True) or {}).get("variables") or {}
    form = {
        "object": lambda n: {"page": n},
        "number": lambda n: n,
        "list": lambda n: [n, "a"],
        "true": lambda n: True,
    }[request.args.get("as", "object")]
    after = variables.get("after")
    # In Python True equals 1, so the types are compared too.
    pages = [n for n in range(1, 20) if after is not None and after == form(n) and type(after) is type(form(n))]
    if after is not None and not pages:
        return jsonify(error="after is not a value of end"), 400
    page = pages[0] + 1 if pages else 1
    if (answer := begin(page)) is not None:
        return answer
    first = variables.get("first", 10)
    found, _ = items((page - 1) * first)
    more = page * first < number("of", 95)
    return jsonify(data={"items": {"nodes": found[:first], "end": form(page) if more else None}})


@app.get("/header")
def by_header():
    page = int(request.headers.get("X-Cursor", "1"))
    if (answer := begin(page)) is not None:
        return answer
    found, more = items((page - 1) * size())
    response = jsonify(found)
    response.headers["X-Next"] = str(page + 1) if more else request.args.get("last", "")
    return response
