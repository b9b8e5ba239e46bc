// SPDX-License-Identifier: Apache-2.0
import CCurl

/// The features of the installed libcurl.
public struct TransportFeatures: Sendable {
    /// The version, for example `7.88.1`.
    public let version: String
    /// Whether several calls can share one connection, with servers that offer HTTP/2.
    public let speaksHTTP2: Bool

    /// Reads the features of libcurl. C: `curl_version_info`.
    ///
    /// - Throws: an error that names a missing feature without which no call is possible, and the package to install.
    public init() throws(AgentError) {
        try CurlLibrary.started.get()
        version = unsafe String(cString: ccurl_version_text())
        speaksHTTP2 = ccurl_has_feature(UInt32(CURL_VERSION_HTTP2))
    }
}
