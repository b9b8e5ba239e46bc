// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

extension FailureTable {
    /// The failure that the transport settings explain. Nil if it is independent of them.
    static func verdict(
        _ code: CURLcode, _ e: Evidence, host: String, transport: Transport, limits: CallLimits, words: String
    ) -> (ErrorCode, String)? {
        switch code {
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return (
                .tlsVerify,
                "the public key of \(host) matches none of the service's pins; if the server has a new key, add its pin"
            )
        case CURLE_SSL_CACERT_BADFILE:
            let file = transport.caFile ?? "the worker's CA file"
            return (.config, "\(file) cannot be read or holds no certificate in PEM; correct ca in the service's tls")
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT:
            let files = [transport.certificateFile, transport.keyFile].compactMap(\.self).joined(separator: " and ")
            return (
                .config,
                "the client certificate \(files) cannot be used; certificate and key must be PEM without a passphrase, "
                    + "belong together and be readable by the worker (\(words))"
            )
        case CURLE_INTERFACE_FAILED:
            return (
                .config,
                "the service's interface \(transport.interface ?? "") does not exist or has no address; correct its name"
            )
        default:
            return transport.proxy != nil && !e.requestBegan ? proxyVerdict(code, e, limits, words) : nil
        }
    }

    /// Before a request begins, only the proxy has been contacted, except for TLS with the server.
    private static func proxyVerdict(
        _ code: CURLcode, _ e: Evidence, _ limits: CallLimits, _ words: String
    ) -> (ErrorCode, String)? {
        if e.proxyStatus == 407 { return (.proxy, refusedByProxy) }
        if e.proxyStatus >= 300 {
            return (.proxy, "the service's proxy answered \(e.proxyStatus) and did not connect to the server")
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY:
            return (.proxy, "the name of the service's proxy could not be resolved; check it and the worker's DNS")
        case CURLE_COULDNT_CONNECT:
            return (.proxy, "no connection to the service's proxy; is it up and its port right? (\(words))")
        case CURLE_PROXY, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY:
            return (.proxy, "the service's proxy did not connect to the server (\(words))")
        case CURLE_OPERATION_TIMEDOUT where e.proxyStatus == 0 && !e.tlsBegan:
            return (
                .proxy,
                "the service's proxy did not connect to the server within \(min(limits.connect, limits.total)); "
                    + "is it up, and can it reach the server? (\(words))"
            )
        default: return nil
        }
    }

    /// The message for a 407, as the answer to CONNECT or to a plain request.
    static let refusedByProxy = "the service's proxy refused the user and password (407); correct its URL"
}
