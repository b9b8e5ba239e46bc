// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport

/// A worker on whose pages admins may act, and a client that uses its forms as a browser does.
struct ActingWorker {
    let watched: WatchedWorker
    private let folder: TestFolder

    static let token = "0123456789abcdef0123"

    /// An answer that a test cannot use.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// An answer with all its text.
    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String
    }

    /// Starts the worker. Its acts use the login of an admin; the worker itself has only a worker's rights.
    init(_ database: String, _ words: [String] = [], login: String = TestRole.admin.name) throws {
        folder = try TestFolder()
        try folder.write("token", Self.token)
        watched = try WatchedWorker(
            database,
            [
                "--http-actions", "--http-token-file", folder.path("token"), "--admin-database",
                database.replacing("user=postgres", with: "user=\(login)"),
            ] + words)
    }

    /// Sends a request. A header without a value is left out.
    func send(
        _ method: String, _ path: String, body: String = "", headers: [String: String?] = [:], user: String = "ada"
    ) throws -> Answer {
        var all: [String: String?] = ["Authorization": Self.basic(user)]
        all.merge(headers) { $1 }
        let words = all.compactMap { name, value in value.map { "\(name): \($0)" } }
        let (status, output) = try ChildProcess.run(
            [try ProjectFolder.python(), "-c", Self.program, "\(watched.pages.port)", method, path, body] + words)
        let parts = output.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard status == 0, parts.count == 2, let code = Int(parts[0]) else {
            throw Failure(description: output)
        }
        let end = parts[1].firstRange(of: "--\n")
        var names: [String: String] = [:]
        for line in parts[1][..<(end?.lowerBound ?? parts[1].endIndex)].split(separator: "\n") {
            let pair = line.split(separator: ":", maxSplits: 1)
            names[pair[0].lowercased()] = pair.count == 2 ? String(pair[1].dropFirst()) : ""
        }
        return Answer(
            status: code, headers: names, body: end.map { String(parts[1][$0.upperBound...]) } ?? "")
    }

    /// Opens a confirmation page, as from the list of jobs, and returns the hidden fields of its form.
    func form(_ query: String, user: String = "ada") throws -> [String: String] {
        let page = try send("GET", "/act?\(query)", headers: ["Referer": "\(watched.url)/jobs?queue=mail"], user: user)
        guard page.status == 200 else { throw Failure(description: "\(page.status): \(page.body)") }
        return Self.fields(page.body)
    }

    /// The hidden fields of a page's form.
    static func fields(_ page: String) -> [String: String] {
        var fields: [String: String] = [:]
        for match in page.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) {
            fields[String(match.output.1)] = String(match.output.2).replacing("&amp;", with: "&")
                .replacing("&#39;", with: "'").replacing("&quot;", with: "\"")
        }
        return fields
    }

    /// Sends a form as a page of the server does.
    func post(
        _ fields: [String: String], headers: [String: String?] = [:], user: String = "ada"
    ) throws -> Answer {
        var all: [String: String?] = [
            "Origin": watched.url, "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
        ]
        all.merge(headers) { $1 }
        return try send("POST", "/act", body: Self.encode(fields), headers: all, user: user)
    }

    /// Opens a confirmation page and sends its form.
    func act(_ query: String, _ more: [String: String] = [:], user: String = "ada") throws -> Answer {
        try post(try form(query, user: user).merging(more) { $1 }, user: user)
    }

    static func basic(_ user: String) -> String {
        "Basic " + base64("\(user):\(token)")
    }

    static func encode(_ fields: [String: String]) -> String {
        fields.map { name, value in
            let bytes = value.utf8.map { byte in
                let digits = String(byte, radix: 16)
                return "%" + (digits.count == 1 ? "0" + digits : digits)
            }
            return "\(name)=\(bytes.joined())"
        }.joined(separator: "&")
    }

    private static func base64(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 3).map { start in
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            return String((0..<4).map { $0 > group.count ? "=" : alphabet[number >> (18 - 6 * $0) & 63] })
        }.joined()
    }

    private static let program = #"""
        import http.client, sys

        port, method, path, body, *headers = sys.argv[1:]
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
        headers = dict(h.split(": ", 1) for h in headers)
        connection.request(method, path, body=body.encode() if body else None, headers=headers)
        answer = connection.getresponse()
        print(answer.status)
        for name, value in answer.getheaders():
            print(f"{name}: {value}")
        print("--")
        print(answer.read().decode(), end="")
        """#
}
