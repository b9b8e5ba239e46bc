// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A private nginx that answers each call with 300 bytes of JSON, for `worker bench` without `--url`.
///
/// It ends with this process: the kernel then sends it SIGTERM (`setpriv --pdeathsig`).
struct BenchTarget: ~Copyable {
    /// The URL to call.
    let url: String
    private let directory: String
    private let process: Int32

    private init(url: String, directory: String, process: Int32) {
        self.url = url
        self.directory = directory
        self.process = process
    }

    /// Starts nginx on a free loopback port.
    ///
    /// - Throws: `usage` if nginx is missing.
    static func start() throws(CommandError) -> BenchTarget {
        var template = Array("/tmp/postrider-bench-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandError(.internalError, "cannot make a directory in /tmp")
        }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let port = LoopbackPort.free()
        do throws(CommandError) {
            try write(settings(directory: directory, port: port), to: "\(directory)/nginx.conf")
            let process = try spawn(directory)
            try waitUntilReady(process, port: port)
            return BenchTarget(url: "http://127.0.0.1:\(port)/", directory: directory, process: process)
        } catch {
            remove(directory)
            throw error
        }
    }

    deinit {
        kill(process, SIGTERM)
        _ = ChildProcess.wait(for: process)
        BenchTarget.remove(directory)
    }

    /// The text of nginx.conf.
    ///
    /// nginx creates its temporary paths at start, and the compiled-in ones may not be writable. 12,000 connections are
    /// more than the highest `--concurrency`.
    private static func settings(directory: String, port: UInt16) -> String {
        let body = "{\"data\":\"" + String(repeating: "x", count: 289) + "\"}"
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(directory);" }.joined(separator: " ")
        return """
            daemon off; master_process off; pid \(directory)/pid; error_log stderr crit;
            events { worker_connections 12000; }
            http {
              access_log off; keepalive_requests 1000000000; \(paths)
              server {
                listen 127.0.0.1:\(port) backlog=4096;
                location / { default_type application/json; return 200 '\(body)'; }
              }
            }

            """
    }

    private static func write(_ text: String, to path: String) throws(CommandError) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
        guard count == bytes.count else { throw CommandError(.internalError, "cannot write \(path)") }
    }

    /// Starts nginx without waiting for it. Returns its process id.
    private static func spawn(_ directory: String) throws(CommandError) -> Int32 {
        let places: [String] = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
        guard let path = places.first(where: { place in unsafe access(place, X_OK) == 0 }) else {
            throw .usage("--url", "nginx is not installed", "install nginx-light, or give a URL to call")
        }
        do throws(ClusterError) {
            return try ChildProcess.spawn(
                ["setpriv", "--pdeathsig", "TERM", path, "-p", directory, "-c", "\(directory)/nginx.conf"], output: -1)
        } catch {
            throw CommandError(.internalError, "\(error)")
        }
    }

    private static func waitUntilReady(_ process: Int32, port: UInt16) throws(CommandError) {
        for _ in 0..<2000 {
            if LoopbackPort.answers(port) { return }
            guard ChildProcess.poll(process) == nil else {
                throw CommandError(.internalError, "nginx did not start on port \(port)")
            }
            usleep(2_000)
        }
        kill(process, SIGKILL)
        _ = ChildProcess.wait(for: process)
        throw CommandError(.internalError, "nginx was not ready within 4 s")
    }

    /// Removes the directory with the files that nginx and this type put into it.
    private static func remove(_ directory: String) {
        for name in ["nginx.conf", "pid"] { unsafe unlink("\(directory)/\(name)") }
        unsafe rmdir(directory)
    }
}
