// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A private PostgreSQL with a new data directory and a Unix socket, for tests and `worker dev`. It ends with the
/// process.
///
/// All files are in one directory `/var/tmp/postrider-XXXXXX`: `data`, the socket and `log`. A server that is not
/// durable has its directory in `/dev/shm` if that has 8 GB free. Creating, copying and dropping a database of 15 MB
/// takes half the CPU there.
///
/// Only the owner can enter the directory, so `trust` admits no other user. As root the server runs as `postgres`. The
/// path of a socket has at most 107 bytes, so a folder of the caller's can contain the data only.
///
/// However the process ends, a watchdog stops the server and deletes the directory. The first connection is possible
/// after about 0.5 s, of which `initdb` takes 0.4 s.
public final class PrivateCluster: Sendable {
    /// The options of a server.
    public struct Options: Sendable {
        /// Whether commits survive a crash of the host (`fsync`). Off for tests.
        public var isDurable: Bool
        /// A port on 127.0.0.1, where each local user may connect; `nil` for the socket only.
        public var port: UInt16?
        /// A folder for the data, created if it is missing. `nil`: next to the socket. As root it is ignored, because
        /// `postgres` may not enter root's folders.
        public var dataFolder: String?
        /// A folder for data that stays after the end, created if it is missing. Data in it is used again.
        public var keptFolder: String?
        /// Further settings, `name: value` as in postgresql.conf.
        public var settings: [String: String]

        /// A server with the standard settings.
        public init(
            isDurable: Bool = false, port: UInt16? = nil, dataFolder: String? = nil, keptFolder: String? = nil,
            settings: [String: String] = [:]
        ) {
            self.isDurable = isDurable
            self.port = port
            self.dataFolder = dataFolder
            self.keptFolder = keptFolder
            self.settings = settings
        }
    }

    /// How to stop the server.
    public enum StopMode: Sendable {
        /// Ends the sessions, rolls back and writes all data. The next start needs no recovery.
        case fast
        /// Ends without writing. The next start recovers, as after a crash.
        case immediate
        /// Waits until the last client has disconnected.
        case smart

        var signal: Int32 {
            switch self {
            case .fast: SIGINT
            case .immediate: SIGQUIT
            case .smart: SIGTERM
            }
        }
    }

    private struct State {
        var server: pid_t = 0
        var watchdog: Watchdog?
    }

    /// Removes libpq's variables. PGHOSTADDR even overrides the host of a connection string, so another server would be
    /// migrated. C: `unsetenv`.
    private static let isolated: Void = {
        let names = [
            "PGHOSTADDR", "PGSERVICE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGOPTIONS", "PGSSLMODE", "PGGSSENCMODE",
            "PGCHANNELBINDING", "PGREQUIREAUTH", "PGREQUIREPEER", "PGTARGETSESSIONATTRS",
        ]
        // Only existing ones are removed, since other threads may read the environment.
        for name in names where unsafe getenv(name) != nil { unsafe unsetenv(name) }
    }()

    /// The directory of all its files, including the socket.
    public let directory: String
    /// The directory of the data: the same, or one in the folder of the options.
    private let home: String
    private let options: Options
    private let binaries: ServerBinaries
    private let state: Mutex<State>

    /// Creates the directory and starts the server. Returns when it accepts connections.
    ///
    /// The first call removes variables of libpq from this process's environment that would change `connectionString`.
    public init(_ options: Options = Options()) throws(ClusterError) {
        Self.isolated
        self.options = options
        binaries = try ServerBinaries.find()
        directory = try ClusterFolders.makeDirectory(
            in: options.isDurable ? "/var/tmp" : ClusterFolders.folderInMemory() ?? "/var/tmp")
        do throws(ClusterError) {
            let kept = try ClusterFolders.keep(options.keptFolder)
            home = if let kept { kept } else { try ClusterFolders.makeHome(options.dataFolder) ?? directory }
        } catch {
            unsafe rmdir(directory)
            throw error
        }
        do throws(ClusterError) {
            let isKept = options.keptFolder != nil
            state = Mutex(State(watchdog: try Watchdog(directories: isKept ? [directory] : [directory, home])))
        } catch {
            unsafe rmdir(directory)
            if options.keptFolder == nil { unsafe rmdir(home) }
            throw error
        }
        do throws(ClusterError) {
            if unsafe access("\(home)/data/PG_VERSION", F_OK) != 0 { try initialize() }
            try start()
        } catch {
            remove()
            throw error
        }
    }

    deinit {
        remove()
    }

    private func initialize() throws(ClusterError) {
        let made = try ChildProcess.run(
            Self.asServerUser() + [
                binaries.path("initdb"), "--pgdata=\(home)/data", "--username=postgres", "--auth=trust",
                "--encoding=UTF8", "--locale=C", "--no-sync",
            ])
        guard made.status == 0 else {
            throw ClusterError(.initialize, "initdb failed: \(Self.lastLine(made.output))")
        }
    }

