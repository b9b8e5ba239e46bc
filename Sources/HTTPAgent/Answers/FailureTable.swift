// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import JobModel

/// Turns the evidence of a failed sending into a code, a sentence and whether bytes may have left.
enum FailureTable {
    /// The failure. `host` and `limits` are used in the sentence only.
    static func failure(for evidence: Evidence, host: String, limits: CallLimits) -> CallFailure {
        let (code, message) = verdict(evidence, host: host, limits: limits)
        var failure = CallFailure(code, message, sent: sent(evidence), status: evidence.status)
        failure.isLocal = isLocal(evidence)
        failure.lacksDescriptors = evidence.outOfDescriptors
        return failure
    }

    /// `CURLE_TOO_LARGE`, which the headers of libcurl 7.88 lack.
    private static let tooLarge = CURLcode(100)

    private static let headersTooLarge = (
        ErrorCode.headersTooLarge,
        "the answer's headers are over a limit: 256 KiB in all (HTTP/2: 128 KiB), or 100 KiB for one"
    )

    /// Whether the worker itself has failed: without a descriptor, a port, a network or the requested interface.
    static func isLocal(_ e: Evidence) -> Bool {
        if e.outOfDescriptors { return true }
        guard case .library(let code) = e.end else { return false }
        switch CURLcode(code) {
        case CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE: return true
        case CURLE_COULDNT_CONNECT: return [ENETUNREACH, ENETDOWN, EADDRNOTAVAIL].contains(e.osError)
        default: return false
        }
    }

    /// Whether bytes may have left. Before a request begins none can. After that libcurl's byte count decides.
    static func sent(_ e: Evidence) -> SentState {
        if e.followedRedirect || e.answerBegan { return .maybe }
        if !e.requestBegan { return .no }
        // Only TLS 1.3 sends this alert, in the handshake that the request was sent with. The server has not read the
        // request.
        if !e.reused, e.text.lowercased().contains("alert certificate required") { return .no }
        if case .library(let code) = e.end, CURLcode(code) == CURLE_SEND_ERROR, e.bytesSent == 0 { return .no }
        return .maybe
    }

    private static func verdict(_ e: Evidence, host: String, limits: CallLimits) -> (ErrorCode, String) {
        if e.denied {
            return (
                .deniedAddress,
                "\(host) has a private, loopback, link-local or reserved address; to allow it, "
                    + wayToAllow(e.privateNetworkSwitch) + " with --allow-private"
            )
        }
        if e.outOfDescriptors {
            return (
                .connect,
                "no socket could be opened: the worker is out of file descriptors; raise its limit (ulimit -n)"
            )
        }
        if let file = e.changedFile {
            return (
                .file,
                "the file \"\(file)\" changed or became unreadable while it was being sent; send it again as it is now"
            )
        }
        if e.headersTooLarge {
            return headersTooLarge
        }
        if e.lengthUnclear {
            return (
                .reset,
                "the Content-Length of \(host)'s answer is not a number of at most 18 digits, or two of them differ; "
                    + "report it to the server's operator"
            )
        }
        if e.bodyTooLarge {
            if limits.isBoundByMemory {
                return (
                    .tooLarge,
                    "the answer is larger than the \(limits.maxResponseBytes) bytes that the worker has memory for; start it with more --memory"
                )
            }
            return (
                .tooLarge,
                "the answer is larger than max_response, \(limits.maxResponseBytes) bytes, as received or decompressed"
            )
        }
        if let verdict = codingVerdict(e, host: host) { return verdict }
        if e.resendRefused {
            if e.wasResent {
                return (
                    .reset,
                    "\(host) closed a reused connection or refused the request on it; the same happened to "
                        + "the repeated request, which was not sent a third time"
                )
            }
            return (
                .reset,
                "\(host) closed a reused connection or refused the request on it; the request may have "
                    + "arrived and was not repeated"
            )
        }
        switch e.end {
        case .firstByteLate:
            return (
                .firstByteTimeout, "no byte of an answer within the first-byte limit of \(limits.firstByte ?? .zero)"
            )
        case .tooSlow:
            return (
                .slow,
                "fewer than \(limits.lowSpeedBytes) bytes a second for \(limits.lowSpeedTime); the transfer was given up"
            )
        case .library(let code):
            return library(CURLcode(code), e, host: host, limits: limits)
        }
    }

