// SPDX-License-Identifier: Apache-2.0

/// One job that a notification names: its id, and the track in which it waits.
struct AnnouncedJob: Equatable {
    let track: Int32
    let id: Int64
}

/// The new jobs that a notification announces. The SQL function `postrider_internal.queue_new_jobs` sends it.
enum Announcement: Equatable {
    /// One plain job: `TRACK ID`.
    case job(AnnouncedJob)
    /// Due jobs on known tracks, for each track its first job: `ready TRACK:ID TRACK:ID`.
    case ready([AnnouncedJob])
    /// Jobs may be ready, and batches, chains or the leader may have work.
    case unnamed

    /// The jobs that it names.
    var jobs: [AnnouncedJob] {
        switch self {
        case .job(let job): [job]
        case .ready(let jobs): jobs
        case .unnamed: []
        }
    }
}

extension Announcement {
    /// Reads the payload of a notification. All unknown payloads are unnamed.
    init(payload: String) {
        let words = payload.split(separator: " ")
        if words.first == "ready", let jobs = AnnouncedJob.list(words.dropFirst()) {
            self = .ready(jobs)
        } else if words.count == 2, let job = AnnouncedJob(words[0], words[1]) {
            self = .job(job)
        } else {
            self = .unnamed
        }
    }
}

extension AnnouncedJob {
    fileprivate init?(_ track: Substring, _ id: Substring) {
        guard let track = Int32(track), let id = Int64(id) else { return nil }
        self.init(track: track, id: id)
    }

    /// Nil without words, or if a word is no `TRACK:ID`.
    fileprivate static func list(_ words: ArraySlice<Substring>) -> [AnnouncedJob]? {
        let jobs = words.compactMap { word in
            let parts = word.split(separator: ":")
            return parts.count == 2 ? AnnouncedJob(parts[0], parts[1]) : nil
        }
        return jobs.isEmpty || jobs.count < words.count ? nil : jobs
    }
}
