// SPDX-License-Identifier: Apache-2.0

/// Where a claim may find jobs, as far as this worker knows.
enum ClaimScope: Equatable {
    /// Nowhere: all claims are answered, and no notification has arrived since.
    case nowhere
    /// Only this announced job is known to wait.
    case announced(AnnouncedJob)
    /// In any track.
    case anywhere
}
