// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The columns of `prepare`.
enum PrepareColumn: Int, CallColumn {
    case jobID, method, url, query, headers, bodyKind, body, form, timeoutMs, maxResponse, okStatuses
    case idempotencyHeader, gzip, connectMs, firstByteMs, privateNetwork, proxy, interface, ca, certificate, key
    case pins, keepsCookies, cookies, parts, partBodies, downloadTo, sha256, checksXML, isJudged, hasHooks
    case webhookTime, hasPages, server, goesOn, credential, credentialKind, credentialVersion, sealed, secrets, place
    case expensive, answerOptions, stub, service, trace

    var sql: StaticString {
        switch self {
        case .jobID: "job_id"
        case .method: "method"
        case .url: "url"
        case .query: "query"
        case .headers: "headers"
        case .bodyKind: "body_kind"
        case .body: "body"
        case .form: "form"
        case .timeoutMs: "timeout_ms"
        case .maxResponse: "max_response"
        case .okStatuses: "ok_statuses"
        case .idempotencyHeader: "idempotency_header"
        case .gzip: "gzip"
        case .connectMs: "connect_ms"
        case .firstByteMs: "first_byte_ms"
        case .privateNetwork: "private_network"
        case .proxy: "proxy"
        case .interface: "interface"
        case .ca: "ca"
        case .certificate: "certificate"
        case .key: "key"
        case .pins: "pins"
        case .keepsCookies: "keeps_cookies"
        case .cookies: "cookies"
        case .parts: "parts"
        case .partBodies: "part_bodies"
        case .downloadTo: "download_to"
        case .sha256: "sha256"
        case .checksXML: "checks_xml"
        case .isJudged: "is_judged"
        case .hasHooks: "has_hooks"
        case .webhookTime: "webhook_time"
        case .hasPages: "has_pages"
        case .server: "server"
        case .goesOn: "goes_on"
        case .credential: "credential"
        case .credentialKind: "credential_kind"
        case .credentialVersion: "credential_version"
        case .sealed: "sealed"
        case .secrets: "secrets"
        case .place: "place"
        case .expensive: "expensive"
        case .answerOptions: "answer_options"
        case .stub: "stub"
        case .service: "service"
        case .trace: "trace"
        }
    }

    /// The columns of the transport settings.
    static let ofTransport: [PrepareColumn] = [.proxy, .interface, .ca, .certificate, .key, .pins]
}
