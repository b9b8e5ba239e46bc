// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A real Prometheus of Debian on loopback, which scrapes one worker each second. It ends with `deinit`.
public final class Prometheus {
    private static let server = "/usr/bin/prometheus"
    private static let tool = "/usr/bin/promtool"

    /// Whether Debian's package `prometheus` is installed. The project's setup installs it only when it runs as root.
    public static var isInstalled: Bool { unsafe access(server, X_OK) == 0 && access(tool, X_OK) == 0 }

    /// Runs promtool in the package's folder. Returns its output, and its exit status.
    public static func promtool(_ words: [String], reading path: String? = nil) throws -> (
        status: Int32, output: String
    ) {
        let script = "cd \"$1\" && shift && exec \"$@\"" + (path.map { " < \($0)" } ?? "")
        return try ChildProcess.run(["/bin/sh", "-c", script, "sh", ProjectFolder.path(), tool] + words)
    }

    private let folder: TestFolder
    private let process: WatchedProcess
    private let port: UInt16

    /// Starts the server with the alerts of the project, and waits until it is ready.
    public init(scraping worker: UInt16) throws {
        folder = try TestFolder()
        port = try TargetServer.freePort()
        try folder.write(
            "prometheus.yml",
            """
            global: {scrape_interval: 1s, evaluation_interval: 1s}
            rule_files: [\(ProjectFolder.path())/ops/prometheus/alerts.yml]
            scrape_configs:
              - job_name: postrider
                static_configs: [{targets: ["127.0.0.1:\(worker)"]}]
            """)
        process = try WatchedProcess([
            Prometheus.server, "--config.file=\(folder.path("prometheus.yml"))",
            "--storage.tsdb.path=\(folder.path("data"))", "--web.listen-address=127.0.0.1:\(port)", "--log.level=warn",
        ])
        try TestClock.wait(30, for: "prometheus: \(process.output)") { TargetServer.isTaken(port) }
    }

    deinit { _ = try? process.status(signal: SIGTERM) }

    /// Runs each expression of a Grafana board with all queues and services, and of the alerts, again and again for a
    /// minute. Returns a line for each expression that fails or finds nothing.
    public func failures(ofBoard board: String) throws -> [String] {
        let (status, output) = try ChildProcess.run([
            ProjectFolder.python(), "-c", Self.program, "\(port)", ProjectFolder.path() + "/" + board,
        ])
        guard status == 0 else { throw TestFault(description: output) }
        return output.split(separator: "\n").map(String.init)
    }

    private static let program = #"""
        import json, sys, time, urllib.error, urllib.parse, urllib.request

        port, board = sys.argv[1:]
        panels = json.load(open(board))["panels"]
        expressions = [target["expr"] for panel in panels for target in panel.get("targets", [])]
        assert len(expressions) > 20

        def ask(expression):
            for name, value in [("$__rate_interval", "20s"), ("$queue", ".*"), ("$service", ".*")]:
                expression = expression.replace(name, value)
            assert "$" not in expression, expression
            query = urllib.parse.urlencode({"query": expression})
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=10) as answer:
                    return "" if json.load(answer)["data"]["result"] else "finds nothing"
            except urllib.error.HTTPError as error:
                return error.read().decode()
            except OSError as error:
                return str(error)

        end = time.time() + 60
        failed = {expression: "not asked" for expression in expressions}
        while failed and time.time() < end:
            for expression in list(failed):
                reason = ask(expression)
                if reason:
                    failed[expression] = reason
                else:
                    del failed[expression]
            time.sleep(0.5)
        for expression, reason in failed.items():
            print(f"{expression}: {reason}")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/rules", timeout=10) as answer:
            for group in json.load(answer)["data"]["groups"]:
                for rule in group["rules"]:
                    if rule["health"] != "ok":
                        print(f'{rule["name"]}: {rule["health"]} {rule.get("lastError", "")}')
        """#
}
