// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPAgent
import JobModel
import Reactor

/// A process that downloads one file and can be killed: `downloader URL ROOT PATH ATTEMPTS [LARGEST-FILE]`.
///
/// It prints a line for each attempt: `KIND GAINED BYTES CODE MESSAGE`, with a `Verdict.Kind` such as `succeeded`. At
/// the end it prints its peak memory in KB. With a fifth argument, no file may become larger (RLIMIT_FSIZE).
@main
struct Downloader {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count >= 5, let attempts = Int(words[4]) else { return say("usage") }
        if words.count > 5, let largest = UInt(words[5]) {
            var limit = rlimit(rlim_cur: largest, rlim_max: largest)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        }
        let agent = try HTTPAgent(slots: 1, filesRoot: words[2])
        var poller = try Poller()
        for _ in 0..<attempts {
            let call = HTTPCall(
                url: words[1], download: Download(path: words[3]), limits: CallLimits(total: CallLimits.unlimited),
                allowsPrivateNetwork: true)
            agent.start(call, slot: 0)
            let outcome = try wait(agent, &poller)
            let verdict = Verdict(outcome, okStatuses: .success, isAtMostOnce: false, attempt: 1)
            let code = verdict.code?.rawValue ?? "-"
            let progress = outcome.download
            say("\(verdict.kind) \(progress?.gained ?? 0) \(progress?.bytesDone ?? 0) \(code) \(verdict.message ?? "")")
            if verdict.kind == .succeeded { break }
        }
        say("memory \(mostMemory)")
    }

    /// From `/proc/self/status`, because getrusage would count the parent's memory before the exec.
    private static var mostMemory: String {
        let file = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe read(file, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        let words = lines.first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: { $0 == " " || $0 == "\t" })
        return words.map { String($0[1]) } ?? "?"
    }

    private static func wait(_ agent: HTTPAgent, _ poller: inout Poller) throws -> CallOutcome {
        var ready: [PollerEvent] = []
        while true {
            var changes: [SocketChange] = []
            agent.drainSocketChanges { changes.append($0) }
            for change in changes {
                if change.isRemoval {
                    poller.remove(change.descriptor)
                } else {
                    try poller.set(
                        change.descriptor, token: UInt64(change.descriptor), read: change.wantsRead,
                        write: change.wantsWrite)
                }
            }
            let now = MonotonicClock.now
            let due = agent.nextDeadline.map { $0 > now ? $0 - now : 0 }
            try poller.wait(timeoutNanoseconds: due, into: &ready)
            for event in ready {
                agent.socketReady(Int32(event.token), readable: event.readable, writable: event.writable)
            }
            if let due = agent.nextDeadline, due <= MonotonicClock.now { agent.timeout() }
            if let finished = agent.takeFinished().first { return finished.outcome }
        }
    }

    private static func say(_ line: String) {
        let bytes = [UInt8]((line + "\n").utf8)
        _ = unsafe write(1, bytes, bytes.count)
    }
}
