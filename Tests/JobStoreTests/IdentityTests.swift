// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The numbers of lanes and tracks have 31 bits. Work that goes on for years must not use them up.
struct IdentityTests {
    @Test func `statements that find an existing lane or track use up no ids`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, lane, run_at", "'http://h/', 'l', now() + interval '1 h'")
        let calls = """
            select postrider_internal.extend_lane_pause('l', now() + interval '1 min', 'the server answered 429');
            select postrider_internal.add_tracks(array['default', 'default'], array['l', 'l'], array[0, 4]);
            select postrider.reschedule(\(id), priority => 4);
            """
        let numbers = """
            select (select last_value from postrider.lanes_id_seq) || ' '
              || (select last_value from postrider_internal.tracks_id_seq)
            """
        try queue.connection.execute(calls)
        let before = try queue.text(numbers)
        for _ in 1...5 { try queue.connection.execute(calls) }
        #expect(try queue.text(numbers) == before)
        #expect(try queue.number("select count(*) from postrider_internal.tracks") == 2)
        try queue.connection.execute(
            "select postrider_internal.extend_lane_pause('l', now() + interval '1 h', 'longer')")
        try queue.connection.execute(
            "select postrider_internal.extend_lane_pause('l', now() + interval '1 s', 'shorter')")
        #expect(
            try queue.text(
                "select pause_reason from postrider.lanes where name = 'l' and paused_until > now() + interval '59 min'"
            )
                == "longer")
    }
}
