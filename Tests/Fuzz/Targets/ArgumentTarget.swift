// SPDX-License-Identifier: Apache-2.0

@testable import Admin
@testable import Engine
@testable import JobModel
@testable import PGClient
@testable import WorkerCLI

/// Texts of flags, variables, notifications and headers. A value that is written and read again must be the same.
enum ArgumentTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        let text = String(decoding: input, as: UTF8.self)
        if let duration = DurationText.parse(text) {
            try expect(DurationText.parse(DurationText.format(duration)) == duration, "a duration changes")
        }
        if let bytes = SizeText.parse(text) {
            try expect(SizeText.parse(SizeText.format(bytes)) == bytes, "a size changes")
        }
        if let seconds = AgeText.seconds(text) { try expect(seconds >= 0 && seconds.isFinite, "an age of \(seconds)") }
        if let version = ProductVersion(text) {
            try expect(ProductVersion(version.description) == version, "a version changes")
        }
        if let address = try? AdminAddress(text) {
            try expect((try? AdminAddress(address.description)) == address, "an address changes")
        }
        if let context = TraceContext(traceparent: text, state: text) {
            try expect(TraceContext(traceparent: context.traceparent) != nil, "a trace is written as an invalid one")
        }
        if case .ready(let jobs) = Announcement(payload: text) { try expect(!jobs.isEmpty, "no announced job") }
        _ = try? AdminToken(text)
        try checkConnection(text)
    }

    private static func checkConnection(_ text: String) throws(Finding) {
        guard let string = try? PGConnectionString(text, variable: { _ in nil }) else { return }
        _ = (string.summary, string.connectTimeoutSeconds, string.rotated(by: 3).hostCount)
        try expect(string.steps(behind: (host: "h", port: "5432")) >= 1, "no step to the next host")
        let other = string.database("other")
        try expect(other.hostCount == string.hostCount, "another database has other hosts")
        // A message shows no password.
        guard let secret = try? PGConnectionString("password='p4ssword' \(text)", variable: { _ in nil }) else {
            return
        }
        let message = Array(secret.redact("connection to server p4ssword failed: \(text)").utf8)
        _ = message
    }
}
