// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient
public import PrivateCluster

/// PgBouncer in front of a private cluster, on a Unix socket in the cluster's directory.
///
/// By default it runs in transaction mode and gives all clients one server connection. It ends with the object or with
/// the process.
public final class Bouncer: Sendable {
    private let input: Pipe
    private let pid: pid_t
    private let directory: String

    /// Starts PgBouncer and waits until it accepts clients.
    public init(before cluster: PrivateCluster, connections: Int = 1, mode: String = "transaction") throws {
        directory = cluster.directory
        let file = "\(directory)/pgbouncer.ini"
        let settings = """
            [databases]
            * = host=\(directory) port=5432 user=postgres
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(directory)
            auth_type = any
            pool_mode = \(mode)
            default_pool_size = \(connections)
            ignore_startup_parameters = extra_float_digits

            """
        let text = [UInt8](settings.utf8)
        let config = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        _ = unsafe write(config, text, text.count)
        close(config)
        input = try Pipe()
        // The shell ends PgBouncer when the write end of the pipe closes. A crash of the tests closes it too.
        let script = #""$@" >/dev/null 2>&1 & child=$!; read -r _; kill -INT $child; wait $child"#
        pid = try ChildProcess.spawn(
            ["/bin/sh", "-c", script, "bouncer"] + PrivateCluster.asServerUser() + ["/usr/sbin/pgbouncer", file],
            input: input.readEnd, output: -1)
        input.closeReadEnd()
        var failure: PGError?
        try TestClock.wait(5, for: "PgBouncer: \(failure?.description ?? "")") {
            do throws(PGError) {
                _ = try PGConnection(connectionString)
                return true
            } catch {
                failure = error
                return false
            }
        }
    }

    deinit {
        input.closeWriteEnd()
        _ = ChildProcess.wait(for: pid)
    }

    /// The connection string that leads through PgBouncer.
    public var connectionString: String { "host=\(directory) port=6432 user=postgres dbname=postgres" }
}
