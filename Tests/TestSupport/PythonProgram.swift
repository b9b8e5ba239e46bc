// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// A Python program of the project, with the packages that `make setup` installs.
public enum PythonProgram {
    /// Runs the program to its end and returns its output.
    public static func run(_ path: String, _ words: [String]) throws -> String {
        let (status, output) = try ChildProcess.run(
            [ProjectFolder.python(), "-B", ProjectFolder.path() + "/" + path] + words)
        guard status == 0 else { throw TestFault(description: output) }
        return output
    }
}
