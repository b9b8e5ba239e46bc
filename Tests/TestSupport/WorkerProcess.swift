// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// The built program, run as users run it.
public enum WorkerProcess {
    /// How a run ended.
    public struct Outcome: Equatable, Sendable {
        /// The exit status; 128 + signal for one that was killed.
        public var status: Int32
        /// All it wrote, stdout and stderr together.
        public var output: String

        /// An outcome to compare with.
        public init(status: Int32, output: String) {
            self.status = status
            self.output = output
        }
    }

    /// Beside the test program, where the package manager puts it.
    public static var path: String { path(of: "worker") }

    /// Where a program that is built with the tests is. C: `realpath`.
    public static func path(of program: String) -> String {
        guard let resolved = unsafe realpath("/proc/self/exe", nil) else { return program }
        defer { unsafe free(resolved) }
        let folder = unsafe String(cString: resolved).split(separator: "/").dropLast()
        return folder.map { "/" + $0 }.joined() + "/" + program
    }

    /// Runs it to its end; variables are added to this process's own environment.
    public static func run(_ words: [String], _ variables: [String: String] = [:]) throws -> Outcome {
        let (status, output) = try ChildProcess.run(command(words, variables))
        return Outcome(status: status, output: output)
    }

    /// Runs another program that is built with the tests, to its end.
    public static func run(program: String, _ words: [String]) throws -> Outcome {
        let (status, output) = try ChildProcess.run([path(of: program)] + words)
        return Outcome(status: status, output: output)
    }

    /// Runs it to its end with this text as its standard input.
    public static func run(_ words: [String], input: String) throws -> Outcome {
        try run([path] + words, reading: input)
    }

    /// Runs any program, the first of the words, to its end with this text as its standard input.
    public static func run(_ words: [String], reading input: String) throws -> Outcome {
        let pipeline = "printf %s \"$0\" | \"$@\""
        let (status, output) = try ChildProcess.run(["/bin/sh", "-c", pipeline, input] + words)
        return Outcome(status: status, output: output)
    }

    /// Runs it to its end with this many descriptors allowed, if it raises its own limit.
    public static func run(_ words: [String], openFiles: Int) throws -> Outcome {
        let limited = "ulimit -S -n 64 && ulimit -H -n \(openFiles) && exec \"$0\" \"$@\""
        let (status, output) = try ChildProcess.run(["/bin/sh", "-c", limited, path] + words)
        return Outcome(status: status, output: output)
    }

    /// Starts it and returns its process; the caller ends it. Its output goes to a file or is thrown away.
    public static func start(
        _ words: [String], _ variables: [String: String] = [:], output path: String? = nil
    ) throws -> Int32 {
        let output = path.map { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) } ?? -1
        defer { if output >= 0 { close(output) } }
        return try ChildProcess.spawn(command(words, variables), output: output)
    }

    /// Starts another program that is built with the tests.
    public static func start(program: String, _ words: [String], output path: String) throws -> Int32 {
        let output = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { if output >= 0 { close(output) } }
        return try ChildProcess.spawn([self.path(of: program)] + words, output: output)
    }

    /// Sends a signal to what `start` returned and waits for its end; returns the exit status.
    public static func end(_ process: Int32, signal: Int32) -> Int32 {
        kill(process, signal)
        return ChildProcess.wait(for: process)
    }

    private static func command(_ words: [String], _ variables: [String: String]) -> [String] {
        ["/usr/bin/env"] + variables.map { "\($0.key)=\($0.value)" } + [path] + words
    }
}
