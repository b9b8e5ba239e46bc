// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import WorkerCLI

/// The manual page of `worker man`.
struct ManPageTests {
    private static func isInstalled(_ program: String) -> Bool { unsafe access("/usr/bin/\(program)", X_OK) == 0 }

    @Test(.enabled(if: ManPageTests.isInstalled("groff"), "groff is not installed"))
    func `groff formats the manual page without a warning`() throws {
        let folder = try TestFolder()
        try folder.write("worker.1", try WorkerProcess.run(["man"]).output)
        #expect(try folder.shell("groff -man -ww -Tutf8 -P-cbou worker.1 2>&1 >page.txt") == "")
        let page = String(decoding: folder.read("page.txt") ?? [], as: UTF8.self)
        for word in ["NAME", "SYNOPSIS", "worker retry [ID]", "--failed", "POSTRIDER_CONCURRENCY", "NO_COLOR"] {
            #expect(page.contains(word), "\(word)")
        }
    }

    @Test(.enabled(if: ManPageTests.isInstalled("man"), "man is not installed"))
    func `man formats the manual page without a warning`() throws {
        let folder = try TestFolder()
        try folder.write("worker.1", try WorkerProcess.run(["man"]).output)
        #expect(
            try folder.shell("LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z worker.1 2>&1 >/dev/null")
                == "")
    }

    @Test func `the manual page has each command with its flags`() {
        let page = ManPage.text(Program.commands)
        for command in Program.commands {
            #expect(page.contains("\n.SS \"worker \(Roff.text(command.name))"))
            for flag in command.flags { #expect(page.contains("\\fB\(Roff.text("--" + flag.name))\\fR")) }
        }
    }

    @Test(arguments: [
        ("a-b", "a\\-b"), (".SH", "\\&.SH"), ("'x'", "\\(aqx\\(aq"), ("a\\b", "a\\eb"), ("…", "\\[u2026]"),
    ])
    func `no character of a text is a request of roff`(text: String, roff: String) {
        #expect(Roff.text(text) == roff)
    }
}
