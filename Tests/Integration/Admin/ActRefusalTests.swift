// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Requests that must not act: from other sites, without a login, with another's form.
struct ActRefusalTests {
    @Test func `a POST from another site, without a source or of another type is refused`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let url = acting.watched.url
        let fields = try acting.form("do=pause-queue&queue=mail")
        for headers in [
            ["Origin": nil, "Sec-Fetch-Site": nil], ["Origin": "null"], ["Origin": "http://evil.example"],
            ["Origin": "http://127.0.0.1:1"], ["Origin": "\(url).evil.example"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none", "Origin": nil],
            ["Host": "evil.example"], ["Content-Type": "text/plain"], ["Content-Type": "application/json"],
            ["Content-Type": nil],
        ] as [[String: String?]] {
            let answer = try acting.post(fields, headers: headers)
            #expect(answer.status == 403, "\(headers)")
            #expect(answer.body.contains(#"<p class="why trouble">"#), "\(headers)")
        }
        // None of these has used the form up.
        for headers in [["Origin": nil], ["Sec-Fetch-Site": nil]] as [[String: String?]] {
            let fresh = try acting.form("do=pause-queue&queue=mail")
            #expect(try acting.post(fresh, headers: headers).status == 303, "\(headers)")
        }
        #expect(try acting.post(fields).status == 303)
    }

    @Test func `a form is refused without its token, a second time, from another person and for another act`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let fields = try acting.form("do=pause-queue&queue=mail")
        var changed: [[String: String]] = []
        changed.append(fields.filter { $0.key != "token" })
        changed.append(fields.merging(["token": "1-\(String(repeating: "0", count: 64))"]) { $1 })
        changed.append(fields.merging(["token": String(try #require(fields["token"]).dropLast()) + "g"]) { $1 })
        changed.append(fields.merging(["queue": "other"]) { $1 })
        changed.append(fields.merging(["do": "resume-queue"]) { $1 })
        changed.append([:])
        for form in changed {
            #expect(try acting.post(form).status == 403, "\(form)")
        }
        let foreign = try acting.post(fields, user: "bob")
        #expect(foreign.status == 403)
        #expect(foreign.body.contains("another user"))
        #expect(try queue.number("select count(*) from postrider.queues") == 0)
        #expect(try acting.post(fields).status == 303)
        let replay = try acting.post(fields)
        #expect(replay.status == 403)
        #expect(replay.body.contains("This form was used"))
        // Another worker of the same database does not know it either.
        let other = try ActingWorker(queue.database, ["--queue", "none"])
        #expect(try other.post(try acting.form("do=pause-queue&queue=mail")).status == 403)
        #expect(try queue.number("select count(*) from postrider.admin_log") == 1)
    }

    @Test func `acts need the login, and pages of acts are never shown in frames`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let fields = try acting.form("do=pause-queue&queue=mail")
        for login in [nil, "Bearer 0123456789abcdef0124", "Basic YWRhOng="] as [String?] {
            #expect(try acting.post(fields, headers: ["Authorization": login]).status == 401)
            #expect(
                try acting.send("GET", "/act?do=pause-queue&queue=a", headers: ["Authorization": login]).status == 401)
        }
        #expect(try acting.send("GET", "/act?do=pause-queue&queue=a", user: "").status == 403)
        #expect(try acting.post(fields, user: "").status == 403)
        for path in ["/act?do=pause-queue&queue=a", "/act?do=nonsense", "/act?do=progress"] {
            let headers = try acting.send("GET", path).headers
            #expect(headers["x-frame-options"] == "DENY")
            #expect(headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
            #expect(headers["content-security-policy"]?.contains("form-action 'self'") == true)
        }
        // A program may act with the token as Bearer. Its name is not known.
        let bearer = ["Authorization": "Bearer \(ActingWorker.token)"]
        let page = try acting.send("GET", "/act?do=pause-queue&queue=mail", headers: bearer).body
        #expect(try acting.post(ActingWorker.fields(page), headers: bearer).status == 303)
        #expect(try queue.text("select actor from postrider.admin_log") == "token")
    }

    @Test func `a redirect leads only to pages of the server`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        for (referrer, back) in [
            ("\(acting.watched.url)/lanes", "/lanes"), ("http://evil.example/lanes", "/"), (nil, "/"),
            ("\(acting.watched.url)//evil.example", "/"),
        ] as [(String?, String)] {
            let page = try acting.send("GET", "/act?do=pause-queue&queue=mail", headers: ["Referer": referrer]).body
            #expect(ActingWorker.fields(page)["back"] == back)
        }
        for (back, place) in [
            ("//evil.example", "/"), ("https://evil.example", "/"), ("/a\r\nSet-Cookie: x=y", "/"), ("/jobs", "/jobs"),
        ] {
            let fields = try acting.form("do=pause-queue&queue=mail").merging(["back": back]) { $1 }
            let answer = try acting.post(fields)
            #expect(answer.status == 303)
            #expect(answer.headers["location"] == place)
            #expect(answer.headers["set-cookie"] == nil)
        }
    }

