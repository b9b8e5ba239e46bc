// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// Reads a worker's pages with Python's HTTP client and the official parser of Prometheus' text format.
public struct PageReader: Sendable {
    /// The answer to a request for a page.
    public struct Answer: Sendable {
        /// The HTTP status.
        public var status: Int
        /// The headers by their names in lower case. Of several headers with one name it holds the last.
        public var headers: [String: String]
        /// For `/metrics` one line per parsed sample, `name{label=value,…} value`, with sorted labels. For other pages
        /// the body.
        public var lines: [String]
    }

    /// The port of the pages.
    public let port: UInt16

    /// Reads the pages of a worker on loopback.
    public init(port: UInt16) {
        self.port = port
    }

    /// Requests a page. The Python program fails after 20 s, or if it cannot parse the metrics.
    public func read(_ path: String, method: String = "GET", headers: [String] = []) throws -> Answer {
        let python = try ProjectFolder.python()
        let (status, output) = try ChildProcess.run([python, "-c", Self.program, "\(port)", method, path] + headers)
        var lines = output.split(separator: "\n").map(String.init)
        guard status == 0, !lines.isEmpty, let code = Int(lines.removeFirst()),
            let end = lines.firstIndex(of: "--")
        else { throw TestFault(description: output) }
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
            assert family.name not in seen and family.documentation and family.type in ("gauge", "counter", "summary", "histogram"), family
            seen.add(family.name)
            for sample in family.samples:
                assert sample.name.endswith("_total") == (family.type == "counter"), sample
                labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
                print(f"{sample.name}{{{labels}}} {sample.value:g}" if labels else f"{sample.name} {sample.value:g}")
        """#
}
