// SPDX-License-Identifier: Apache-2.0

/// SQL for tests that simulate a worker: the schema `fixture`, with a claim of all ready jobs.
enum ClaimFixture {
    /// `fixture.claimed(worker)` makes missing tracks and claims.
    ///
    /// It returns tracks, seqs, fences and jobs in order, or nulls if no job is ready.
    static let functions = """
        create schema fixture;
        create function fixture.claimed(p_worker int, out t int[], out s bigint[], out f bigint[], out j bigint[])
        language plpgsql as $$
        declare
          v_tracks int[];
        begin
          insert into postrider_internal.tracks (queue, lane, priority)
          select distinct j.queue, postrider_internal.job_lane(coalesce(j.lane, j.service), j.url), j.priority
            from postrider.jobs j
              on conflict do nothing;
          update postrider_internal.ready r set track = k.id
            from postrider.jobs j
            join postrider_internal.tracks k on k.queue = j.queue and k.priority = j.priority
                                   and k.lane = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)
           where r.job_id = j.id and r.track = 0;
          v_tracks := array(select id from postrider_internal.tracks order by id);
          select array_agg(c.track order by c.track, c.seq), array_agg(c.seq order by c.track, c.seq),
                 array_agg(c.fence order by c.track, c.seq), array_agg(c.job_id order by c.track, c.seq)
            into t, s, f, j
            from postrider_internal.claim(p_worker, 0, 1000, v_tracks, array_fill(1000, array[cardinality(v_tracks)]),
                   array_fill(0::bigint, array[cardinality(v_tracks)]), false,
                   array_fill(0, array[cardinality(v_tracks)])) c;
        end $$;

        """
}
