# SPDX-License-Identifier: Apache-2.0
"""Stages five incidents, and ends each one in a browser by the dashboard alone.

    incidents.py WORKER [NAME...]                 all incidents, or those with these names
    incidents.py --images docs/images WORKER      makes the pictures of the docs anew, also of pages without an incident

Each incident has its own database with a worker and real traffic to an API on loopback. An operator opens `/`, follows
links, acts, and waits until the dashboard shows that it is over. The script prints the seconds, the opened pages and
the clicks of each incident. It ends with 1 if an incident takes two minutes. Pictures need pngquant.
"""

import argparse
import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from incident_desk import Desk
from incident_stage import Stage

LIMIT = 120


def api_down(stage, desk):
    """One of two servers answers 500 after a bad release. A 500 does not set a server aside."""
    stage.sql(f"""
        insert into postrider.services (name, base_url) values ('billing', null), ('mail', '{stage.api.url}/mail/');
        insert into postrider.servers (service, position, base_url)
        values ('billing', 1, '{stage.api.url}/eu'), ('billing', 2, '{stage.api.url}/us')""")
    if desk.images:
        # The charts of the picture have a history.
        stage.traffic("service, method, url", "(array['mail', 'billing'])[1 + i % 2], 'POST', 'items/' || i", 240)
        stage.join()
    stage.api.broken.add("eu")
    stage.traffic("service, method, url, body_json, max_attempts",
                  "'billing', 'POST', 'invoices', jsonb_build_object('customer', i), 1")
    stage.until("select count(*) > 40 from postrider.recent_failures")
    yield
    desk.open()
    desk.picture("overview")
    desk.click("show jobs", "section", "by cause")
    desk.click_first_job()
    assert "no connection to the ledger" in desk.text(".answer")
    desk.picture("failed-job", dark=True)
    desk.menu("Services")
    desk.click("switch to it", "tr", "/us")
    desk.confirm()
    desk.menu("Failures")
    desk.click("retry", "tr", "billing")
    desk.confirm()
    desk.wait("It is done.")
    desk.menu("Overview")
    desk.wait(lambda: desk.figure("failed") == 0)


def token_revoked(stage, desk):
    """The API refuses each token of the login, also a fresh one, until its owner allows the app again."""
    stage.api.refused.add("crm")
    stage.sql(f"""
        insert into postrider.credentials (name, kind, token_url, client_id, allow_private_network)
        values ('crm', 'oauth2_client_credentials', '{stage.api.url}/token', 'app', true);
        select postrider.log_in('crm', '{{"client_secret": "s"}}');
        insert into postrider.services (name, base_url, credential) values ('crm', '{stage.api.url}/crm/', 'crm')""")
    stage.traffic("service, url", "'crm', (array['contacts/', 'invoices/', 'deals/'])[1 + i % 3] || i")
    stage.until("select hold_reason is not null and jobs_waiting > 20 from postrider.credential_status")
    yield
    desk.open()
    desk.picture("token-revoked")
    desk.click("details", "tr", "crm")
    assert "the API refuses each token" in desk.text("main")
    # The operator calls the owner of the API, and the owner allows the app again.
    stage.api.refused.clear()
    desk.wait("active", 75)
    desk.menu("Overview")
    desk.wait("Nothing needs attention")


def throttled_lane(stage, desk):
    """The API asks for a pause of an hour over a wrong quota. Its owner corrects the quota at once."""
    stage.api.throttled.add("maps")
    stage.sql(f"""
        insert into postrider.services (name, base_url) values ('maps', '{stage.api.url}/maps/'),
          ('mail', '{stage.api.url}/mail/')""")
    stage.traffic("service, url", "case when i % 2 = 0 then 'maps' else 'mail' end, 'items/' || i")
    stage.until("select bool_or(paused) from postrider.lane_status")
    stage.until("select sum(ready) > 20 from postrider.lane_status")
    stage.api.throttled.clear()
    yield
    desk.open()
    desk.picture("throttled-lane")
    desk.click("resume", "tr", "maps")
    desk.confirm()
    desk.menu("Overview")
    desk.wait("Nothing needs attention")


