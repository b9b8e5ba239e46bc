// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A receiver of webhooks that verifies them with the public `standardwebhooks` package. It ends with the object.
///
/// `/status/410` answers with that status, `/status/500,200` with one status per turn. `/moved` redirects to
/// `/status/200`.
public final class WebhookReceiver: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer
    private let log: Int32

    /// Starts the receiver and waits until it accepts connections.
    ///
    /// - Parameter secrets: the secrets that it tries, each separately.
    public init(secrets: [String]) throws {
        var name = [CChar]("/var/tmp/postrider-log-XXXXXX".utf8CString)
        log = unsafe mkstemp(&name)
        _ = fcntl(log, F_SETFD, FD_CLOEXEC)
        unsafe unlink(name)
        server = try PythonServer(Self.program, secrets, output: log)
        url = "http://127.0.0.1:\(server.port)"
    }

    deinit { close(log) }

    /// One line per webhook: its path, one letter per secret, its id, and its body as JSON with sorted keys.
    ///
    /// The letter is `y` if the secret verified the webhook, and `n` if not.
    public var lines: [String] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe pread(log, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let program = """
        import json, sys, threading
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        from standardwebhooks import Webhook, WebhookVerificationError

        hooks = [Webhook(secret) for secret in sys.argv[2:]]
        turns = {}
        writing = threading.Lock()

        def verifies(hook, body, headers):
            try:
                hook.verify(body, headers)
                return "y"
            except WebhookVerificationError:
                return "n"

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                marks = "".join(verifies(hook, body, headers) for hook in hooks)
                text = json.dumps(json.loads(body), sort_keys=True)
                line = " ".join([self.path, marks, headers.get("webhook-id", "-"), text])
                with writing:
                    print(line, flush=True)
                turn = turns[self.path] = turns.get(self.path, 0) + 1
                if self.path == "/moved":
                    self.send_response(302)
                    self.send_header("Location", "/status/200")
                else:
                    statuses = self.path.split("/")[-1].split(",")
                    self.send_response(int(statuses[min(turn, len(statuses)) - 1]))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """
}