    @Test func `each method gets its status, and 405 names the allowed methods`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        for (method, path, status, allow) in [
            ("PUT", "/act", 405, "GET, HEAD, POST"), ("DELETE", "/act", 405, "GET, HEAD, POST"),
            ("POST", "/", 405, "GET, HEAD"), ("POST", "/jobs/1", 405, "GET, HEAD"), ("POST", "/act/", 405, "GET, HEAD"),
            ("POST", "/metrics", 405, "GET, HEAD"),
        ] {
            let answer = try acting.send(method, path)
            #expect(answer.status == status, "\(method) \(path)")
            #expect(answer.headers["allow"] == allow, "\(method) \(path)")
        }
    }

    /// Bodies up to 64 KiB are read. Larger ones are refused before they are read, and a slow one within 10 s.
    @Test func `large and slow bodies are refused, and other readers are served meanwhile`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let program = """
            import socket, sys, time
            port, login = int(sys.argv[1]), sys.argv[2]
            head = (f"POST /act HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nAuthorization: {login}\\r\\n"
                    "Sec-Fetch-Site: same-origin\\r\\nContent-Type: application/x-www-form-urlencoded\\r\\n")
            def connect():
                return socket.create_connection(("127.0.0.1", port), timeout=20)
            def answer(line):
                try:
                    return line.recv(4096).split(b" ")[1].decode()
                except (ConnectionError, IndexError):
                    return "closed"
            def announced(count, body=b""):
                line = connect()
                line.sendall((head + f"Content-Length: {count}\\r\\n\\r\\n").encode() + body)
                return answer(line)
            def chunked(count):
                line = connect()
                try:
                    line.sendall((head + "Transfer-Encoding: chunked\\r\\n\\r\\n").encode())
                    for _ in range(count // 1024):
                        line.sendall(b"400\\r\\n" + b"a" * 1024 + b"\\r\\n")
                    line.sendall(b"0\\r\\n\\r\\n")
                except ConnectionError:
                    return "closed"
                return answer(line)
            print(announced(65536, b"a" * 65536), announced(65537), announced(10 ** 12), announced(10 ** 30))
            print(chunked(65536), chunked(65536 + 1024), chunked(1 << 22))
            # A byte from time to time: the connection ends, although it is never silent for 10 s.
            slow = [connect() for _ in range(20)]
            for line in slow:
                line.sendall((head + "Content-Length: 60000\\r\\n\\r\\n").encode())
            begin, open_lines = time.monotonic(), set(slow)
            while open_lines and time.monotonic() - begin < 25:
                for line in list(open_lines):
                    try:
                        line.sendall(b"a")
                        line.setblocking(False)
                        try:
                            if line.recv(1) == b"":
                                open_lines.discard(line)
                        except BlockingIOError:
                            pass
                        line.setblocking(True)
                    except ConnectionError:
                        open_lines.discard(line)
                probe = connect()
                probe.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
                assert answer(probe) == "200"
                probe.close()
                time.sleep(0.3)
            print(len(open_lines), time.monotonic() - begin < 20)
            """
        let outcome = try WorkerProcess.run(
            [
                try ProjectFolder.python(), "-c", program, "\(acting.watched.pages.port)", ActingWorker.basic("ada"),
            ], reading: "")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 3, "\(outcome)")
        // The first body has no token.
        #expect(lines[0].hasPrefix("403 413 413 "), "\(outcome)")
        #expect(lines[1] == "403 413 closed", "\(outcome)")
        #expect(lines[2] == "0 True", "\(outcome)")
        #expect(try queue.number("select count(*) from postrider.admin_log") == 0)
    }
}
