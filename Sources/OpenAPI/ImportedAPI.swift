// SPDX-License-Identifier: Apache-2.0

/// The operations that an OpenAPI document describes, and what the import left out.
public struct ImportedAPI: Equatable, Sendable {
    /// One row of `postrider.operations`.
    public struct Operation: Equatable, Sendable {
        /// `<service>.<operationId>`; without an id, method and words of the path.
        public var name: String
        /// The summary, or the first paragraph of the description.
        public var description: String?
        /// The types of the arguments.
        public var arguments: JSONValue
        /// The request.
        public var spec: JSONValue
        /// Its place in the document.
        public var place: String

        /// The columns as one JSON object.
        public var row: JSONValue {
            [
                "name": .string(name), "description": description.map { .string($0) } ?? .null,
                "arguments": arguments, "spec": spec,
            ]
        }
    }

    /// A part of the document that the import left out or changed.
    public struct Remark: Hashable, Sendable {
        /// The weight of a remark.
        public enum Kind: String, Sendable {
            /// An operation was left out.
            case operation
            /// A part of an operation was left out.
            case part
            /// A part was taken in another form.
            case note
        }

        /// The weight.
        public var kind: Kind
        /// The place, a JSON pointer.
        public var place: String
        /// The reason, without the place.
        public var reason: String
    }

    /// The version of OpenAPI that the document names.
    public internal(set) var version = ""
    /// The operations in the order of the document.
    public internal(set) var operations: [Operation] = []
    /// The names of operations that were left out.
    public internal(set) var namesLeftOut: [String] = []
    /// The remarks in the order of the document.
    public internal(set) var remarks: [Remark] = []
    /// A service and a credential for the operations.
    public internal(set) var proposal = ServiceProposal(service: "")

    /// Reads a document, JSON or YAML.
    ///
    /// - Parameter service: the service of the operations, which need not exist.
    public init(_ bytes: [UInt8], service: String) throws(DocumentError) {
        var importer = try DocumentImporter(bytes, service: service)
        self = importer.run()
    }

    init() {}
}
