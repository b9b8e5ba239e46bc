# SPDX-License-Identifier: Apache-2.0
"""An API with tokens that expire, for tests. A file of settings makes it misbehave.

Tokens are a1, a2, … and refresh tokens r1, r2, …; aN and rN come in one answer. At the start a1 and r1 are valid. The
last two tokens are valid. A refresh token works once. A second use revokes all tokens.

    ANY  /api/…         needs a token: Authorization: Bearer, X-Key, ?access_token= or {"accessToken"} in JSON
    ANY  /envelope/…    needs a token too. A failure is a 200 with {"code": 801, "msg": …}, a success
                        {"code": 200, "data": {"result": …}}
    GET  /pages?page=N  needs a token: a list of two for N below 4, then an empty one; a2 is refused from page 3 on
    ANY  /open/…        returns parts of the request: {"authorization", "key", "query", "json", "cookie"}; sets a cookie
    POST /token         RFC 6749: client_credentials (client: app, secret: s&cret) and refresh_token
    POST /custom        {"refreshToken"} → {"code": 200, "data": {"result": {"accessToken", "refreshToken", "life"}}}

The folder in TOKEN_API_FOLDER holds log, with a line for each request, `METHOD PATH TOKEN STATUS`. It also holds
config.json, which is read at each request:

    expired           the tokens that have expired
    refuse            true: no token is accepted
    refused_paths     the beginnings of paths where no token is accepted
    logged_out        true: /envelope answers with code 802
    envelope_status   the status of a failure of /envelope, instead of 200
    delay             milliseconds before the answer to a token call
    api_delay         milliseconds before the answer to a call of /api
    token_status      a token call fails with this status
    token_error       the error in such an answer, instead of server_error
    token_text        the body of all answers to token calls, with token_status or 200
    token_type        its Content-Type, instead of application/json
    form              true: a successful token call answers form-encoded
    post              true: the client must send its id and secret in the form, without Authorization
    expires_in        the lifetime in answers to token calls
    keep              true: a refresh returns no new refresh token, and the old one stays valid
    hang              true: a refresh takes effect, but its answer comes 60 s later
"""

import base64
import json
import os
import time
from urllib.parse import unquote_plus, urlencode

from flask import Flask, jsonify, request

app = Flask(__name__)
folder = os.environ["TOKEN_API_FOLDER"]
state = {"last": 1, "refresh": "r1", "revoked": False, "clients": set()}


def config():
    while True:
        try:
            with open(f"{folder}/config.json") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}
        except ValueError:
            time.sleep(0.002)  # the test is writing the file


def note(token, status):
    with open(f"{folder}/log", "a") as file:
        file.write(f"{request.method} {request.path} {token} {status}\n")


def sent_token():
    header = request.headers.get("Authorization", "")
    if header.startswith("Bearer "):
        return header[7:]
    body = request.get_json(silent=True)
    return (
        request.headers.get("X-Key")
        or request.args.get("access_token")
        or (body.get("accessToken") if isinstance(body, dict) else None)
        or "-"
    )


def is_good(token, settings):
    if any(request.path.startswith(path) for path in settings.get("refused_paths", [])):
        return False
    if settings.get("refuse") or state["revoked"] or token in settings.get("expired", []):
        return False
    return token in (f"a{state['last']}", f"a{state['last'] - 1}") or token in state["clients"]


@app.route("/api/<path:rest>", methods=["GET", "POST"])
def api(rest):
    token, settings = sent_token(), config()
    time.sleep(settings.get("api_delay", 0) / 1000)
    if not is_good(token, settings):
        note(token, 401)
        return jsonify(error="expired"), 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    note(token, 200)
    return jsonify(path=rest, token=token)


@app.get("/pages")
def pages():
    token, page = sent_token(), int(request.args["page"])
    good = is_good(token, config()) and not (page >= 3 and token == "a2")
    # The log shows the page in place of the status 200.
    note(token, page if good else 401)
    if not good:
        return jsonify(error="expired"), 401
    return jsonify([page * 2 - 1, page * 2] if page < 4 else [])


