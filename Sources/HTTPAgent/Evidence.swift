// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// What is known about a sending that gave no whole answer: all that the failure table looks at.
struct Evidence: Equatable {
    /// Who ended it.
    enum End: Equatable {
        /// A `CURLcode`.
        case library(UInt32)
        case firstByteLate
        case tooSlow
    }

    var end: End
    /// libcurl's own words; may be empty.
    var text = ""
    var osError: Int32 = 0
    /// The connection was up and the request about to be written.
    var requestBegan = false
    /// Bytes of the request that were handed to the kernel.
    var bytesSent: Int64 = 0
    /// A byte of the answer arrived.
    var answerBegan = false
    var status: Int?
    var reused = false
    /// In the handshake the server asked for a client certificate.
    var certificateWanted = false
    var denied = false
    var headersTooLarge = false
    var lengthUnclear = false
    /// The answer ends with its TLS connection, and no close_notify has come.
    var closeUnannounced = false
    var codingDefect = CCURL_CODING_FINE
    var memoryOut = false
    var bodyTooLarge = false
    var resendRefused = false
    /// One sending again went before.
    var wasResent = false
    var outOfDescriptors = false
    /// The path of a file part that changed meanwhile.
    var changedFile: String?
    /// What a proxy answered to CONNECT; 0: nothing.
    var proxyStatus = 0
    /// Behind a SOCKS proxy: TLS with the server has begun.
    var tlsBegan = false
    var transport: Transport?
    /// Who could have allowed a private address.
    var privateNetworkSwitch = HTTPCall.PrivateNetworkSwitch.service
    /// A request of this attempt was answered with a redirect already.
    var followedRedirect = false
}
