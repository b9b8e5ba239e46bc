// SPDX-License-Identifier: Apache-2.0

/// Where a worker may find jobs to claim, as far as it knows.
enum ClaimScope: Equatable {
    /// Nowhere: all claims have been answered, and nothing has happened since.
    case nowhere
    /// Where this job is, and nowhere else.
    case announced(AnnouncedJob)
    /// In any track.
    case anywhere
}
