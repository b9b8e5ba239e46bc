// SPDX-License-Identifier: Apache-2.0
import CCurl

/// The loaded libcurl: started and checked once per process.
enum CurlLibrary {
    /// `curl_global_init` and the checks, run by whoever asks first. C: `curl_version_info`.
    static let started: Result<Void, AgentError> = start()

    /// What is offered in Accept-Encoding: what can be decoded here and its end be told. `deflate` is left out, since
    /// servers disagree on what it means; an answer in it is decoded all the same.
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
