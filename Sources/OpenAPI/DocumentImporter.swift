// SPDX-License-Identifier: Apache-2.0

/// Walks over the paths of a document.
struct DocumentImporter {
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    private let document: OpenAPIDocument
    private let schemas: SchemaReader
    private let service: String
    private let server: String?
    private let keys: Set<KeyPlace>
    private var api = ImportedAPI()
    private var names: Set<String> = []
    private var noted: Set<ImportedAPI.Remark> = []

    init(_ bytes: [UInt8], service: String) throws(DocumentError) {
        document = try OpenAPIDocument(bytes)
        schemas = SchemaReader(document)
        self.service = service
        let proposal = ServiceProposal(document, service: service)
        server = proposal.server
        keys = proposal.keys
        api.version = document.version
        api.proposal = proposal
    }

    mutating func run() -> ImportedAPI {
        for (path, item) in document.root["paths"]?.object ?? [:] {
            // Keys that begin with x- are extensions.
            guard path.hasPrefix("/") else {
                if !path.hasPrefix("x-") { note(.part, ["paths", path], "is not a path, which begins with /") }
                continue
            }
            do throws(OpenAPIDocument.ReferenceDefect) {
                importPath(path, try document.resolve(item))
            } catch {
                note(.operation, ["paths", path], error.rawValue)
            }
        }
        if !(document.root["webhooks"]?.object ?? [:]).isEmpty {
            note(.part, ["webhooks"], "are requests of the API to you")
        }
        return api
    }

    private mutating func note(_ kind: ImportedAPI.Remark.Kind, _ place: [String], _ reason: String) {
        add(ImportedAPI.Remark(kind: kind, place: JSONPointer.text(place), reason: reason))
    }

    /// Adds a remark. Parameters of a path item would cause the same remark for each operation.
    private mutating func add(_ remark: ImportedAPI.Remark) {
        if noted.insert(remark).inserted { api.remarks.append(remark) }
    }

    private mutating func importPath(_ path: String, _ item: JSONValue) {
        for method in DocumentImporter.methods {
            guard let value = item[method] else { continue }
            let place = ["paths", path, method]
            let operation: JSONObject
            do throws(OpenAPIDocument.ReferenceDefect) {
                operation = try document.resolve(value).object ?? [:]
            } catch {
                note(.operation, place, error.rawValue)
                continue
            }
            let name = name(path, method, operation)
            if let reason = defect(of: name) {
                note(.operation, place, reason)
                continue
            }
            names.insert(name)
            schemas.restart()
            var reader = OperationReader(document, schemas, keys: keys, place: place)
            do throws(OperationReader.Refusal) {
                try checkServer(item, operation)
                let read = try reader.read(path, method, operation, shared: item["parameters"]?.elements ?? [])
                api.operations.append(
                    ImportedAPI.Operation(
                        name: name, description: description(operation), arguments: read.arguments, spec: read.spec,
                        place: JSONPointer.text(place)))
                reader.remarks.forEach { add($0) }
            } catch {
                note(.operation, place, error.reason)
                api.namesLeftOut.append(name)
            }
        }
    }

    /// An operation with a server of its own does not belong to the service.
    private func checkServer(_ item: JSONValue, _ operation: JSONObject) throws(OperationReader.Refusal) {
        guard let own = (operation["servers"] ?? item["servers"])?.elements.first else { return }
        let url = ServiceProposal.url(own)
        if url != server { throw OperationReader.Refusal(reason: "has another server than the service: \(url)") }
    }

    /// The name: the id, or method and words of the path if it has none or the id is taken.
    private func name(_ path: String, _ method: String, _ operation: JSONObject) -> String {
        if let id = operation["operationId"]?.string, !id.isEmpty, !names.contains("\(service).\(id)") {
            return "\(service).\(id)"
        }
        let words = path.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return DocumentImporter.unused("\(service).\(([Substring(method)] + words).joined(separator: "_"))", names)
    }

    /// The name, if necessary with a number.
    static func unused(_ name: String, _ taken: Set<String>) -> String {
        guard taken.contains(name) else { return name }
        var number = 2
        while taken.contains("\(name)_\(number)") { number += 1 }
        return "\(name)_\(number)"
    }

    private func defect(of name: String) -> String? {
        if name.unicodeScalars.count > 200 { return "has a name of more than 200 characters" }
        let isOneLine = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isOneLine ? nil : "has a control character in its operationId"
    }

    private func description(_ operation: JSONObject) -> String? {
        let summary = operation["summary"]?.string ?? ""
        let text = summary.isEmpty ? operation["description"]?.string ?? "" : summary
        let paragraph = text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0.allSatisfy(\.isWhitespace) }.prefix { !$0.allSatisfy(\.isWhitespace) }
        let line = paragraph.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? nil : line.count > 300 ? line.prefix(299) + "…" : line
    }
}

/// Where a credential puts its key: `header` or `query`, and the name in small letters.
struct KeyPlace: Hashable {
    var place: String
    var name: String
}
