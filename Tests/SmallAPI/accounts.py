# SPDX-License-Identifier: Apache-2.0
"""The part of the small API below /v1: accounts with logins, where the code of an answer is inside a 200.

Each answer is {"code", "msg", "data"} with status 200. The codes: 200 success, 404 not found, 422 a wrong argument,
801 the token has expired or is unknown, 802 logged out. All but the first three calls need a token: Authorization: Bearer.

    POST   /v1/register {"username", "password", "referrer"?}   {"id", "username", "team", "fresh"}
    POST   /v1/login {"username", "password"}                   {"id", "token", "expires_in"}; ends older tokens of the user
    POST   /v1/token {"username", "password"}                   the same, for any user; a user that is new is made first
    POST   /v1/logout                                           {}; from then on the token is answered with 802
    GET    /v1/users?q&team&limit                               a list of users
    GET    /v1/users/ID                                         {"id", "username", "team", "name", "email", "has_avatar"}
    PATCH  /v1/users/ID {"name"?, "email"?}                     the user
    DELETE /v1/users/ID                                         {"deleted": ID}
    POST   /v1/users/ID/avatar                                  multipart with the file `picture`: {"bytes", "type"}
    GET    /v1/users/ID/avatar                                  the picture itself, without the envelope
    GET    /v1/users/ID/friends?page&limit                      {"list", "page", "pages"}
    POST   /v1/users/ID/friends {"friend"}                      {"friends": number}
    DELETE /v1/users/ID/friends/FRIEND                          {"friends": number}
    POST   /v1/users/ID/welcome {"text"?}                       {"greeting"}
"""

import sqlite3

from flask import Blueprint, Response, g, jsonify, request

accounts = Blueprint("accounts", __name__, url_prefix="/v1")
database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
database.executescript(
    """
    create table users (id integer primary key, username text not null unique, password text not null, team text not null,
                        name text, email text, picture blob, type text);
    create table friends (id integer not null, friend integer not null, primary key (id, friend));
    create table tokens (token integer primary key, id integer not null, state integer not null default 200);
    """
)
COLUMNS = "id, username, team, name, email, picture is not null"


class Refusal(Exception):
    def __init__(self, code, msg):
        self.code, self.msg = code, msg


@accounts.errorhandler(Refusal)
def refused(refusal):
    return jsonify(code=refusal.code, msg=refusal.msg)


def success(data):
    return jsonify(code=200, msg="ok", data=data)


def argument(name):
    value = (request.get_json(silent=True) or {}).get(name)
    if not isinstance(value, str) or not value:
        raise Refusal(422, f"{name} is missing")
    return value


@accounts.before_request
def check_token():
    if request.path in ("/v1/register", "/v1/login", "/v1/token"):
        return
    token = request.headers.get("Authorization", "").removeprefix("Bearer token-")
    row = database.execute("select id, state from tokens where token = ?", (token,)).fetchone()
    if row is None or row[1] != 200:
        code = row[1] if row else 801
        raise Refusal(code, "logged out" if code == 802 else "the token has expired")
    g.token = token


def found(number):
    row = database.execute(f"select {COLUMNS} from users where id = ?", (number,)).fetchone()
    if row is None:
        raise Refusal(404, f"user {number} does not exist")
    return dict(zip(["id", "username", "team", "name", "email"], row), has_avatar=row[5] == 1)


def insert_user(username, password):
    team = "early" if username[0].lower() < "n" else "late"
    return database.execute(
        "insert into users (username, password, team) values (?, ?, ?) on conflict do nothing", (username, password, team)
    ).rowcount


@accounts.post("/register")
def register():
    username = argument("username")
    fresh = insert_user(username, argument("password")) == 1
    row = database.execute("select id, username, team from users where username = ?", (username,)).fetchone()
    return success({"id": row[0], "username": row[1], "team": row[2], "fresh": fresh})


@accounts.post("/login")
def log_in():
    row = database.execute(
        "select id from users where username = ? and password = ?", (argument("username"), argument("password"))
    ).fetchone()
    if row is None:
        raise Refusal(422, "username or password is wrong")
    database.execute("update tokens set state = 801 where id = ?", row)
    token = database.execute("insert into tokens (id) values (?)", row).lastrowid
    return success({"id": row[0], "token": f"token-{token}", "expires_in": 3600})


@accounts.post("/token")
def token():
    insert_user(argument("username"), argument("password"))
    return log_in()


@accounts.post("/logout")
def log_out():
    database.execute("update tokens set state = 802 where token = ?", (g.token,))
    return success({})


@accounts.get("/users")
def search():
    rows = database.execute(
        f"select {COLUMNS} from users where instr(username, ?1) and (?2 is null or team = ?2) order by id limit ?3",
        (request.args.get("q", ""), request.args.get("team"), request.args.get("limit", 10, type=int)),
    ).fetchall()
    return success([found(row[0]) for row in rows])


@accounts.get("/users/<int:number>")
def user(number):
    return success(found(number))


@accounts.patch("/users/<int:number>")
def update(number):
    found(number)
    for name, value in (request.get_json(silent=True) or {}).items():
        if name not in ("name", "email"):
            raise Refusal(422, f"{name} cannot be changed")
        database.execute(f"update users set {name} = ? where id = ?", (value, number))
    return success(found(number))


@accounts.delete("/users/<int:number>")
def delete(number):
    found(number)
    database.execute("delete from friends where ? in (id, friend)", (number,))
    database.execute("delete from users where id = ?", (number,))
    return success({"deleted": number})


@accounts.post("/users/<int:number>/avatar")
def upload(number):
    found(number)
    file = request.files.get("picture")
    if file is None:
        raise Refusal(422, "picture is missing")
    picture = file.read()
    database.execute("update users set picture = ?, type = ? where id = ?", (picture, file.mimetype, number))
    return success({"bytes": len(picture), "type": file.mimetype})


@accounts.get("/users/<int:number>/avatar")
def avatar(number):
    row = database.execute("select picture, type from users where id = ?", (number,)).fetchone()
    if row is None or row[0] is None:
        raise Refusal(404, f"user {number} has no avatar")
    return Response(row[0], mimetype=row[1])


@accounts.get("/users/<int:number>/friends")
def friends(number):
    found(number)
    page, size = request.args.get("page", 1, type=int), request.args.get("limit", 10, type=int)
    rows = database.execute("select friend from friends where id = ? order by friend", (number,)).fetchall()
    part = rows[(page - 1) * size : page * size]
    return success({"list": [found(row[0]) for row in part], "page": page, "pages": -(-len(rows) // size)})


def count_friends(number):
    return success({"friends": database.execute("select count(*) from friends where id = ?", (number,)).fetchone()[0]})


@accounts.post("/users/<int:number>/friends")
def add_friend(number):
    found(number)
    friend = found((request.get_json(silent=True) or {}).get("friend"))["id"]
    database.execute("insert into friends values (?, ?) on conflict do nothing", (number, friend))
    return count_friends(number)


@accounts.delete("/users/<int:number>/friends/<int:friend>")
def remove_friend(number, friend):
    found(number)
    database.execute("delete from friends where id = ? and friend = ?", (number, friend))
    return count_friends(number)


@accounts.post("/users/<int:number>/welcome")
def welcome(number):
    text = (request.get_json(silent=True) or {}).get("text") or "Welcome"
    return success({"greeting": f"{text}, {found(number)['username']}!"})
