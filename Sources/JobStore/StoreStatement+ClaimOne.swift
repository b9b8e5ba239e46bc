// SPDX-License-Identifier: Apache-2.0

public import PGClient

extension StoreStatement {
    /// Leases one job if it is the first that is ready in its track, a plain one with a body of at most 64 KiB, and
    /// nothing may hold it back; else nothing, and `claim` is to be asked. One row at most, with the columns of
    /// `claim`.
    ///
    /// The only one about jobs that is no call of a function: in a session that has been idle each step of a function
    /// costs some 40 µs and each table that a plan names 10, so beside an empty statement `claim` takes 0.7 ms more
    /// there and this 0.35 (decision 11).
    ///
    /// - The lock on the row of `workers` does what `claim` does with an advisory lock: who declares this worker lost
    ///   waits for it before looking at the leases, or has ended the row, and then its newest version is what counts.
    /// - A claim that is lost in a crash of the server never happened, so it need not wait for the disk, unless the job
    ///   is to be called at most once.
    /// - After a crash the sequence of fences may have fallen back: then nothing is leased, and `claim` mends it.
    /// - In a session that no claim has checked, which may lead to a restored database, nothing is leased either.
    /// - The job's id is a parameter, not taken from the row of `ready`: so only its partition of `jobs` is opened.
    ///
    /// Parameters: worker, track, the seq to look behind, the fence to be above, the job.
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
        returning r.track, r.seq, r.fence, r.job_id, r.attempt, r.at_most_once, r.rekey, j.method, j.url,
          null::text[], null::text[],
          case when j.body is not null then 'b' when j.body_json is not null then 'j' else 'n' end::"char",
          coalesce(j.body, convert_to(j.body_json::text, 'UTF8')),
          null::text[], null::int, null::bigint, null::int[], false, false, r.has_callbacks, null::bigint
        """)
}
