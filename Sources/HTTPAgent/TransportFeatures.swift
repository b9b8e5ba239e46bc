// SPDX-License-Identifier: Apache-2.0
import CCurl

/// What the installed libcurl can do.
public struct TransportFeatures: Sendable {
    /// Like `7.88.1`.
    public let version: String
    /// Several calls over one connection, with servers that offer it.
    public let speaksHTTP2: Bool

    /// Asks libcurl. C: `curl_version_info`.
    ///
    /// - Throws: what is missing without which no call can be made, and what to install.
    public init() throws(AgentError) {
        try CurlLibrary.started.get()
        version = unsafe String(cString: ccurl_version_text())
        speaksHTTP2 = ccurl_has_feature(UInt32(CURL_VERSION_HTTP2))
    }
}
