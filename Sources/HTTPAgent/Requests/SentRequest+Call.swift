// SPDX-License-Identifier: Apache-2.0
public import JobModel

/// Why a call has no request, as one sentence without secrets.
public struct UnsendableCall: Error, Equatable, Sendable {
    /// The sentence.
    public let message: String
}

extension SentRequest {
    /// The first request of a call, with all headers that the agent would send. A download begins at the first byte.
    public init(of call: HTTPCall) throws(UnsendableCall) {
        let url: CallURL
        do throws(CallURL.Refusal) {
            url = try CallURL.parse(call.url, query: call.query)
        } catch {
            throw UnsendableCall(message: "the URL cannot be called: \(error.message)")
        }
        for header in call.headers {
            if let refusal = RequestHeaders.refusal(of: header) { throw UnsendableCall(message: refusal) }
        }
        let sendsBody = Flight.sendsBody(call.method, call, keepsBody: true)
        let isGzip = sendsBody && call.sendsGzip
        var bytes: [UInt8] = []
        _ = RequestHeaders.appendAll(
            of: call,
            RequestHeaders.Sending(
                authorization: url.authorization, leftOrigin: false, keepsBody: true, sendsBody: sendsBody,
                hasGzipBody: isGzip), to: &bytes
        ) { lines in
            guard call.download != nil else { return 0 }
            RequestHeaders.append("Accept-Encoding", "identity", to: &lines)
            return 1
        }
        var lines = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let names = Set(lines.map { $0.prefix { $0 != ":" && $0 != ";" }.lowercased() })
        // The options of each handle add these.
        if !names.contains("accept-encoding") { lines.append("Accept-Encoding: \(CurlLibrary.acceptedEncodings)") }
        if !names.contains("user-agent") { lines.append("User-Agent: \(CurlLoop.userAgent)") }
        self.init(
            method: call.method, url: url.text ?? "", lines: lines, body: call.body, sendsBody: sendsBody,
            isGzip: isGzip, transport: call.transport)
    }
}

extension HTTPCall {
    /// Whether the agent compresses the body. A body that is encoded already is sent unchanged.
    var sendsGzip: Bool {
        let isEmpty =
            switch body {
            case .none, .parts: true
            case .bytes(let bytes, _): bytes.isEmpty
            case .form(let fields): fields.isEmpty
            }
        return compressesBody && !isEmpty && method != .head
            && !headers.contains { $0.name.lowercased() == "content-encoding" }
    }
}
