// SPDX-License-Identifier: Apache-2.0

public import PGClient

extension StoreStatement {
    /// Leases the first ready job of one track if it is a plain one and nothing may hold it back; else nothing, and `claim`
    /// is to be asked. One row at most, with the columns of `claim`.
    ///
    /// The only statement that is no call of a function: in a session that has been idle each step of a function costs
    /// some 40 µs and each table that a plan names 10, so beside an empty statement `claim` takes 0.7 ms more there and
    /// this 0.4 (decision 11).
    ///
    /// - The lock on the row of `workers` does what `claim` does with an advisory lock: who declares this worker lost
    ///   waits for it before looking at the leases, or has ended the row, and then its newest version is what counts.
    /// - A claim that is lost in a crash of the server never happened, so it need not wait for the disk, unless the job
    ///   is to be called at most once.
    /// - After a crash the sequence of fences may have fallen back: then nothing is leased, and `claim` mends it.
    ///
    /// Parameters: worker, track, the seq to look behind, the fence to be above.
    public static let claimOne = PGStatement(
        "claim_one",
        """
        with alive as materialized (
          select from postrider.workers w where w.id = $1::int and w.ended_at is null for share),
        first as materialized (
          select r.ctid as spot, r.job_id, r.at_most_once
            from postrider.ready r
           where r.track = $2::int and r.seq > $3::bigint and r.worker = 0
             and (r.expires_at is null or r.expires_at > now())
             and exists (select from alive) and (select g.last_value = 1 from postrider.hold_gate g)
           order by r.track, r.seq
           limit 1
             for update skip locked)
        update postrider.ready r
           set worker = $1, fence = currval('postrider.fences'), attempt = r.attempt + 1, since = now()
          from first f join postrider.jobs j on j.id = f.job_id
         where r.ctid = f.spot and r.parent_id is null
           and postrider.job_is_simple(j) and not postrider.job_is_rich(j)
           and (f.at_most_once or set_config('synchronous_commit', 'off', true) is not null)
           and nextval('postrider.fences') > $4::bigint
        returning r.track, r.seq, r.fence, r.job_id, r.attempt, r.at_most_once, r.rekey, j.method, j.url,
          null::text[], null::text[],
          case when j.body is not null then 'b' when j.body_json is not null then 'j' else 'n' end::"char",
          coalesce(j.body, convert_to(j.body_json::text, 'UTF8')),
          null::text[], null::int, null::bigint, null::int[], false, false, r.is_followed
        """)
}
