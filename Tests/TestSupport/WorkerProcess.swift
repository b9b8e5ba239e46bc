// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// Runs the built program as users run it.
public enum WorkerProcess {
    /// The result of a run.
    public struct Outcome: Equatable, Sendable {
        /// The exit status; 128 + signal if the program was killed.
        public var status: Int32
        /// The output, stdout and stderr together.
        public var output: String

        /// An outcome to compare with.
        public init(status: Int32, output: String) {
            self.status = status
            self.output = output
        }
    }

    /// The path of the worker program: `POSTRIDER_TEST_WORKER`, or the program in the folder of the test program, where
    /// the package manager puts it.
    public static var path: String {
        unsafe getenv("POSTRIDER_TEST_WORKER").map { unsafe String(cString: $0) } ?? path(of: "worker")
    }

    /// The path of a program that is built with the tests. C: `realpath`.
    public static func path(of program: String) -> String {
        guard let resolved = unsafe realpath("/proc/self/exe", nil) else { return program }
        defer { unsafe free(resolved) }
        let folder = unsafe String(cString: resolved).split(separator: "/").dropLast()
        return folder.map { "/" + $0 }.joined() + "/" + program
    }

    /// Runs the worker program to its end. The variables are added to this process's environment.
    public static func run(_ words: [String], _ variables: [String: String] = [:]) throws -> Outcome {
        let (status, output) = try ChildProcess.run(command(words, variables))
        return Outcome(status: status, output: output)
    }

    /// Runs another program that is built with the tests to its end.
    public static func run(program: String, _ words: [String]) throws -> Outcome {
        let (status, output) = try ChildProcess.run([path(of: program)] + words)
        return Outcome(status: status, output: output)
    }

    /// Runs the worker program to its end with this text as its standard input.
    public static func run(_ words: [String], input: String) throws -> Outcome {
        try run([path] + words, reading: input)
    }

    /// Runs any program to its end with this text as its standard input. The first word is the program.
    public static func run(_ words: [String], reading input: String) throws -> Outcome {
        let pipeline = "printf %s \"$0\" | \"$@\""
        let (status, output) = try ChildProcess.run(["/bin/sh", "-c", pipeline, input] + words)
        return Outcome(status: status, output: output)
    }

    /// Runs the worker program to its end. The hard limit allows `openFiles` descriptors, the soft limit 64.
    public static func run(_ words: [String], openFiles: Int) throws -> Outcome {
        let limited = "ulimit -S -n 64 && ulimit -H -n \(openFiles) && exec \"$0\" \"$@\""
        let (status, output) = try ChildProcess.run(["/bin/sh", "-c", limited, path] + words)
        return Outcome(status: status, output: output)
    }

    /// Starts the worker program and returns its process, which the caller ends.
    ///
    /// The output goes to a file, or it is discarded.
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

    /// Sends a signal to a process of `start`, waits for its end, and returns the exit status.
    public static func end(_ process: Int32, signal: Int32) -> Int32 {
        kill(process, signal)
        return ChildProcess.wait(for: process)
    }

    private static func command(_ words: [String], _ variables: [String: String]) -> [String] {
        ["/usr/bin/env"] + variables.map { "\($0.key)=\($0.value)" } + [path] + words
    }
}
