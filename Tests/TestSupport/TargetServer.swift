// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster
internal import Synchronization

/// An HTTP/1.1 server on a loopback port that records each request with its times.
///
/// It also records whether the client waited for the end. It answers by `TargetStep`s, for behaviour that real servers
/// do not offer.
public final class TargetServer: Sendable {
    /// The port on which the server listens.
    public let port: UInt16
    private let book = TargetBook()
    private let stop: Pipe
    private let thread: BackgroundThread

    /// Listens on the next free port of `TestPorts`, or on the same port of ::1 as a silent port of 127.0.0.1.
    ///
    /// Without `keepsRequests` the server forgets each request after its answer. Tests with millions of calls then
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

    /// Releases held answers, and all later ones.
    public func release() { book.isReleased.store(true, ordering: .releasing) }

    /// The number of requests in progress.
    public var underWay: Int { requests.count { $0.endedAt == nil } }

    /// A port of this process that is free at the moment.
    public static func freePort() throws -> UInt16 {
        let (listener, port) = try TestPorts.listen()
        close(listener)
        return port
    }

    /// Whether a server accepts connections on a loopback port.
    public static func isTaken(_ port: UInt16) -> Bool {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(client) }
        return unsafe withLoopback(port) { unsafe Glibc.connect(client, $0, $1) } == 0
    }

    /// A connection to a loopback port; -1 if no server listens there.
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

/// The state that the server's thread writes and the test reads.
final class TargetBook: Sendable {
    let requests = Mutex<[TargetRequest]>([])
    /// Whether held answers may continue.
    let isReleased = Atomic(false)
}
