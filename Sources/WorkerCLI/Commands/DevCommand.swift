// SPDX-License-Identifier: Apache-2.0

internal import Admin
internal import Engine
internal import Glibc
internal import JobStore
internal import PGClient
internal import PrivateCluster

/// `worker dev`: a private PostgreSQL with the schema, a worker and its dashboard. All of it is removed at the end.
///
/// The server ends with this process even after a crash, since `PrivateCluster` keeps a watchdog for it.
enum DevCommand {
    private static let database = "postrider"
    /// The default port of the dashboard.
    private static let usualPort: UInt16 = 9464

    static let spec = CommandSpec(
        name: "dev",
        summary: "run a worker with its dashboard on a private PostgreSQL that ends with it",
        flags: RunConfiguration.flags.filter { !["database", "allow-private", "prepare", "once"].contains($0.name) } + [
            Flag(
                name: "port", kind: .whole(1024...65_535), placeholder: "N", example: "15432",
                fallback: "only a socket", meaning: "let PostgreSQL listen on 127.0.0.1 too, for every local user")
        ],
        details: [
            "Needs the server's programs of PostgreSQL 15 or newer. The data are in .postrider; as root, when the server",
            "runs as postgres, in /var/tmp.",
            "Private addresses may be called. One Ctrl-C ends all; nothing is kept. Should PostgreSQL end, it ends with 69.",
            "The dashboard is at 127.0.0.1:\(usualPort), or at another port if that one is taken.",
        ],
        run: { (arguments) throws(CommandError) in
            // The private server's connection string is known only once it runs. One from the environment is not used
            // or checked.
            var configuration = try RunConfiguration(arguments, database: "")
            configuration.allowsPrivate = true
            let (port, reservation) = LoopbackPort.reserve(preferring: usualPort)
            defer { close(reservation) }
            let pages = configuration.pages ?? AdminPages(address: AdminAddress(loopback: port))
            configuration.pages = pages
            let cluster = try start(port: arguments.text("port").flatMap { UInt16($0) })
            defer { cluster.remove() }
            configuration.database = cluster.connectionString(database: database)
            try migrate(cluster)
            Terminal.write(
                """
                PostgreSQL is up with the schema postrider, and ends with this program. Look at it from elsewhere:

                  http://\(pages.address)/
                  psql '\(configuration.database)'

                insert into postrider.jobs (url) values ('https://example.com/') returning id;
                select id, state, status_code, error from postrider.job_status order by id;


                """)
            return try serve(configuration, cluster)
        })

    /// Makes calls until a signal, or until the server ends. The server is not restarted.
    private static func serve(
        _ configuration: RunConfiguration, _ cluster: PrivateCluster
    ) throws(CommandError) -> ExitCode {
        do throws(CommandError) {
            return try RunCommand.serve(configuration) { event in
                guard case .connectionLost = event, cluster.hasEndedUnexpectedly else { return }
                // The second signal ends the drain, since no server is left to store results.
                for signal in [SIGTERM, SIGINT] { kill(getpid(), signal) }
            }
        } catch {
            guard cluster.hasEndedUnexpectedly else { throw error }
            throw CommandError(.unreachable, "its PostgreSQL has gone, and all jobs with it; start worker dev anew")
        }
    }

    private static func start(port: UInt16?) throws(CommandError) -> PrivateCluster {
        do throws(ClusterError) {
            return try PrivateCluster(PrivateCluster.Options(isDurable: true, port: port, dataFolder: ".postrider"))
        } catch {
            throw CommandError(.unreachable, "cannot start PostgreSQL: \(error)")
        }
    }

    private static func migrate(_ cluster: PrivateCluster) throws(CommandError) {
        do throws(PGError) {
            try PGConnection(cluster.connectionString()).execute("create database \(database)")
        } catch {
            throw Database.failure(error)
        }
        let connection: PGConnection
        do throws(PGError) {
            connection = try PGConnection(cluster.connectionString(database: database))
        } catch {
            throw Database.unreachable(error)
        }
        do throws(StoreError) {
            _ = try Migrator().migrate(connection)
        } catch {
            throw Database.failure(error)
        }
    }
}
