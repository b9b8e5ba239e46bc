// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Acts in a browser, which sends the headers that the server checks.
@Suite(.enabled(if: Browser.isInstalled, "chromium-driver is not installed"))
struct ActBrowserTests {
    private func login(_ acting: ActingWorker) -> String {
        "http://ada:\(ActingWorker.token)@127.0.0.1:\(acting.watched.pages.port)"
    }

    @Test func `a person confirms an act by keyboard and comes back to the page with the link`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let id = try queue.insert("url, run_at, queue", "'http://h/', now() + interval '1 day', 'mail'")
        try queue.insert(3, "url, queue", "'http://h/' || i, 'mail'")
        let shown = try Browser.run(
            """
            login, job = words
            browser.get(login + "/jobs?queue=mail")
            find("h1")
            def act(query):
                # A link, as on a page with acts.
                browser.execute_script(
                    "const a = document.createElement('a'); a.href = arguments[0]; a.id = 'act'; a.text = 'act';"
                    "document.querySelector('h1').append(a)", "/act?" + query)
                find("#act").send_keys(Keys.ENTER)
                until(lambda: "/act" in browser.current_url)
            act("do=pause-queue&queue=mail")
            print(text("h1"), "|", text(".why"))
            find("form.act button").send_keys(Keys.ENTER)
            until(lambda: browser.current_url.endswith("/jobs?queue=mail"))
            act(f"do=reschedule&id={job}")
            browser.execute_script("document.querySelector('[name=run_at]').value = '2031-02-03T04:05'")
            click("form.act button")
            until(lambda: browser.current_url.endswith("/jobs?queue=mail"))
            act("do=cancel&queue=mail")
            print(text(".why"))
            click("form.act button")
            until(lambda: "It is done." in text(".why"))
            print(text("dl"))
            """, [login(acting), "\(id)"])
        try #require(shown.count >= 3, "\(shown)")
        #expect(shown[0].hasPrefix("Pause queue mail | No new call begins for its 3 ready jobs"), "\(shown)")
        #expect(shown[1].hasPrefix("This changes 4 jobs"), "\(shown)")
        #expect(!shown.contains { $0.hasPrefix("console:") }, "\(shown)")
        #expect(
            try queue.rows("select actor, action, count::text from postrider.admin_log order by id") == [
                ["ada", "pause-queue", "1"], ["ada", "reschedule", "1"], ["ada", "cancel", "4"],
            ])
        #expect(
            try queue.text("select target ->> 'run_at' from postrider.admin_log where action = 'reschedule'")
                == "2031-02-03T04:05")
    }

    /// The browser knows the login, and sends it with requests that pages of other sites make.
    @Test func `a page of another site cannot act in a browser that is logged in`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let shown = try Browser.run(
            """
            import http.server, threading
            login, url = words
            page = f'''<form method=post action="{url}/act"><input name=do value=pause-queue>
              <input name=queue value=mail>
              <button>go</button></form><iframe src="{url}/act?do=pause-queue&queue=mail"></iframe>'''
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html")
                    self.end_headers()
                    self.wfile.write(page.encode())
                def log_message(self, *words): pass
            evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=evil.serve_forever, daemon=True).start()
            browser.get(login + "/act?do=pause-queue&queue=mail")
            find("form.act button")
            token = find("[name=token]").get_attribute("value")
            for site in [f"http://127.0.0.1:{evil.server_port}/", "data:text/html," + page.replace("#", "")]:
                browser.get(site)
                print(browser.execute_script("return document.querySelector('iframe')?.contentDocument === null"))
                # Even with a token that it somehow got.
                browser.execute_script(
                    "const i = document.createElement('input'); i.name = 'token'; i.value = arguments[0];"
                    "document.querySelector('form').append(i)", token)
                click("form button")
                until(lambda: browser.current_url == url + "/act")
                print(text(".why"))
            """, [login(acting), acting.watched.url])
        #expect(shown.filter { $0 == "The request comes from another site (Sec-Fetch-Site)." }.count == 2, "\(shown)")
        #expect(try queue.number("select count(*) from postrider.queues") == 0)
        #expect(try queue.number("select count(*) from postrider.admin_log") == 0)
    }
}