    private static func wayToAllow(_ setting: HTTPCall.PrivateNetworkSwitch) -> String {
        switch setting {
        case .service: "set allow_private_network of its service, or start the worker"
        case .credential: "set allow_private_network of the credential, or start the worker"
        case .none: "start the worker"
        }
    }

    private static func codingVerdict(_ e: Evidence, host: String) -> (ErrorCode, String)? {
        switch e.codingDefect {
        case CCURL_CODING_CUT:
            // The cause of the broken connection says more, if it is known.
            guard e.end == .library(UInt32(CURLE_OK.rawValue)) else { return nil }
            return (.truncated, "the answer's body ended inside its Content-Encoding; \(host) did not send all of it")
        case CCURL_CODING_BROKEN:
            return (
                .decode,
                "the answer's body does not match its Content-Encoding, or has extra bytes at its end; "
                    + "report it to the operator of \(host)"
            )
        case CCURL_CODING_UNKNOWN:
            return (
                .decode,
                "the answer's Content-Encoding was not requested; "
                    + "for br and zstd, set an Accept-Encoding header in the job"
            )
        case CCURL_CODING_UNKNOWN_TRANSFER:
            return (
                .decode,
                "the answer's Transfer-Encoding is not chunked, gzip or deflate; "
                    + "report it to the operator of \(host)"
            )
        default:
            return e.memoryOut ? (.internal, "the worker is out of memory") : nil
        }
    }

