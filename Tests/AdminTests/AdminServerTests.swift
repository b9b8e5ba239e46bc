// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

@testable import Admin

/// The server itself. A process has only one, so there is only one test.
struct AdminServerTests {
    /// Fills all places from two addresses with requests that never complete, then requests a page from two other
    /// addresses.
    ///
    /// The server must close the oldest requests, and only as many as needed.
    private static let crowd = """
        import socket, sys, time
        place = ("127.0.0.1", int(sys.argv[1]))
        def connect(address):
            return socket.create_connection(place, timeout=5, source_address=(address, 0))
        def asks(line):
            line.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
            return line.recv(4096).split()[1].decode()
        def ended(line):
            line.settimeout(0.2)
            try:
                return line.recv(1) == b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True
        def has_open_ends():
            # Whether the server has a socket that it has not closed: 01 is ESTABLISHED, 08 is CLOSE_WAIT.
            ends = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
            return any(end[1].endswith(f":{place[1]:04X}") and end[3] in ("01", "08") for end in ends)
        for n in range(3):
            held = [connect(f"127.0.{n}.{address}") for _ in range(16) for address in (2, 3)]
            for line in held:
                line.sendall(b"G")
            first, second = connect("127.0.0.1"), connect("127.0.0.4")
            # The connections that stay are still in use: another byte of an incomplete request does not end them.
            for line in held[2:]:
                line.sendall(b"E")
            # The two new connections close the two oldest, so the first open one has the index 2.
            print(asks(first), asks(second), asks(first), next(i for i, line in enumerate(held) if not ended(line)))
            for line in held + [first, second]:
                line.close()
            while has_open_ends():
                time.sleep(0.01)
        """

    @Test func `a full server closes the oldest idle requests, and a stopped server accepts no connection`() throws {
        let port = try TargetServer.freePort()
        let server = AdminServer(slots: 1, database: try PGConnectionString("host=/nowhere"), token: nil)
        try server.start(at: AdminAddress(loopback: port))
        #expect(TargetServer.isTaken(port))
        let python = try ProjectFolder.python()
        let outcome = try WorkerProcess.run([python, "-c", Self.crowd, "\(port)"], reading: "")
        #expect(outcome == WorkerProcess.Outcome(status: 0, output: "200 200 200 2\n200 200 200 2\n200 200 200 2\n"))
        server.stop()
        #expect(!TargetServer.isTaken(port))
    }
}
