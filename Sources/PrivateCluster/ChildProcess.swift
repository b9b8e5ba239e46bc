// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Starts programs in a new session, in `/`, with no signal blocked and only the descriptors 0 to 2.
package enum ChildProcess {
    /// Starts a program. The first argument is its path, or a name to find in PATH.
    ///
    /// A descriptor of -1 means `/dev/null`. The new session keeps the terminal's Ctrl-C and hang-up away from it. C:
    /// `posix_spawnp`.
    package static func spawn(_ arguments: [String], input: Int32 = -1, output: Int32) throws(ClusterError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        if input < 0 {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        } else {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        }
        if output < 0 {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        } else {
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        unsafe clinux_spawn_close_and_chdir(&actions)
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, clinux_spawn_flags())

        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        defer { unsafe words.forEach { unsafe free($0) } }
        unsafe words.append(nil)
        var pid: pid_t = 0
        let rc = unsafe posix_spawnp(&pid, arguments[0], &actions, &attributes, words, environ)
        guard rc == 0 else { throw ClusterError.system("cannot start \(arguments[0])", rc) }
        return pid
    }

    /// Runs a program to its end. Returns its exit status (128 + signal if it was killed) and its whole output.
    package static func run(_ arguments: [String]) throws(ClusterError) -> (status: Int32, output: String) {
        let pipe = try Pipe()
        let pid = try spawn(arguments, output: pipe.writeEnd)
        pipe.closeWriteEnd()
        let output = pipe.readAll()
        return (wait(for: pid), output)
    }

    /// Waits for the end of a child. Returns its exit status, or 0 if there is no such child.
    package static func wait(for pid: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return 0 }
        }
        return code(status)
    }

    /// The exit status of a child that has ended; nil while it runs; 0 if there is no such child.
    package static func poll(_ pid: Int32) -> Int32? {
        var status: Int32 = 0
        let ended = unsafe waitpid(pid, &status, WNOHANG)
        if ended == 0 { return nil }
        return ended == pid ? code(status) : 0
    }

    /// Whether a child has ended. Its status stays available for `wait` and `poll`. C: `waitid`.
    package static func hasEnded(_ pid: Int32) -> Bool {
        var info = unsafe siginfo_t()
        let rc = unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT)
        return unsafe rc == 0 && info.si_signo != 0
    }

    /// Waits until a child has ended. Its status stays available for `wait` and `poll`. C: `waitid`.
    package static func waitUntilEnded(_ pid: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }

    private static func code(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
