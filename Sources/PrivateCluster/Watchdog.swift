// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A shell that outlives us by a moment: when our end of its pipe closes, however we ended, it stops the server
/// and deletes the directories.
///
/// A pipe and not PR_SET_PDEATHSIG, which fires when the *thread* that started the child ends, and which changing
/// the user id clears.
struct Watchdog {
    private let pipe: Pipe
    private let pid: pid_t

    /// The arguments are the directories; each line on standard input is the server's process id, 0 for none. SIGQUIT
    /// is the immediate stop. At most 10 s, should nobody reap the server after us.
    private static let script = """
        trap '' HUP INT TERM
        server=0
        while read -r line; do server=$line; done
        if [ "$server" -gt 0 ] && kill -QUIT "$server" 2>/dev/null; then
            tries=0
            while [ $tries -lt 500 ] && kill -0 "$server" 2>/dev/null; do sleep 0.02; tries=$((tries + 1)); done
        fi
        rm -rf -- "$@"
        """

    /// Starts watching over directories.
    init(directories: [String]) throws(ClusterError) {
        pipe = try Pipe()
        pid = try ChildProcess.spawn(
            ["/bin/sh", "-c", Self.script, "postrider-watchdog"] + directories, input: pipe.readEnd, output: -1)
        pipe.closeReadEnd()
    }

    /// Tells which process to stop at the end.
    func watch(_ server: pid_t) {
        let line = [UInt8]("\(server)\n".utf8)
        _ = unsafe write(pipe.writeEnd, line, line.count)
    }

    /// Lets it do its work now, and waits until it is done.
    func finish() {
        pipe.closeWriteEnd()
        _ = ChildProcess.wait(for: pid)
    }
}
