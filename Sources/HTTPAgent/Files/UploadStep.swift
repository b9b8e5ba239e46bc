// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The next step of a call that sends files.
enum UploadStep {
    /// It waits for the disk.
    case wait
    /// All files are open, so the body is built and the request is sent.
    case send([UploadFile])
    /// Its transfer sends on.
    case resume
    /// A file cannot be sent. Without a free descriptor the call may wait for one.
    case refuse(CallRefusal)
    /// The call ends before its request because the disk is silent.
    case abandon(CallFailure)
    /// The call ends during its request because the disk is silent.
    case end(CallFailure)
    /// The answer is complete, although the server expected the rest of the body.
    case endAnswered
}
