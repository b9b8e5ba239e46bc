// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import WorkerCLI

/// The scripts of `worker completions`, run by the shells themselves.
struct CompletionTests {
    /// The lines that a user types, and the words that the shell hands to the program.
    private static let lines: [(typed: String, words: String)] = [
        ("worker compl<TAB>", "completions"),
        ("worker jobs --stat<TAB>fai<TAB>", "jobs --state failed"),
        ("worker jobs --state=fai<TAB>", "jobs --state=failed"),
        ("worker jobs --queue mail --err<TAB>tls_v<TAB>", "jobs --queue mail --error tls_verify"),
        ("worker --concurr<TAB>8", "--concurrency 8"), ("worker queue pau<TAB>", "queue pause"),
        ("worker queue --database=x pau<TAB>", "queue --database=x pause"),
        ("worker migrate --statu<TAB>", "migrate --status"), ("worker help retr<TAB>", "help retry"),
        ("worker submit fil<TAB>", "submit file.json"),
        ("worker operations import fil<TAB>", "operations import file.json"),
        ("worker run --files fol<TAB>", "run --files folder/"), ("worker vers<TAB>", "version"),
        ("worker completions zs<TAB>", "completions zsh"),
    ]

    private static func isInstalled(_ shell: String) -> Bool { unsafe access("/usr/bin/\(shell)", X_OK) == 0 }

    /// A folder with the script of a shell, and with a file and a folder to complete.
    private func folder(_ shell: String) throws -> TestFolder {
        let folder = try TestFolder()
        let script = try WorkerProcess.run(["completions", shell])
        #expect(script.status == 0)
        try folder.write("script", script.output)
        try folder.shell("touch file.json; mkdir folder")
        return folder
    }

    @Test(arguments: ["bash", "zsh"].filter(CompletionTests.isInstalled))
    func `bash and zsh complete commands, flags, values, files and folders`(shell: String) throws {
        let folder = try folder(shell)
        let output = try PythonProgram.run(
            "Tests/Shells/complete.py", [shell, folder.path("script"), folder.path] + Self.lines.map(\.typed))
        // zsh puts the value of a flag behind `=`, and drops the slash of a folder.
        func plain(_ words: some StringProtocol) -> String {
            (words.hasSuffix("/") ? words.dropLast() : words[...]).split(separator: "=").joined(separator: " ")
        }
        #expect(output.split(separator: "\n").map { plain($0) } == Self.lines.map { plain($0.words) })
    }

    @Test(.enabled(if: CompletionTests.isInstalled("fish"), "fish is not installed"))
    func `fish completes commands, flags, values, files and folders`() throws {
        let folder = try folder("fish")
        func proposals(_ line: String) throws -> [String] {
            let script = "source script; complete -C '\(line)'"
            return try folder.shell("HOME=\(folder.path) fish --no-config -c \"\(script)\"").split(separator: "\n")
                .map { String($0.split(separator: "\t")[0]) }
        }
        #expect(try proposals("worker compl") == ["completions"])
        #expect(try proposals("worker queu") == ["queue", "queues"])
        #expect(try proposals("worker jobs --stat") == ["--state"])
        #expect(try proposals("worker jobs --state fai") == ["failed"])
        #expect(try proposals("worker jobs --queue mail --error tls_v") == ["tls_verify"])
        #expect(try proposals("worker --concurr") == ["--concurrency"])
        #expect(try proposals("worker queue pau") == ["pause"])
        #expect(try proposals("worker queue pause pau") == [])
        #expect(try proposals("worker help retr") == ["retry"])
        #expect(try proposals("worker submit fil") == ["file.json"])
        #expect(try proposals("worker run --files fol") == ["folder/"])
    }

    @Test func `the bash script has no syntax error and knows each command and flag`() throws {
        let folder = try folder("bash")
        #expect(try folder.shell("bash -n script") == "")
        for (shell, script) in [
            ("bash", BashCompletions.script(Program.commands)), ("zsh", ZshCompletions.script(Program.commands)),
            ("fish", FishCompletions.script(Program.commands)),
        ] {
            for command in Program.commands {
                #expect(script.contains(command.name), "\(shell)")
                for flag in command.flags { #expect(script.contains(flag.name), "\(shell) \(command.name)") }
            }
        }
    }

    @Test func `completions of an unknown shell end with 64`() throws {
        let outcome = try WorkerProcess.run(["completions", "tcsh"])
        #expect(outcome.status == 64)
        #expect(outcome.output == "worker: completions SHELL: \"tcsh\" is not known; give one of bash, zsh, fish\n")
    }
}
