// SPDX-License-Identifier: Apache-2.0

/// A notification about one plain job: its id, and the track in which it waits. The SQL function
/// `postrider_internal.queue_new_jobs` sends it.
struct AnnouncedJob: Equatable {
    let track: Int32
    let id: Int64
}

extension AnnouncedJob {
    /// Reads `TRACK ID`. Nil for all other payloads.
    init?(payload: String) {
        let words = payload.split(separator: " ")
        guard words.count == 2, let track = Int32(words[0]), let id = Int64(words[1]) else { return nil }
        self.init(track: track, id: id)
    }
}
