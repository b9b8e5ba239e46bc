// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Both ends of a pipe. Other children do not inherit them.
package final class Pipe: @unchecked Sendable {
    // Unchecked, because the ends are plain numbers that only the closing thread changes.
    /// The end for the reader, -1 once closed.
    package private(set) var readEnd: Int32
    /// The end for the writer, -1 once closed.
    package private(set) var writeEnd: Int32

    /// A new pipe. C: `pipe2(O_CLOEXEC)`.
    package init() throws(ClusterError) {
        var ends: (Int32, Int32) = (-1, -1)
        guard unsafe clinux_pipe(&ends.0, &ends.1) == 0 else { throw ClusterError.system("pipe2") }
        (readEnd, writeEnd) = ends
    }

    deinit {
        closeReadEnd()
        closeWriteEnd()
    }

    /// Closes this end. A second call has no effect.
    package func closeReadEnd() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    /// Closes this end. A second call has no effect.
    package func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// Reads until the last writer has closed.
    package func readAll() -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(readEnd, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}
