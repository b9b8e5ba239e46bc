// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The facts about a sending without a complete answer: the whole input of the failure table.
struct Evidence: Equatable {
    /// The cause of its end.
    enum End: Equatable {
        /// A `CURLcode`.
        case library(UInt32)
        case firstByteLate
        case tooSlow
    }

    var end: End
    /// libcurl's message, possibly empty.
    var text = ""
    var osError: Int32 = 0
    /// Whether the connection was up and the request was about to be written.
    var requestBegan = false
    /// How many bytes of the request the kernel has taken.
    var bytesSent: Int64 = 0
    /// Whether a byte of the answer arrived.
    var answerBegan = false
    var status: Int?
    var reused = false
    /// Whether the server asked for a client certificate in the handshake.
    var certificateWanted = false
    var denied = false
    var headersTooLarge = false
    var lengthUnclear = false
    /// Whether the end of the TLS connection ends the answer, and no close_notify arrived.
    var closeUnannounced = false
    var codingDefect = CCURL_CODING_FINE
    var memoryOut = false
    var bodyTooLarge = false
    var resendRefused = false
    /// Whether the request was sent twice already.
    var wasResent = false
    var outOfDescriptors = false
    /// The path of a file part that changed during the call.
    var changedFile: String?
    /// The status of a proxy's answer to CONNECT; 0: none.
    var proxyStatus = 0
    /// Whether TLS with the server has begun behind a SOCKS proxy.
    var tlsBegan = false
    var transport: Transport?
    /// The setting that could have allowed a private address.
    var privateNetworkSwitch = HTTPCall.PrivateNetworkSwitch.service
    /// Whether a request of this attempt was answered with a redirect before.
    var followedRedirect = false
}

extension Evidence {
    /// The evidence about a sending of a flight.
    ///
    /// - Parameter outOfDescriptors: whether the sending ended because no descriptor was free.
    init(_ result: ccurl_result, end: End, of flight: Flight, outOfDescriptors: Bool) {
        unsafe self.init(
            end: end,
            text: String(cString: result.error_text),
            osError: Int32(truncatingIfNeeded: result.os_errno),
            requestBegan: result.request_began,
            bytesSent: result.bytes_sent,
            answerBegan: result.answer_began,
            status: result.status >= 200 ? Int(result.status) : nil,
            reused: result.reused,
            certificateWanted: result.certificate_wanted,
            denied: result.denied,
            headersTooLarge: result.headers_too_large,
            lengthUnclear: result.length_unclear,
            closeUnannounced: result.close_unannounced,
            codingDefect: result.coding_defect,
            memoryOut: result.memory_out,
            bodyTooLarge: result.body_too_large,
            resendRefused: result.resend_refused,
            wasResent: result.resent,
            outOfDescriptors: outOfDescriptors,
            changedFile: result.changed_file.map { unsafe String(cString: $0) },
            proxyStatus: result.proxy_status,
            tlsBegan: result.tls_began,
            transport: flight.transport,
            privateNetworkSwitch: flight.call.privateNetworkSwitch,
            followedRedirect: flight.redirects > 0
        )
    }
}
