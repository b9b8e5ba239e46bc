// SPDX-License-Identifier: Apache-2.0

public import PGClient

extension StoreStatement {
    /// Leases one job, with the columns of `claim`. At most one row.
    ///
    /// The job must be the first ready one of its track. It has a body of at most 64 KiB, needs no preparation, and no
    /// limit or pause may hold it back. Otherwise the result is empty, and the worker sends `claim`.
    ///
    /// It is the only statement about jobs that calls no function. In an idle session each step of a function costs
    /// about 40 µs, and each table of a plan 10 µs. In addition to an empty statement `claim` takes 0.7 ms there, and
    /// this one 0.35 ms (decision 11).
    ///
    /// - The lock on the row of `workers` replaces the advisory lock of `claim`. A transaction that declares this
    ///   worker lost waits for the row before it reads the leases. If it has already ended the row, the newest version
    ///   of the row counts.
    /// - A claim that is lost in a server crash never happened. So its commit need not wait for the disk, unless the
    ///   job is at_most_once.
    /// - After a crash the sequence of fences may have gone back. Then no job is leased, and `claim` repairs the
    ///   sequence.
    /// - No job is leased in a session that no claim has checked, since it may be connected to a restored database.
    /// - The job's id is a parameter and not read from `ready`, so PostgreSQL opens only one partition of `jobs`.
    ///
    /// Parameters: worker, track, the seq to start after, the fence to exceed, the job.
    public static let claimOne = PGStatement(
        "claim_one",
        """
        update postrider_internal.ready r
           set worker = $1::int, fence = currval('postrider_internal.fences'), attempt = r.attempt + 1, since = now()
          from postrider.jobs j
         where r.ctid = (
               select f.ctid
                 from postrider_internal.ready f
                where f.track = $2::int and f.seq > $3::bigint and f.worker = 0
                  and (f.expires_at is null or f.expires_at > now())
                  and (select true from postrider_internal.workers w where w.id = $1 and w.ended_at is null for share)
                  and (select g.last_value = 1 from postrider_internal.hold_gate g)
                  and current_setting('postrider.identified', true)
                    = ('postrider_internal.workers'::regclass::oid)::text
                order by f.track, f.seq
                limit 1
                  for update skip locked)
           and r.job_id = $5::bigint and r.parent_id is null and j.id = $5
           and postrider_internal.has_basic_columns(j) and not postrider_internal.has_preparation(j)
           and coalesce(octet_length(j.body), 0) <= 65536
           and (j.body_json is null or pg_column_size(j.body_json) <= 16384
                and octet_length(j.body_json::text) <= 65536)
           and (r.at_most_once or set_config('synchronous_commit', 'off', true) is not null)
           and nextval('postrider_internal.fences') > $4::bigint
        returning \(ClaimColumn.listOfOne)
        """, returning: ClaimColumn.self)
}
