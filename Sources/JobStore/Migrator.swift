// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import JobModel
public import Migrations
public import PGClient

/// Brings a database to the schema of this worker.
///
/// ```
/// begin
///   advisory lock ............ one migrator at a time; the transaction holds it, so it ends with its holder
///   membership ............... if postrider_owner owns the schema, the login joins that role if it may
///   history table ............ created if it is missing
///   numbered files ........... those not applied yet, in order, each with its history row
///   functions, then views .... those whose text changed; all of them if a numbered file ran
///   roles .................... created if missing, and given the schema and their rights (decision 23)
/// commit ..................... or no change at all: a schema is never half new
/// ```
///
/// It works through PgBouncer in transaction mode, since all its state ends with the transaction.
///
/// While it waits for the lock of a table, all statements of the workers on that table wait behind it, heartbeats
/// included. So it waits for two seconds at a time, rolls back, and starts again after one second.
public struct Migrator: Sendable {
    /// The key of the advisory lock: "Postride" in ASCII.
    static let lockKey: Int64 = 0x506F_7374_7269_6465

    private let files: [MigrationFile]
    private let version: String
    private let lockWaitMilliseconds: Int

    /// A migrator of the files in this program.
    public init() {
        self.init(files: Migrations.all)
    }

    /// A migrator of other files.
    ///
    /// - Parameter lockWaitMilliseconds: how long to wait for another migrator, and how long, over all attempts, for
    ///   locks of tables.
    public init(
        files: [MigrationFile], version: String = "\(ProductVersion.current)", lockWaitMilliseconds: Int = 60_000
    ) {
        self.files = files
        self.version = version
        self.lockWaitMilliseconds = lockWaitMilliseconds
    }

    /// The result of a run.
    public struct Outcome: Equatable, Sendable {
        /// The names of the files that were applied, in order.
        public var applied: [String] = []
        /// Why roles and privileges were not changed, as a sentence without a full stop. Nil if they are complete.
        public var note: String?
    }

    /// How long an attempt waits for a table's lock. The pause between attempts lets the workers use the table.
    private var tableWaitMilliseconds: Int { min(2000, lockWaitMilliseconds) }
    private static let pauseMilliseconds = 1000

    /// The text of a file of `migrations/` as it is applied. Nil if no file has this name.
    public static func text(of name: String) throws(StoreError) -> String? {
        guard let file = Migrations.all.first(where: { $0.name == name }) else { return nil }
        return String(decoding: try PlannerHeader.expanded(file).bytes, as: UTF8.self)
    }

    /// Applies the missing files in one transaction.
    ///
    /// - Parameter setsUpRoles: false leaves roles and privileges unchanged.
    /// - Throws: `locked`, `changed`, `newer`, `unreleased`, `files`, or `database` with the name of the failed file.
    ///   Then the database is unchanged.
    public func migrate(
        _ connection: borrowing PGConnection, setsUpRoles: Bool = true
    ) throws(StoreError) -> Outcome {
        try ServerRequirements.check(connection)
        let ordered = try MigrationOrder.sorted(files)
        let check = try SchemaCheck(files: ordered, version: version, connection)
        var left = lockWaitMilliseconds
        while true {
            do throws(StoreError) {
                return try attempt(ordered, check, setsUpRoles: setsUpRoles, connection)
            } catch {
                let state = error.code == .database ? error.underlying?.sqlState : nil
                guard state == .lockNotAvailable || state == .deadlock else { throw error }
                left -= tableWaitMilliseconds + Self.pauseMilliseconds
                guard left > 0 else { throw occupied(error, connection) }
                usleep(UInt32(Self.pauseMilliseconds) * 1000)
            }
        }
    }

    private func attempt(
        _ ordered: [MigrationFile], _ check: SchemaCheck, setsUpRoles: Bool, _ connection: borrowing PGConnection
    ) throws(StoreError) -> Outcome {
        try run("begin", "begin isolation level read committed", connection)
        do throws(StoreError) {
            var outcome = Outcome()
            try begin(connection)
            if setsUpRoles { try run("membership", Self.membership, connection) }
            outcome.applied = try apply(ordered, check, connection)
            if setsUpRoles && ordered.contains(where: { $0.name == Self.roles }) {
                outcome.note = try setUpRoles(isChanged: !outcome.applied.isEmpty, connection)
            }
            try run("commit", "commit", connection)
            return outcome
        } catch {
            // A lost connection cannot roll back, and the server has done so already.
            try? connection.execute("rollback")
            throw error.code == .locked ? locked(connection) : error
        }
    }