@app.route("/envelope/<path:rest>", methods=["GET", "POST"])
def envelope(rest):
    token, settings = sent_token(), config()
    code = 802 if settings.get("logged_out") else 200 if is_good(token, settings) else 801
    note(token, code)
    if code != 200:
        return jsonify(code=code, msg="token expired" if code == 801 else "logged out"), settings.get("envelope_status", 200)
    return jsonify(code=200, msg="ok", data={"result": {"path": rest, "token": token}})


@app.route("/open/<path:rest>", methods=["GET", "POST"])
def show(rest):
    note(sent_token(), 200)
    answer = jsonify(
        authorization=request.headers.get("Authorization"),
        key=request.headers.get("X-Key"),
        query=request.args,
        json=request.get_json(silent=True),
        cookie=request.headers.get("Cookie"),
    )
    answer.set_cookie("visitor", sent_token())
    return answer


def refresh(token, settings):
    """The new token and refresh token, or None if the refresh token is refused."""
    if state["revoked"] or token != state["refresh"]:
        state["revoked"] = state["revoked"] or token in [f"r{n}" for n in range(1, state["last"] + 1)]
        return None
    state["last"] += 1
    if not settings.get("keep"):
        state["refresh"] = f"r{state['last']}"
    return f"a{state['last']}", None if settings.get("keep") else state["refresh"]


def interrupted(settings, token):
    """Waits, and returns the answer that the settings force, or None to continue."""
    time.sleep(settings.get("delay", 0) / 1000)
    status = settings.get("token_status")
    if "token_text" in settings:
        note(token, status or 200)
        return settings["token_text"], status or 200, {"Content-Type": settings.get("token_type", "application/json")}
    if status:
        note(token, status)
        return jsonify(error=settings.get("token_error", "server_error")), status
    return None


@app.post("/token")
def token():
    settings = config()
    sent = request.form.get("refresh_token", "-")
    if (answer := interrupted(settings, sent)) is not None:
        return answer
    if request.form.get("grant_type") == "client_credentials":
        header = request.headers.get("Authorization", "")
        pair = base64.b64decode(header[6:]).decode() if header.startswith("Basic ") else ":"
        pair = [unquote_plus(part) for part in pair.split(":", 1)]
        if settings.get("post"):
            pair = [request.form.get("client_id"), request.form.get("client_secret")] if "Authorization" not in request.headers else []
        if pair != ["app", "s&cret"]:
            note("-", 401)
            return jsonify(error="invalid_client"), 401
        state["last"] += 1
        name = f"c{state['last']}"
        state["clients"] = {name}
        note(name + request.form.get("scope", ""), 200)
        answer = {"access_token": name, "token_type": "Bearer"}
    else:
        pair = refresh(sent, settings)
        if pair is None:
            note(sent, 400)
            return jsonify(error="invalid_grant"), 400
        note(sent, 200)
        if settings.get("hang"):
            time.sleep(60)
        answer = {"access_token": pair[0], "token_type": "Bearer"}
        if pair[1]:
            answer["refresh_token"] = pair[1]
    if "expires_in" in settings:
        answer["expires_in"] = settings["expires_in"]
    if settings.get("form"):
        return urlencode(answer), 200, {"Content-Type": "application/x-www-form-urlencoded"}
    return jsonify(answer)


@app.post("/custom")
def custom():
    settings = config()
    sent = (request.get_json(silent=True) or {}).get("refreshToken", "-")
    if (answer := interrupted(settings, sent)) is not None:
        return answer
    pair = refresh(sent, settings)
    note(sent, 200 if pair else 802)
    if pair is None:
        return jsonify(code=802, msg="logged out")
    return jsonify(code=200, data={"result": {"accessToken": pair[0], "refreshToken": pair[1], "life": settings.get("expires_in")}})
