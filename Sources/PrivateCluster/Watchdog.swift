// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A shell that outlives this process. When this process's end of its pipe closes, for any reason, the shell stops the
/// server and deletes the directories.
///
/// PR_SET_PDEATHSIG would not do: it fires when the *thread* that started the child ends, and a change of the user id
/// clears it.
struct Watchdog {
    private let pipe: Pipe
    private let pid: pid_t

    /// The arguments are the directories. Each line on standard input is the server's process id, 0 for none. SIGQUIT
    /// is the immediate stop. The script waits at most 10 s, in case no process reaps the server.
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

    /// Sets the process to stop at the end.
    func watch(_ server: pid_t) {
        let line = [UInt8]("\(server)\n".utf8)
        _ = unsafe write(pipe.writeEnd, line, line.count)
    }

    /// Makes it stop and delete now, and waits until it has finished.
    func finish() {
        pipe.closeWriteEnd()
        _ = ChildProcess.wait(for: pid)
    }
}
