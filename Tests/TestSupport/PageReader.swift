// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// A reader of a worker's pages: Python's HTTP client, and the official parser of Prometheus' text format.
public struct PageReader: Sendable {
    /// What came back.
    public struct Answer: Sendable {
        /// The status.
        public var status: Int
        /// By their names in lower case; of several of one name the last.
        public var headers: [String: String]
        /// Of `/metrics` one line for each sample, `name{label=value,…} value`, labels sorted, as the parser has read
        /// it; of others the body.
        public var lines: [String]
    }

    /// Where the pages are.
    public let port: UInt16

    /// Of a worker on loopback.
    public init(port: UInt16) {
        self.port = port
    }

    /// Asks for a page; the program fails if it takes 20 s, or where metrics are not as they must be.
    public func read(_ path: String, method: String = "GET", headers: [String] = []) throws -> Answer {
        let python = try ProjectFolder.python()
        let (status, output) = try ChildProcess.run([python, "-c", Self.program, "\(port)", method, path] + headers)
        var lines = output.split(separator: "\n").map(String.init)
        guard status == 0, !lines.isEmpty, let code = Int(lines.removeFirst()),
            let end = lines.firstIndex(of: "--")
        else { throw TestClock.Timeout(description: output) }
        var names: [String: String] = [:]
        for line in lines[..<end] {
            guard let colon = line.firstIndex(of: ":") else { continue }
            names[line[..<colon].lowercased()] = String(line[line.index(colon, offsetBy: 2)...])
        }
        return Answer(status: code, headers: names, lines: Array(lines[(end + 1)...]))
    }

    private static let program = #"""
        import http.client, sys
        from prometheus_client.parser import text_string_to_metric_families

        port, method, path, *headers = sys.argv[1:]
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
        connection.request(method, path, headers=dict(h.split(": ", 1) for h in headers))
        answer = connection.getresponse()
        text = answer.read().decode()
        print(answer.status)
        for name, value in answer.getheaders():
            print(f"{name}: {value}")
        print("--")
        if not answer.headers["content-type"].startswith("text/plain; version="):
            print(text, end="")
            sys.exit()
        seen = set()
        for family in text_string_to_metric_families(text):
            assert family.name not in seen and family.documentation and family.type in ("gauge", "counter", "summary"), family
            seen.add(family.name)
            for sample in family.samples:
                assert sample.name.endswith("_total") == (family.type == "counter"), sample
                labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
                print(f"{sample.name}{{{labels}}} {sample.value:g}" if labels else f"{sample.name} {sample.value:g}")
        """#
}
