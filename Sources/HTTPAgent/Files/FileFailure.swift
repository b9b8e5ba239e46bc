// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc
import JobModel

/// Turns the failures of file work into sentences.
enum FileFailure {
    /// A failure with code `file` or `checksum`. `sent` and `status` come from the call.
    static func failure(_ status: cfiles_part_status, path: String, sent: SentState, answer: Int?) -> CallFailure {
        let number = unsafe status.os_errno
        let (code, message, retries): (ErrorCode, String, Bool)
        switch unsafe status.stage {
        case CFILES_STAGE_CHECKSUM:
            (code, message, retries) = (
                .checksum, "the file's SHA-256 differs from the job's sha256, so the file was deleted", false
            )
        case CFILES_STAGE_LOCK:
            let holder = unsafe String(cString: status.holder)
            let who = holder.isEmpty ? "another download" : "a download of \(holder)"
            (code, message, retries) = (
                .file, "\(path).part is being written by \(who); two jobs should not share a download_to", true
            )
        case CFILES_STAGE_PATH:
            (code, message, retries) = opening(number, path)
        case CFILES_STAGE_KIND:
            let what = number == EISDIR ? "\(path) is a directory" : "\(path).part is not a regular file with one name"
            (code, message, retries) = (.file, "\(what); remove it or choose another download_to", false)
        case CFILES_STAGE_RENAME:
            (code, message, retries) = (
                .file, "\(path).part could not be given its final name (\(words(number)))", isPassing(number)
            )
        default:
            let remedy = number == EFBIG ? "; raise the worker's limit of file sizes (ulimit -f)" : ""
            (code, message, retries) = (
                .file, "\(path).part could not be written (\(words(number)))\(remedy)", isPassing(number)
            )
        }
        var failure = CallFailure(code, message, sent: sent, status: answer, retries: retries)
        failure.lacksDescriptors = number == EMFILE || number == ENFILE
        return failure
    }

    /// The failure of a call whose file system has not answered for this time.
    static func silence(nanoseconds: Int64, file: String, sent: SentState, answer: Int?) -> CallFailure {
        let seconds = Double(nanoseconds / 1_000_000) / 1000
        let sentence =
            "the file system of \(file) has not answered for \(seconds) s; see whether the mount below --files hangs"
        return CallFailure(.file, sentence, sent: sent, status: answer, retries: true)
    }

    private static func opening(_ number: Int32, _ path: String) -> (ErrorCode, String, Bool) {
        switch number {
        case ELOOP:
            (.file, "a name in download_to \(path) is a symbolic link, which is not followed", false)
        case ENAMETOOLONG:
            (.file, "the last name in download_to is too long; the limit is 241 bytes", false)
        default:
            (
                .file, "\(path).part could not be opened below the worker's --files directory (\(words(number)))",
                isPassing(number)
            )
        }
    }

    /// Whether the failure may pass without a change of the job.
    private static func isPassing(_ number: Int32) -> Bool {
        switch number {
        case ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, ESTALE, EAGAIN, EROFS: true
        default: false
        }
    }

    private static func words(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "errno \(number)"
    }
}
