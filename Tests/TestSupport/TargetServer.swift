// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster
internal import Synchronization

/// An HTTP/1.1 server on a loopback port that counts: each request with its times and whether the client waited for
/// the end. For what no real server will do or tell; it answers by `TargetStep`s.
public final class TargetServer: Sendable {
    /// Where it listens.
    public let port: UInt16
    private let book = TargetBook()
    private let stop: Pipe
    private let thread: BackgroundThread

    /// Listens on the next free port of `TestPorts`, or on ::1 beside a silent port of 127.0.0.1.
    ///
    /// Without `keepsRequests` the server forgets each request after its answer: for tests with millions of calls that
    /// count in `answer`. `requests` is then empty, and each `turn` is 1.
    public init(
        beside silent: SilentPort? = nil, keepsRequests: Bool = true,
        answer: @escaping @Sendable (TargetRequest) -> [TargetStep] = TargetStep.byPath
    ) throws {
        let besideSilent = try silent.map { silent in (try silent.listenBeside(), silent.port) }
        let (listener, port) = try besideSilent ?? TestPorts.listen()
        self.port = port
        let stop = try Pipe()
        self.stop = stop
        let loop = TargetLoop(
            listener: listener, stop: stop.readEnd, book: keepsRequests ? book : nil, answer: answer)
        thread = BackgroundThread { loop.run() }
    }

    deinit {
        stop.closeWriteEnd()
        thread.join()
    }

    /// `http://127.0.0.1:PORT`.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// All requests so far, in the order of their arrival.
    public var requests: [TargetRequest] { book.requests.withLock { $0 } }

    /// The requests for one path.
    public func requests(_ path: String) -> [TargetRequest] { requests.filter { $0.path == path } }

    /// Lets held answers go, and those to come.
    public func release() { book.isReleased.store(true, ordering: .releasing) }

    /// How many requests are under way.
    public var underWay: Int { requests.count { $0.endedAt == nil } }

    /// A port of ours that nobody listens on now.
    public static func freePort() throws -> UInt16 {
        let (listener, port) = try TestPorts.listen()
        close(listener)
        return port
    }

    /// Whether somebody takes connections on a loopback port.
    public static func isTaken(_ port: UInt16) -> Bool {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(client) }
        return unsafe withLoopback(port) { unsafe Glibc.connect(client, $0, $1) } == 0
    }

    /// A connection to a loopback port; -1: nobody listens.
    static func connect(_ port: UInt16) -> Int32 {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if unsafe withLoopback(port, { unsafe Glibc.connect(client, $0, $1) }) == 0 { return client }
        close(client)
        return -1
    }

    static func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// What the server's thread writes and the test reads.
final class TargetBook: Sendable {
    let requests = Mutex<[TargetRequest]>([])
    /// Whether held answers go on.
    let isReleased = Atomic(false)
}
