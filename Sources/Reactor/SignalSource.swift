// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Signals that can be polled: they are blocked in the process and read from a signalfd.
///
/// Create it in `main` before any other thread. Threads inherit the mask, and a signal that one thread does not block
/// would still end the process.
public struct SignalSource: ~Copyable {
    private let signalfd: Descriptor

    /// Blocks the signals and opens a descriptor for them. C: `pthread_sigmask`, `signalfd`.
    ///
    /// An ignored SIGHUP is left out, so that the program survives under `nohup`.
    public init(_ signals: [Int32]) throws(ReactorError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals where signal != SIGHUP || clinux_is_ignored(SIGHUP) == 0 {
            unsafe sigaddset(&set, signal)
        }
        let rc = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard rc == 0 else { throw ReactorError("pthread_sigmask", number: rc) }
        let number = unsafe CLinux.signalfd(-1, &set, CInt(SFD_NONBLOCK) | CInt(SFD_CLOEXEC))
        signalfd = try Descriptor("signalfd", number)
    }

    /// The descriptor to poll for reading.
    public var descriptor: Int32 { signalfd.rawValue }

    /// The signals since the last call, in the order of arrival. Equal ones may be merged.
    public func read() -> [Int32] {
        var arrived: [Int32] = []
        var info = signalfd_siginfo()
        while true {
            let size = MemoryLayout<signalfd_siginfo>.size
            let count = unsafe Glibc.read(signalfd.rawValue, &info, size)
            if count < 0 && errno == EINTR { continue }
            guard count == size else { return arrived }
            arrived.append(Int32(info.ssi_signo))
        }
    }
}