def poison_job(stage, desk):
    """One call never gets an answer. Its lane allows one call at once, so all later jobs wait."""
    stage.sql(f"""
        insert into postrider.services (name, base_url, timeout) values ('reports', '{stage.api.url}/reports/', '1 h');
        insert into postrider.lanes (name, max_in_flight) values ('reports', 1);
        insert into postrider.jobs (service, url, tag) values ('reports', 'never', 'all customers')""")
    stage.until("select count(*) = 1 from postrider.job_status where state = 'running'")
    stage.traffic("service, url", "'reports', 'daily/' || i")
    stage.until("select sum(ready) > 30 from postrider.lane_status")
    yield
    desk.open()
    desk.click("running calls", "tr", "reports")
    desk.click_first_job()
    desk.picture("poison-job")
    desk.click("Cancel", "p", "")
    desk.confirm()
    desk.menu("Overview")
    desk.wait("Nothing needs attention")


def database_away(stage, desk):
    """PostgreSQL crashes and starts again after a while."""
    stage.sql(f"insert into postrider.services (name, base_url) values ('mail', '{stage.api.url}/mail/')")
    stage.traffic("service, url", "'mail', 'letters/' || i")
    stage.until("select count(*) > 30 from postrider.job_status where state = 'succeeded'")
    stage.stop_database()
    yield
    desk.open()
    desk.wait("The database does not answer")
    desk.picture("database-away")
    stage.start_database()
    desk.wait("Needs attention|Nothing needs attention", 60)
    desk.wait("Nothing needs attention", 60)
    stage.until("select count(*) > 0 and bool_and(finished_at is not null) from postrider.job_status")
    desk.wait(lambda: desk.figure("ready") + desk.figure("running") == 0)


def chain(stage, desk):
    """No incident: the picture of a chain whose third step waits for its answer."""
    stage.api.broken.add("survey")
    url = stage.api.url
    letters = ", ".join(
        f'{{"name": "{name}", "url": "{url}/{name}/1", "max_attempts": 1}}' for name in ("welcome", "survey", "tips"))
    spec = f'''{{"name": "signup", "chain": [
        {{"name": "create account", "method": "POST", "url": "{url}/crm/accounts"}},
        {{"name": "letters", "mode": "settle", "batch": [{letters}]}},
        {{"name": "approval", "url": "{url}/crm/never"}},
        {{"name": "charge", "method": "POST", "url": "{url}/billing/charges"}},
        {{"name": "notify", "batch": [{{"name": "sales", "url": "{url}/a/1"}}, {{"name": "support", "url": "{url}/a/2"}}]}},
        {{"name": "close", "method": "POST", "url": "{url}/crm/close"}}]}}'''
    job = stage.value(f"select postrider.submit('{spec}')")
    stage.until(f"select children_finished = 2 from postrider.job_status where id = {job}")
    stage.until("select count(*) = 1 from postrider.job_status where state = 'running' and kind = 'request'")
    yield
    desk.open()
    desk.browser.get(f"{desk.url}/jobs/{job}")
    desk.wait("approval")
    desk.picture("chain")


INCIDENTS = {
    "api-down": api_down, "token-revoked": token_revoked, "throttled-lane": throttled_lane, "poison-job": poison_job,
    "database-away": database_away,
}


# Prepares the jobs that the pictures of other pages show.
SCENES = {"chain": chain}


def run(name, worker, folder, images):
    """Stages one incident and ends it. Returns whether it took less than the limit."""
    with contextlib.ExitStack() as stack:
        stage = stack.enter_context(Stage(worker, folder))
        desk = stack.enter_context(Desk(stage.login, stage.url, images))
        acts = {**INCIDENTS, **SCENES}[name](stage, desk)
        next(acts)
        began = time.monotonic()
        try:
            next(acts, None)
        except Exception:
            print(stage.log(), desk.text("main"), sep="\n", file=sys.stderr)
            raise
        seconds = time.monotonic() - began
        print(f"{name}: ended after {seconds:.0f} s, {desk.pages} pages, {desk.clicks} clicks", flush=True)
        return seconds < LIMIT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--images", type=pathlib.Path, help="the folder of the pictures")
    words = parser.parse_args()
    known = list(INCIDENTS) + (list(SCENES) if words.images else [])
    names = words.names or known
    if unknown := set(names) - set(known):
        parser.error(f"no such incident: {', '.join(unknown)}; there are {', '.join(known)}")
    if words.images and not shutil.which("pngquant"):
        parser.error("pictures need the program pngquant")
    worker = str(pathlib.Path(words.worker).resolve())
    is_good = True
    for name in names:
        with tempfile.TemporaryDirectory(prefix="incident-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
            is_good = run(name, worker, folder, words.images) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