    /// The connection string of a database through the socket.
    public func connectionString(database: String = "postgres") -> String {
        "host=\(directory) port=\(options.port ?? 5432) user=postgres dbname=\(database)"
    }

    /// The same as a URI, which other programs can read from `DATABASE_URL`.
    public func uri(database: String) -> String {
        "postgresql://postgres@/\(database)?host=\(directory)&port=\(options.port ?? 5432)"
    }

    /// The process id of the postmaster, 0 while stopped.
    public var processID: Int32 { state.withLock { $0.server } }

    /// Whether the server was started and has ended without `stop`, `kill` or `remove`.
    public var hasEndedUnexpectedly: Bool { state.withLock { $0.server > 0 && ChildProcess.hasEnded($0.server) } }

    /// Starts the server unless it runs. Returns when it accepts connections.
    public func start() throws(ClusterError) {
        let deadline = Self.milliseconds() + 60_000
        while true {
            do throws(ClusterError) {
                return try startOnce(deadline: deadline)
            } catch {
                // After `kill` the old server's children need a moment to end. Until then they hold its shared memory.
                guard error.description.contains("still in use"), Self.milliseconds() < deadline else { throw error }
                usleep(20_000)
            }
        }
    }

    /// Stops the server and waits for its end. A stopped server stays stopped.
    public func stop(_ mode: StopMode = .fast) {
        end(mode.signal)
    }

    /// Kills the postmaster like the OOM killer. Its children end soon after.
    public func kill() {
        end(SIGKILL)
    }

    /// Stops the server and deletes all files, except a kept folder. The end of the object or process does the same.
    public func remove() {
        // Kept data is written completely, so that the next start needs no recovery.
        end(options.keptFolder == nil ? SIGQUIT : SIGINT)
        state.withLock { $0.watchdog.take() }?.finish()
    }

    private func startOnce(deadline: Int) throws(ClusterError) {
        guard processID == 0 else { return }
        let log = unsafe open("\(directory)/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw ClusterError.system("\(directory)/log") }
        defer { close(log) }
        let logStart = lseek(log, 0, SEEK_END)
        let server = try ChildProcess.spawn(Self.asServerUser() + serverArguments(), output: log)
        state.withLock { state in
            state.server = server
            state.watchdog?.watch(server)
        }
        while !isReady(server) {
            if ChildProcess.poll(server) != nil {
                forgetServer()
                throw ClusterError(.start, "postgres did not start: \(logTail(from: logStart))")
            }
            guard Self.milliseconds() < deadline else {
                end(SIGQUIT)
                throw ClusterError(.start, "postgres was not ready within 60 s: \(logTail(from: logStart))")
            }
            usleep(2_000)
        }
    }

    private func serverArguments() -> [String] {
        var settings = options.settings
        settings["unix_socket_directories"] = directory
        settings["listen_addresses"] = options.port == nil ? "" : "127.0.0.1"
        settings["port"] = "\(options.port ?? 5432)"
        if !options.isDurable {
            settings["fsync"] = "off"
            settings["full_page_writes"] = "off"
        }
        let pairs = settings.sorted { $0.key < $1.key }
        return [binaries.path("postgres"), "-D", "\(home)/data"]
            + pairs.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }

    /// The eighth line of postmaster.pid contains the server's state, the first line the process that wrote it.
    private func isReady(_ server: pid_t) -> Bool {
        let lines = Self.read("\(home)/data/postmaster.pid")
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count >= 8 && lines[0] == "\(server)" && lines[7].hasPrefix("ready")
    }

    private func end(_ signal: Int32) {
        let server = processID
        guard server > 0 else { return }
        Glibc.kill(server, signal)
        let deadline = Self.milliseconds() + 60_000
        while ChildProcess.poll(server) == nil {
            if Self.milliseconds() > deadline { Glibc.kill(server, SIGKILL) }
            usleep(1_000)
        }
        forgetServer()
    }

    private func forgetServer() {
        state.withLock { state in
            state.server = 0
            state.watchdog?.watch(0)
        }
    }

    private func logTail(from start: Int) -> String {
        let log = Self.read("\(directory)/log")
        let fresh = String(decoding: log.utf8.dropFirst(start), as: UTF8.self)
        return fresh.split(separator: "\n").first { $0.contains("FATAL") }.map(String.init) ?? Self.lastLine(fresh)
    }
}

extension PrivateCluster {
    /// The prefix of a command that must not run as root, which the server refuses.
    package static func asServerUser() -> [String] {
        guard geteuid() == 0 else { return [] }
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
    }

    private static func read(_ path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while case let count = unsafe Glibc.read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func lastLine(_ text: String) -> String {
        text.split(separator: "\n").last.map(String.init) ?? "it said nothing"
    }

    private static func milliseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
