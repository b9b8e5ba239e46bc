// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import WorkerCLI

/// The program. All its code is in `WorkerCLI`, where tests can reach it.
@main
struct Worker {
    static func main() {
        exit(Program.run(Program.arguments()).rawValue)
    }
}
