// SPDX-License-Identifier: Apache-2.0

import Migrations
import TestSupport
import Testing

@testable import WorkerCLI

/// The kept lists hold the program's public surface.
///
/// It consists of flags, variables, exit codes, log lines, metrics, channels, SQLSTATEs and lock keys. Facts that no
/// table in the program holds are read from its source.
struct PublicProgramTests {
    private func expect(_ list: String, _ lines: [String]) throws {
        #expect(try KeptList("Tests/PublicSurfaceTests/Lists/\(list).txt").difference(from: Array(Set(lines))) == [])
    }

    private var migrations: [String] { Migrations.all.map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func `commands, operands, flags and variables match the kept list`() throws {
        var lines: [String] = []
        for command in Program.commands {
            let operands = command.operands.map { $0.isOptional ? " [\($0.name)]" : " \($0.name)" }.joined()
            lines.append("\(command.name)\(operands)")
            for flag in command.flags {
                var line = "\(command.name) --\(flag.name)"
                if !flag.placeholder.isEmpty { line += " \(flag.placeholder)" }
                if flag.isRepeatable { line += " repeatable" }
                // A default of several words is a sentence of help, whose wording may change.
                if let fallback = flag.fallback, !fallback.contains(" ") { line += " (default \(fallback))" }
                if !flag.isCommandLineOnly { line += " \(flag.environmentName)" }
                lines.append(line)
            }
        }
        try expect("flags", lines)
    }

    @Test func `environment variables in the sources match the kept list`() throws {
        let name = /"(POSTRIDER_[A-Z_]+|DATABASE_URL)"/
        try expect(
            "variables", try ProjectFolder.swiftSources().flatMap { $0.matches(of: name).map { String($0.output.1) } })
    }

    @Test func `exit codes match the kept list`() throws {
        try expect("exit-codes", (Int32(0)...255).compactMap { ExitCode(rawValue: $0).map { "\($0.rawValue) \($0)" } })
    }

    @Test func `names and fields of log lines match the kept list`() throws {
        // An event is a level and a name. The keys after the name are its fields.
        let token =
            /\.(?:info|warning|error), *(?:\w+ \? "(\w+)" : )?"(\w+)"|\("(\w+)",? *\.(?:text|number)|\(\s*"(\w+)",\s*\.text|fields\(of (failed)/
        var lines: [String] = []
        for text in try ProjectFolder.swiftSources("WorkerCLI") where text.contains("LogEvent") {
            var names: [Substring] = []
            for match in text.matches(of: token) {
                if match.output.5 != nil {
                    names = ["job_failed"]
                } else if let name = match.output.2 {
                    names = [match.output.1, name].compactMap { $0 }
                    lines += names.map { "\($0)" }
                } else if let key = match.output.3 ?? match.output.4 {
                    lines += names.map { "\($0) \(key)" }
                }
            }
        }
        try expect("log", lines)
    }

    @Test func `names and kinds of metrics match the kept list`() throws {
        let family = /"(postrider_[a-z_]+)"(?:,\s*\.(gauge|counter|summary|histogram))?/
        var kinds: [String: String] = [:]
        for match in try ProjectFolder.swiftSources("Admin").flatMap({ $0.matches(of: family) }) {
            let name = String(match.output.1)
            kinds[name] = match.output.2.map(String.init) ?? kinds[name] ?? ""
        }
        try expect("metrics", kinds.map { $0.value.isEmpty ? $0.key : "\($0.key) \($0.value)" })
    }

    @Test func `notification channels match the kept list`() throws {
        let notify = /pg_notify\('(\w+)'/
        let listen = /"listen (\w+)"/
        try expect(
            "channels",
            migrations.flatMap { $0.matches(of: notify).map { "notify \($0.output.1)" } }
                + (try ProjectFolder.swiftSources().flatMap { $0.matches(of: listen).map { "listen \($0.output.1)" } }))
    }

    @Test func `SQLSTATEs that SQL statements raise match the kept list`() throws {
        let state = /errcode = '(\w{5})'|sqlstate '(PR\w{3})'/
        try expect(
            "sqlstates", migrations.flatMap { $0.matches(of: state).map { String($0.output.1 ?? $0.output.2 ?? "") } })
    }

    @Test func `keys of advisory locks match the kept list`() throws {
        let key = /advisory_[a-z_]*lock[a-z_]*\(([0-9]+)/
        try expect("advisory-keys", migrations.flatMap { $0.matches(of: key).map { String($0.output.1) } })
    }
}