    /// Takes the advisory lock. From here on no other migrator runs.
    private func begin(_ connection: borrowing PGConnection) throws(StoreError) {
        try run("settings", settings, connection)
        try takeLock(connection)
        try run("settings", "set local lock_timeout = \(tableWaitMilliseconds)", connection)
    }

    private func apply(
        _ ordered: [MigrationFile], _ check: SchemaCheck, _ connection: borrowing PGConnection
    ) throws(StoreError) -> [String] {
        try run("history table", Self.historyTable, connection)
        let plan = try check.plan(connection)
        guard let plan else { throw StoreError(.database, "the new table postrider.migrations is missing") }
        try refuse(plan)
        let pending = Set(plan.names(.pending) + plan.names(.stale))
        let isNumberedPending = ordered.contains { $0.kind == .numbered && pending.contains($0.name) }
        var applied: [String] = []
        for file in ordered {
            // A numbered file may have dropped an object of an unchanged file.
            let isRedone = isNumberedPending && file.kind != .numbered
            guard pending.contains(file.name) || isRedone else { continue }
            try record(file, check, connection)
            try run(file.name, String(decoding: file.bytes, as: UTF8.self), connection)
            applied.append(file.name)
        }
        return applied
    }

    private func setUpRoles(
        isChanged: Bool, _ connection: borrowing PGConnection
    ) throws(StoreError) -> String? {
        do throws(PGError) {
            return try connection.query("select postrider_internal.set_up_roles(\(isChanged)) as value")
                .optionalText(0, PGValueColumn.value)
        } catch {
            throw StoreError.database("roles", error)
        }
    }

    private func refuse(_ plan: MigrationPlan) throws(StoreError) {
        if case .unreleased = plan.state {
            throw StoreError(
                .unreleased,
                "an unreleased version made this schema, so it cannot be upgraded; nothing was changed; "
                    + "create a new database and run: worker migrate")
        }
        if case .changed = plan.state {
            let names = plan.names(.changed).joined(separator: ", ")
            throw StoreError(
                .changed,
                "the database has another version of \(names) than this worker; nothing was changed; "
                    + "use the worker that made the schema, or migrate an empty database")
        }
        if plan.isAhead {
            let names = (plan.names(.unknown) + plan.names(.newer)).joined(separator: ", ")
            throw StoreError(
                .newer, "a newer worker has migrated this database (\(names)); nothing was changed; use the newer one")
        }
    }

    private func record(
        _ file: MigrationFile, _ check: SchemaCheck, _ connection: borrowing PGConnection
    ) throws(StoreError) {
        var parameters = PGParameters()
        parameters.append(text: file.name)
        parameters.append(text: check.checksum(of: file.name))
        parameters.append(text: version)
        parameters.append(bool: MigrationOrder.isBreaking(file))
        do throws(PGError) {
            _ = try connection.query(
                """
                insert into postrider.migrations (name, checksum, worker_version, breaking) values ($1, $2, $3, $4)
                on conflict (name) do update
                set checksum = excluded.checksum, worker_version = excluded.worker_version, applied_at = now()
                """, &parameters)
        } catch {
            throw StoreError.database(file.name, error)
        }
    }

    private func takeLock(_ connection: borrowing PGConnection) throws(StoreError) {
        do throws(PGError) {
            try connection.execute("select pg_advisory_xact_lock(\(Self.lockKey))")
        } catch {
            guard error.sqlState == .lockNotAvailable else { throw StoreError.database("lock", error) }
            throw StoreError(.locked, "another migration is running", underlying: error)
        }
    }

    /// The error with the holder of the lock, if the holder is still visible.
    private func locked(_ connection: borrowing PGConnection) -> StoreError {
        let holder = holder(
            """
            l.locktype = 'advisory' and l.objsubid = 1
            and l.classid::bigint = \(Self.lockKey >> 32) and l.objid::bigint = \(Self.lockKey & 0xFFFF_FFFF)
            """, connection)
        return StoreError(
            .locked,
            "another migration did not end within \(lockWaitMilliseconds) ms\(holder.map { " (\($0))" } ?? ""); "
                + "nothing was changed; run worker migrate again when it has ended"
        )
    }

