// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Callback and hook functions in the schema `app`. Each call adds a row to `app.log`.
public enum CallbackLog {
    /// Makes `app.log`, callbacks `note`, `bad` and `slow`, and `app.hook(bigint, text)` for hooks.
    ///
    /// `note` and `hook` write `log` without its schema, because workers put a function's schema in the search path.
    public static func make(in queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            create schema app;
            create table app.log (n bigint generated always as identity, job bigint, event text, state text);
            grant usage on schema app to postrider_worker, postrider_owner;
            grant select, insert on app.log to postrider_worker, postrider_owner;
            create function app.note(bigint) returns void language plpgsql as $$
            begin
              insert into log (job, event, state) select id, 'callback', state from postrider.job_status where id = $1;
            end $$;
            create function app.bad(bigint) returns void language plpgsql as $$
            begin
              insert into app.log (job, event) values ($1, 'bad');
              raise exception 'no such order';
            end $$;
            create function app.slow(bigint) returns void language plpgsql as $$
            begin
              insert into app.log (job, event) values ($1, 'slow');
              perform pg_sleep(60);
            end $$;
            create function app.hook(bigint, text) returns void language plpgsql as $$
            begin
              insert into log (job, event, state) select id, $2, state from postrider.job_status where id = $1;
            end $$;
            insert into postrider.callbacks (name, function) values
              ('note', 'app.note(bigint)'), ('bad', 'app.bad(bigint)'), ('slow', 'app.slow(bigint)')
            """)
    }

    /// The rows of `app.log` for one job, in order, as in `will_stop succeeded`.
    public static func lines(_ queue: borrowing TestQueue, of job: Int64) throws -> [String] {
        try queue.rows("select concat_ws(' ', event, state) from app.log where job = \(job) order by n").map {
            $0[0] ?? ""
        }
    }
}
