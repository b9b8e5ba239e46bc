// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// A service and a credential for an imported API, as SQL to complete and run. It holds no secret.
public struct ServiceProposal: Equatable, Sendable {
    private static let unknownHost = "https://api.example.com"

    /// The URL of the service; `https://api.example.com` stands for an unknown host.
    public let baseURL: String
    /// The statements, one a line, with comments.
    public let sql: String
    /// The server of the document as it is written there.
    let server: String?
    /// The places of the credentials' keys.
    let keys: Set<KeyPlace>

    init(service: String) {
        baseURL = ServiceProposal.unknownHost
        sql = ""
        server = nil
        keys = []
    }

    init(_ document: OpenAPIDocument, service: String) {
        server = ServiceProposal.server(of: document)
        baseURL = ArgumentName.escaped(ServiceProposal.absolute(server)[...])
        var found: [(name: String, definition: JSONValue)] = []
        for (name, scheme) in document.root["components"]?["securitySchemes"]?.object ?? [:] {
            if let definition = try? document.resolve(scheme) { found.append((name, definition)) }
        }
        keys = Set(
            found.compactMap { scheme in
                guard scheme.definition["type"]?.string == "apiKey", let place = scheme.definition["in"]?.string,
                    let name = scheme.definition["name"]?.string
                else { return nil }
                return KeyPlace(place: place, name: name.lowercased())
            })
        // The schemes that the document demands come first, in its order.
        let demanded = (document.root["security"]?.elements ?? []).flatMap { $0.object?.keys ?? [] }
        let rank = { (name: String) in demanded.firstIndex(of: name) ?? demanded.count }
        let ordered = found.enumerated().sorted {
            (rank($0.element.name), $0.offset) < (rank($1.element.name), $1.offset)
        }.map(\.element)

        var lines: [String] = []
        let fitting = ordered.firstIndex { ServiceProposal.credential($0.definition) != nil }
        let columns = fitting.flatMap { ServiceProposal.credential(ordered[$0].definition) }
        if let columns {
            let names = ["name"] + columns.keys
            let values = [service] + columns.compactMap(\.value.string)
            lines.append(
                "insert into postrider.credentials (\(names.joined(separator: ", "))) values "
                    + "(\(values.map(SQLText.quoted).joined(separator: ", ")));")
        }
        let names = "name, base_url" + (columns == nil ? "" : ", credential")
        let values = [service, baseURL] + (columns == nil ? [] : [service])
        lines.append(
            "insert into postrider.services (\(names)) values (\(values.map(SQLText.quoted).joined(separator: ", ")));")
        if columns != nil { lines.append("-- then give the secret: worker credential set \(comment(service))") }
        let isKnown = baseURL.hasPrefix("https://") || baseURL.hasPrefix("http://")
        if !isKnown || baseURL.hasPrefix(ServiceProposal.unknownHost) || baseURL.contains("{") {
            lines.append("-- the file names no complete URL: correct base_url")
        }
        let others = ordered.indices.filter { $0 != fitting }.map { comment(ordered[$0].name) }
            .joined(separator: ", ")
        if !others.isEmpty {
            lines.append(
                columns == nil ? "-- no kind of credential fits \(others)" : "-- the file also knows \(others)")
        }
        sql = lines.joined(separator: "\n")
    }

    /// The first server; without one, the server that the first path names.
    private static func server(of document: OpenAPIDocument) -> String? {
        if let server = document.root["servers"]?.elements.first { return url(server) }
        for (_, item) in document.root["paths"]?.object ?? [:] {
            if let server = item["servers"]?.elements.first { return url(server) }
        }
        return nil
    }

    /// The URL of a server with the defaults of its variables.
    static func url(_ server: JSONValue) -> String {
        var url = server["url"]?.string ?? ""
        for (name, variable) in server["variables"]?.object ?? [:] {
            guard let value = variable["default"]?.string else { continue }
            url = url.split(separator: "{\(name)}", omittingEmptySubsequences: false).joined(separator: value)
        }
        return url
    }

    /// An absolute URL without a user and password.
    private static func absolute(_ server: String?) -> String {
        guard let server, !server.isEmpty else { return unknownHost }
        guard let mark = server.firstRange(of: "://") else {
            return server.hasPrefix("//")
                ? "https:" + server : unknownHost + (server.hasPrefix("/") ? "" : "/") + server
        }
        let end = server[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? server.endIndex
        let host = server[mark.upperBound..<end]
        guard let at = host.lastIndex(of: "@") else { return server }
        return String(server[..<mark.upperBound] + host[host.index(after: at)...] + server[end...])
    }

    /// The columns of a credential for a security scheme; nil if no kind of credential fits.
    private static func credential(_ scheme: JSONValue) -> JSONObject? {
        switch (scheme["type"]?.string, scheme["scheme"]?.string?.lowercased()) {
        case ("http", "basic"): return ["kind": "basic"]
        case ("http", "bearer"), ("openIdConnect", _): return ["kind": "bearer"]
        case ("apiKey", _):
            guard let name = scheme["name"]?.string, let place = scheme["in"]?.string, place != "cookie" else {
                return nil
            }
            return ["kind": "api_key", "place": .string((JSONValue.object([place: .string(name)])).text)]
        case ("oauth2", _):
            let flows = scheme["flows"]?.object ?? [:]
            let direct = flows["clientCredentials"]
            guard let flow = direct ?? flows["authorizationCode"] ?? flows["password"],
                let url = flow["tokenUrl"]?.string,
                url.hasPrefix("https://") || url.hasPrefix("http://")
            else { return ["kind": "bearer"] }
            return [
                "kind": direct == nil ? "oauth2_refresh_token" : "oauth2_client_credentials",
                "token_url": .string(url), "client_id": "YOUR CLIENT ID",
            ]
        default: return nil
        }
    }
}

/// A text in a comment of SQL, on one line.
private func comment(_ text: String) -> String {
    String(text.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : Character($0) })
}