    /// The error of a file, with the oldest transaction that holds locks in the schema.
    private func occupied(_ error: StoreError, _ connection: borrowing PGConnection) -> StoreError {
        let holder = holder(
            "l.relation in (select c.oid from pg_class c where c.relnamespace in (to_regnamespace('postrider'), to_regnamespace('postrider_internal')))",
            connection)
        return StoreError(
            .locked,
            "\(error.message), after a wait of \(lockWaitMilliseconds) ms"
                + "\(holder.map { "; the lock is probably held by " + $0 } ?? ""); nothing was changed",
            underlying: error.underlying)
    }

    /// The oldest transaction of this database that holds such a lock.
    private func holder(_ condition: String, _ connection: borrowing PGConnection) -> String? {
        let sql = """
            select 'process ' || a.pid || coalesce(' from ' || host(a.client_addr), '')
                || ', ' || coalesce(nullif(a.application_name, ''), 'without a name')
                || ', since ' || to_char(a.xact_start, 'YYYY-MM-DD HH24:MI:SS TZ') as value
            from pg_locks l join pg_stat_activity a using (pid)
            where l.granted and l.database = (select oid from pg_database where datname = current_database())
              and a.pid <> pg_backend_pid() and \(condition)
            order by a.xact_start limit 1
            """
        guard let holders = try? connection.query(sql), holders.rowCount > 0 else { return nil }
        return holders.text(0, PGValueColumn.value)
    }

    private func run(_ place: String, _ sql: String, _ connection: borrowing PGConnection) throws(StoreError) {
        do throws(PGError) {
            try connection.execute(sql)
        } catch {
            throw StoreError.database(place, error)
        }
    }

    /// Settings of the transaction, which replace the limits of the role: an index over a large table takes minutes.
    ///
    /// The check interval ends a statement within a second after its client has died. So a killed migrator does not
    /// keep the lock.
    private var settings: String {
        """
        set local lock_timeout = \(lockWaitMilliseconds);
        set local statement_timeout = 0;
        set local idle_in_transaction_session_timeout = 0;
        set local client_connection_check_interval = '1s';
        set local application_name = 'worker migrate';
        set local client_min_messages = warning;
        set local check_function_bodies = off;
        set local standard_conforming_strings = on;
        set local search_path = pg_catalog, pg_temp;
        select \(TransactionTimeout.off(isLocal: true));
        """
    }

    /// The file of the function that creates roles. Only file lists of tests lack it.
    private static let roles = "functions/roles/set_up_roles.sql"

    /// Joins `postrider_owner` if the login may. A login outside of that role, or without its rights, cannot use a
    /// schema that belongs to the role. `set_up_roles` grants the same to the creator of the role.
    private static let membership = """
        do $$
        begin
          if exists (select from pg_namespace n where n.nspname in ('postrider', 'postrider_internal')
                     and n.nspowner = to_regrole('postrider_owner')
                       and not pg_has_role(n.nspowner, 'usage')) then
            execute format('grant postrider_owner to %I %s', current_user,
              case when current_setting('server_version_num')::int >= 160000 then 'with inherit true, set true' end);
          end if;
        exception when insufficient_privilege then
          null;
        end
        $$
        """

    private static let historyTable = """
        create schema if not exists postrider;
        create schema if not exists postrider_internal;
        comment on schema postrider is 'scheduled API calls: the tables, views and functions for users';
        comment on schema postrider_internal is 'internal objects of Postrider; use the schema postrider instead';
        create table if not exists postrider.migrations (
          name text primary key,
          checksum text not null,
          applied_at timestamptz not null default now(),
          worker_version text not null,
          breaking boolean not null default true
        );
        comment on table postrider.migrations is 'files of migrations/ that this database has, one row each';
        comment on column postrider.migrations.name is 'path of the file below migrations/';
        comment on column postrider.migrations.checksum is 'checksum of the file as it was applied';
        comment on column postrider.migrations.applied_at is 'when the file was last applied';
        comment on column postrider.migrations.worker_version is 'version of the worker that applied the file';
        comment on column postrider.migrations.breaking is 'true: workers that do not know the file must stop';
        """
}
