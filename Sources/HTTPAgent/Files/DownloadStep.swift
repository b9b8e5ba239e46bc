// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The next step of a call whose body goes to disk.
enum DownloadStep {
    /// It waits for the disk or the server.
    case wait
    /// The file is open: its request is sent.
    case send
    /// Its transfer reads on.
    case resume
    /// Its sending ends.
    case end(DownloadEnd)
    /// The call ends because the disk is silent. It is settled at once, since the disk will not signal it.
    case abandon(CallFailure)
    /// The file was not opened. Without a free descriptor the call may wait for one.
    case refuse(CallFailure)
    /// The disk has settled the file, so the slot is free.
    case conclude(CallOutcome)
}

/// The end of one sending of a download.
enum DownloadEnd {
    /// The call ends. The disk settles its file first.
    case call(CallOutcome.Ending)
    /// The whole file is requested once more.
    case sendAgain
}
