// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
public import PGClient

/// The request of one job as a curl command.
public enum JobCurl {
    /// Why there is no command, as a sentence without secrets.
    public struct Missing: Error, Equatable, Sendable {
        /// The sentence.
        public let message: String
    }

    /// The command, built from the call that a worker would make.
    ///
    /// - Parameter showsServices: whether values of services are shown to a login that may read services.
    public static func command(
        _ id: Int64, _ connection: borrowing PGConnection, showsServices: Bool
    ) throws(PGError) -> Result<String, Missing> {
        // Unreserved characters only, so that no encoding changes them. 64 random bits occur in no request.
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let mask = "PostriderSecret\(digits)x"
        let (call, defect) = try JobRequest.call(
            of: id, mask: mask, showsServices: showsServices, connection)
        guard let call else { return .failure(Missing(message: defect ?? "")) }
        do {
            return .success(try CurlCommand.text(of: SentRequest(of: call), mask: mask))
        } catch let error as UnsendableCall {
            return .failure(Missing(message: error.message))
        } catch let error as CurlCommand.Unsayable {
            return .failure(Missing(message: error.message))
        } catch {
            return .failure(Missing(message: "it cannot be written"))
        }
    }
}
