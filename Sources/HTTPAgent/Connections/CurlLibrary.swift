// SPDX-License-Identifier: Apache-2.0
import CCurl

/// The loaded libcurl. It is started and checked once in the process.
enum CurlLibrary {
    /// The result of `curl_global_init` and the checks, at the first use. C: `curl_version_info`.
    static let started: Result<Void, AgentError> = start()

    /// The value of Accept-Encoding: encodings whose end the agent can detect. `deflate` is left out because servers
    /// disagree on its meaning. An answer in `deflate` is decoded all the same.
    static let acceptedEncodings = "gzip"

    private static func start() -> Result<Void, AgentError> {
        let code = ccurl_global_start()
        guard code == 0 else {
            return .failure(
                AgentError(
                    code: .cannotStart,
                    message: "libcurl cannot start (curl_global_init: \(code)); check the installed libcurl and OpenSSL"
                ))
        }
        let version = unsafe String(cString: ccurl_version_text())
        guard ccurl_version_number() >= 0x07_55_00 else {
            return .failure(
                AgentError(
                    code: .oldLibrary,
                    message: "libcurl \(version) is too old; install 7.85 or newer (Debian 12: libcurl4)"
                ))
        }
        guard ccurl_has_feature(UInt32(CURL_VERSION_ASYNCHDNS)), ccurl_has_feature(UInt32(CURL_VERSION_SSL)) else {
            return .failure(
                AgentError(
                    code: .missingFeature,
                    message: "libcurl \(version) lacks AsynchDNS or SSL (see `curl --version`); "
                        + "install a build with both, such as Debian's libcurl4"
                ))
        }
        return .success(())
    }
}
