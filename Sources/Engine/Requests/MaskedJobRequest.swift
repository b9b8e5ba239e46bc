// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
public import JobModel
internal import JobStore
public import PGClient

/// The request of one job as a worker would send it now, with its secrets masked. It is shown as a request, or as a
/// curl command.
public struct MaskedJobRequest: Sendable {
    /// Why there is no request or no command, as a sentence without secrets.
    public struct Missing: Error, Equatable, Sendable {
        /// The sentence.
        public let message: String
    }

    private let request: SentRequest
    /// The text that stands for each secret.
    private let mask: String

    /// The request, built by the code that builds it for a worker.
    ///
    /// - Parameters:
    ///   - showsServices: whether values of services are shown to a login that may read services.
    ///   - withoutBody: whether an empty body of the same kind replaces the body.
    public static func read(
        _ id: Int64, _ connection: borrowing PGConnection, showsServices: Bool, withoutBody: Bool = false
    ) throws(PGError) -> Result<MaskedJobRequest, Missing> {
        // Unreserved characters only, so that no encoding changes them. 64 random bits occur in no request.
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let mask = "PostriderSecret\(digits)x"
        let (call, defect) = try JobRequest.call(
            of: id, mask: mask, showsServices: showsServices, withoutBody: withoutBody, connection)
        guard let call else { return .failure(Missing(message: defect ?? "")) }
        do throws(UnsendableCall) {
            return .success(MaskedJobRequest(request: try SentRequest(of: call), mask: mask))
        } catch {
            return .failure(Missing(message: error.message))
        }
    }

    /// The parts of the request, with `***` for each secret.
    public var shown: ShownRequest { ShownRequest(request, mask: mask) }

    /// The curl command that sends the same bytes, with a variable for each secret.
    public var curl: Result<String, Missing> {
        do throws(CurlCommand.Unsayable) {
            return .success(try CurlCommand.text(of: request, mask: mask))
        } catch {
            return .failure(Missing(message: error.message))
        }
    }
}
