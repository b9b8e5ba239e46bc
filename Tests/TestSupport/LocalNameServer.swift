// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A name server on loopback for one program. It resolves each name to 127.0.0.1.
///
/// Names below `nowhere.example` do not exist. Questions for names below `silent.example` get no answer.
public final class LocalNameServer: Sendable {
    private let socket: Int32
    private let folder: TestFolder
    private let stop: Pipe
    private let thread: BackgroundThread

    /// The reason why this machine cannot have such a server, as a sentence; nil if it can.
    public static let obstacle: String? = {
        guard getuid() == 0 else { return "needs root, for port 53 and a resolv.conf of the worker's own" }
        let tried = try? ChildProcess.run(["unshare", "-m", "mount", "--bind", "/etc/hosts", "/etc/resolv.conf"])
        return tried?.status == 0 ? nil : "unshare -m or mount --bind is refused here"
    }()

    /// Listens at an address that no other test process uses.
    public init() throws {
        var found: (socket: Int32, address: String)?
        for _ in 0..<20 where found == nil { found = Self.bind() }
        guard let found else { throw TestFault(description: "port 53 is taken on 20 addresses") }
        socket = found.socket
        folder = try TestFolder()
        try folder.write("resolv.conf", "nameserver \(found.address)\n")
        let stop = try Pipe()
        self.stop = stop
        thread = BackgroundThread { [socket = found.socket] in Self.serve(socket, until: stop.readEnd) }
    }

    deinit {
        stop.closeWriteEnd()
        thread.join()
        close(socket)
    }

    /// The command in front of a program's words: it leaves the program only this name server, then runs it by exec.
    public var wrapper: [String] {
        let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\""
        return ["unshare", "-m", "/bin/sh", "-c", script, folder.path("resolv.conf")]
    }

    private static func bind() -> (Int32, String)? {
        let bytes = (UInt8.random(in: 1...254), UInt8.random(in: 1...254))
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(53).bigEndian
        address.sin_addr.s_addr = (0x7F4D_0000 | UInt32(bytes.0) << 8 | UInt32(bytes.1)).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return (socket, "127.77.\(bytes.0).\(bytes.1)") }
        close(socket)
        return nil
    }

    private static func serve(_ socket: Int32, until stop: Int32) {
        var message = [UInt8](repeating: 0, count: 1_024)
        while true {
            var waits = [
                pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            ]
            unsafe poll(&waits, 2, -1)
            if waits[0].revents != 0 { return }
            var client = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            unsafe withUnsafeMutablePointer(to: &client) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                    let count = unsafe recvfrom(socket, &message, 512, 0, peer, &length)
                    guard count > 12, let answer = answer(to: message[..<count]) else { return }
                    _ = unsafe sendto(socket, answer, answer.count, 0, peer, length)
                }
            }
        }
    }

    private static let silent = [UInt8]("silent".utf8)
    private static let nowhere = [UInt8]("nowhere".utf8)

    /// RFC 1035 §4.1: the question again, and one address if the question asks for an A record. Nil: no answer.
    private static func answer(to question: ArraySlice<UInt8>) -> [UInt8]? {
        var end = 12
        // The length of the label before the last one: 7 for `nowhere.example`, 6 for `silent.example`.
        var beforeLast: UInt8 = 0
        var last: UInt8 = 0
        while end < question.count, question[end] > 0 {
            beforeLast = last
            last = question[end]
            end += 1 + Int(last)
        }
        end += 5
        guard end <= question.count else { return nil }
        let name = question[..<(end - 5)]
        if beforeLast == 6, name.suffix(14).starts(with: silent) { return nil }
        let exists = beforeLast != 7 || !name.suffix(15).starts(with: nowhere)
        let isAddress = question[end - 4] == 0 && question[end - 3] == 1
        var answer = [UInt8](question[..<end])
        answer[2] = 0x84 | (answer[2] & 1)
        answer[3] = exists ? 0x80 : 0x83
        answer.replaceSubrange(6..<12, with: [0, exists && isAddress ? 1 : 0, 0, 0, 0, 0])
        if exists, isAddress { answer += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1] }
        return answer
    }
}
