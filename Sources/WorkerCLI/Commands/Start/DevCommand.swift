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
        name: "dev", group: .start,
        summary: "start a private PostgreSQL with a worker and the dashboard, to try things",
        example: "dev --concurrency 4 --keep ./playground",
        flags: RunConfiguration.flags.filter {
            !["database", "allow-private", "prepare", "once", "admin-database"].contains($0.name)
        }.map { flag in
            var flag = flag
            if flag.name == AdminPages.flag.name { flag.fallback = "127.0.0.1:\(usualPort), or a free port" }
            return flag
        } + [
            Flag(
                name: "port", kind: .whole(1024...65_535), placeholder: "N", example: "15432",
                fallback: "only a socket", meaning: "let PostgreSQL listen on 127.0.0.1 too, for every local user"),
            Flag(
                name: "keep", kind: .text, placeholder: "DIR", example: "./playground", fallback: "deleted at the end",
                meaning: "folder in which the data stays, to be used again"),
        ],
        details: [
            "It needs the server programs of PostgreSQL 15 or newer. The data is in ./.postrider, or in /var/tmp for root.",
            "Ctrl-C ends everything and deletes the data, unless --keep names a folder for it.",
            "Private addresses may be called. The dashboard is at 127.0.0.1:\(usualPort), or at a free port if that is taken.",
            "If PostgreSQL ends, the command ends with 69.",
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
            let keptFolder = arguments.text("keep")
            let cluster = try start(port: arguments.text("port").flatMap { UInt16($0) }, keptFolder: keptFolder)
            defer { cluster.remove() }
            configuration.database = cluster.connectionString(database: database)
            try migrate(cluster)
            Terminal.write(greeting(cluster, pages, keptFolder: keptFolder))
            return try serve(configuration, cluster)
        })

    /// What to do first. The first call succeeds without a network, and the second one waits for a retry.
    private static func greeting(_ cluster: PrivateCluster, _ pages: AdminPages, keptFolder: String?) -> String {
        """
        PostgreSQL, a worker and the dashboard are running. Ctrl-C ends them\(keptFolder.map { "; the data stays in \($0)" } ?? " and deletes the data").

          dashboard   http://\(pages.address)/
          database    export DATABASE_URL='\(cluster.uri(database: database))'

        Paste the export into another terminal, start psql "$DATABASE_URL", and try:

          insert into postrider.jobs (url) values ('http://\(pages.address)/healthz'), ('http://127.0.0.1:9/');
          select id, state, status_code, postrider.explain(id) from postrider.job_status order by id;

        The first call succeeds. The second one fails, because nothing listens on port 9, and waits for a retry.


        """
    }

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
            throw CommandError(
                .unreachable, "its PostgreSQL has ended; start worker dev again; without --keep, all jobs are lost")
        }
    }

    private static func start(port: UInt16?, keptFolder: String?) throws(CommandError) -> PrivateCluster {
        do throws(ClusterError) {
            return try PrivateCluster(
                PrivateCluster.Options(
                    isDurable: true, port: port, dataFolder: keptFolder == nil ? ".postrider" : nil,
                    keptFolder: keptFolder))
        } catch {
            throw CommandError(.unreachable, "cannot start PostgreSQL: \(error)")
        }
    }

    private static func migrate(_ cluster: PrivateCluster) throws(CommandError) {
        do throws(PGError) {
            let server = try PGConnection(cluster.connectionString())
            let existing = try server.query("select from pg_database where datname = '\(database)'")
            if existing.rowCount == 0 { try server.execute("create database \(database)") }
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