    private static func library(
        _ code: CURLcode, _ e: Evidence, host: String, limits: CallLimits
    ) -> (ErrorCode, String) {
        let words = e.text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : e.text
        if let transport = e.transport,
            let verdict = verdict(code, e, host: host, transport: transport, limits: limits, words: words)
        {
            return verdict
        }
        if let verdict = certificateVerdict(code, e, host: host, words: words) { return verdict }
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            if !e.requestBegan {
                return (
                    .connectTimeout,
                    "no connection to \(host) within \(min(limits.connect, limits.total)) (\(words))"
                )
            }
            return (.timeout, "the call took longer than its timeout of \(limits.total)")
        case CURLE_COULDNT_RESOLVE_HOST:
            return (.dns, "the name \(host) could not be resolved; check it and the worker's DNS (\(words))")
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return (.proxy, "the proxy could not be used (\(words))")
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
            return (.connect, "no connection to \(host); is the server up and the port right? (\(words))")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return (
                .tlsVerify,
                "the certificate of \(host) is not valid for it (\(words)); renew it, or set ca in the service's tls"
            )
        case CURLE_SSL_CONNECT_ERROR where words.lowercased().contains("alert handshake failure"):
            // With TLS 1.2 a server sends this alert for two causes: no common cipher, or no client certificate.
            return (
                .tls,
                "\(host) ended the TLS handshake; if it requires a client certificate, name one in the service's tls; "
                    + "otherwise it lacks a cipher of TLS 1.2 or newer (\(words))"
            )
        case CURLE_SSL_CONNECT_ERROR, CURLE_USE_SSL_FAILED:
            return (.tls, "the TLS handshake with \(host) failed; does the port speak TLS 1.2 or newer? (\(words))")
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
            return (.config, "the worker's TLS files or settings cannot be used (\(words))")
        case CURLE_SEND_ERROR:
            return (.send, "the connection to \(host) broke while the request was being sent (\(words))")
        case CURLE_GOT_NOTHING:
            return (.emptyReply, "\(host) closed the connection without an answer")
        // HTTP/2: there libcurl regards any end of the connection as the end of a body.
        case CURLE_PARTIAL_FILE where !e.answerBegan && e.status == nil:
            return (.emptyReply, "\(host) closed the connection without an answer")
        case CURLE_OK where e.closeUnannounced:
            return (
                .truncated,
                "the answer may be incomplete: it has no length, and \(host) closed the connection without close_notify; "
                    + "let the server send a Content-Length"
            )
        case CURLE_OK:
            return (
                .truncated,
                "the answer ended inside its headers; \(host) closed the connection before it had sent all of it"
            )
        case CURLE_PARTIAL_FILE:
            return (.truncated, "the answer's body is incomplete (\(words))")
        case CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_WEIRD_SERVER_REPLY:
            return broken(code, e, host: host, words: words)
        case CURLE_UNSUPPORTED_PROTOCOL:
            // While HTTP/0.9 is off, libcurl 7.88 reports this for an answer without a status line.
            return (.reset, "\(host) did not answer in HTTP (\(words)); is it the right port?")
        case CURLE_BAD_CONTENT_ENCODING:
            return (.decode, "the answer's Content-Encoding could not be decoded (\(words))")
        case CURLE_OUT_OF_MEMORY, tooLarge:
            // libcurl 7.88 also reports a lack of memory if a first line does not end. A request that is too large
            // never leaves.
            if code == tooLarge || words.lowercased().contains("header") || e.answerBegan || e.bytesSent > 0 {
                return headersTooLarge
            }
            return (.internal, "libcurl is out of memory, or the request is too large for it (\(words))")
        case CURLE_FILESIZE_EXCEEDED:
            return (.tooLarge, "the answer is larger than max_response, \(limits.maxResponseBytes) bytes")
        case CURLE_URL_MALFORMAT:
            return (.badURL, "the URL cannot be called (\(words))")
        case CURLE_WRITE_ERROR:
            return (.internal, "the worker could not receive the answer (\(words))")
        default:
            return (.internal, "libcurl failed with code \(code.rawValue) (\(words))")
        }
    }

    /// A server that requires a client certificate, or another one, ends the connection with a TLS alert. With TLS 1.3
    /// this comes after the client's part of the handshake, when the request may be under way.
    private static func certificateVerdict(
        _ code: CURLcode, _ e: Evidence, host: String, words: String
    ) -> (ErrorCode, String)? {
        let lower = words.lowercased()
        // With TLS 1.3 the server may be gone, with its alert unread, before a byte of the request is written. A server
        // that asks for a certificate and closes at once does not accept the certificate.
        if e.certificateWanted, code == CURLE_SEND_ERROR, e.bytesSent == 0, !e.reused, !e.answerBegan {
            let verb = e.transport?.certificateFile == nil ? "requires a" : "does not accept the"
            return (.config, "\(host) \(verb) client certificate; correct the service's tls (\(words))")
        }
        guard e.status == nil, lower.contains("ssl routines"), let alert = lower.firstRange(of: "alert ") else {
            return nil
        }
        let reason = lower[alert.upperBound...]
        if reason.hasPrefix("certificate required") {
            return (.config, "\(host) requires a client certificate; name one in the service's tls (\(words))")
        }
        let refusals = [
            "bad certificate", "unknown ca", "certificate expired", "certificate revoked", "certificate unknown",
            "unsupported certificate",
        ]
        guard refusals.contains(where: { reason.hasPrefix($0) }) else { return nil }
        return (
            .config,
            "\(host) does not accept the client certificate, or the lack of one; correct the service's tls (\(words))"
        )
    }

    /// A broken connection, by how far the answer had come.
    private static func broken(
        _ code: CURLcode, _ e: Evidence, host: String, words: String
    ) -> (ErrorCode, String) {
        let lower = words.lowercased()
        if lower.contains("header") && (lower.contains("too large") || lower.contains("exceed")) {
            return headersTooLarge
        }
        if e.status != nil {
            return (.truncated, "the answer broke off or was not valid HTTP (\(words))")
        }
        if code == CURLE_WEIRD_SERVER_REPLY {
            return (.reset, "\(host) did not answer in HTTP (\(words)); is it the right port?")
        }
        let hint =
            e.certificateWanted && !e.reused
            ? "; if it requires a client certificate, name one in the service's tls" : ""
        return (.reset, "\(host) broke the connection before its answer (\(words))" + hint)
    }
}
