// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The loopback ports of this test process: a quarter of a range that begins at 23000.
///
/// The range lies below the ports that the system gives to clients. Two test processes run at once, in two clones even
/// more. Each holds the first port of its quarter until it ends.
enum TestPorts {
    private static let quarters = stride(from: UInt16(23_000), to: 23_460, by: 115).map { $0..<$0 + 115 }
    private static let ours: Result<Range<UInt16>, TestFault> = {
        for quarter in quarters where listener(quarter.lowerBound) != nil { return .success(quarter.dropFirst()) }
        return .failure(TestFault(description: "four test processes run already"))
    }()
    private static let next = Atomic<UInt16>(0)

    /// A socket that listens on the next free port.
    ///
    /// The ports are used in turn. So a port that was just freed is not taken again at once.
    static func listen() throws -> (socket: Int32, port: UInt16) {
        let ports = try ours.get()
        for _ in ports {
            let port = ports.lowerBound + next.add(1, ordering: .relaxed).oldValue % UInt16(ports.count)
            if let socket = listener(port) { return (socket, port) }
        }
        throw TestFault(description: "no port of \(ports) is free")
    }

    private static func listener(_ port: UInt16) -> Int32? {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        let bound = unsafe TargetServer.withLoopback(port) { unsafe bind(listener, $0, $1) }
        if bound == 0, Glibc.listen(listener, 1024) == 0 { return listener }
        close(listener)
        return nil
    }
}
