// SPDX-License-Identifier: Apache-2.0

/// Where a claim may find jobs, as far as this worker knows.
enum ClaimScope: Equatable {
    /// Nowhere: the last claim left no job, is not answered yet, or all known jobs wait for permits of their lanes. No
    /// notification has arrived since.
    case nowhere
    /// Only this announced job is known to wait.
    case announced(AnnouncedJob)
    /// In any track.
    case anywhere
}
