# SPDX-License-Identifier: Apache-2.0
"""Logs in as ada at an OpenID provider, in the role of browser and application, and prints the refresh token.

    python login.py http://127.0.0.1:PORT
"""

import base64
import json
import sys
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlparse
from urllib.request import HTTPRedirectHandler, Request, build_opener

base = sys.argv[1]
back = "https://app.example.com/back"


class Stay(HTTPRedirectHandler):
    """Follows no redirect: urllib then raises the answer as an HTTPError."""

    def redirect_request(self, *arguments):
        return None


def send(path, fields, headers={}):
    return build_opener(Stay).open(Request(base + path, urlencode(fields).encode(), headers), timeout=20)


query = {"client_id": "app", "redirect_uri": back, "response_type": "code", "scope": "openid"}
try:
    send("/oauth2/authorize?" + urlencode(query), {"sub": "ada"})
    sys.exit("no redirect came")
except HTTPError as answer:
    code = parse_qs(urlparse(answer.headers["Location"]).query)["code"][0]
# RFC 6749 §2.3.1: the secret s&cret is form-encoded before the Base64.
basic = base64.b64encode(b"app:s%26cret").decode()
fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": back}
print(json.load(send("/oauth2/token", fields, {"Authorization": f"Basic {basic}"}))["refresh_token"])
