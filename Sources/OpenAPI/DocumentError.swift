// SPDX-License-Identifier: Apache-2.0

/// Why a file is not an OpenAPI document that can be imported.
public struct DocumentError: Error, Equatable {
    /// The kinds of defects.
    public enum Code: Sendable {
        /// The text is neither JSON nor YAML.
        case syntax
        /// The text is larger or nested deeper than the limits.
        case limit
        /// The text is JSON or YAML, but no OpenAPI document of a known version.
        case version
    }

    /// The kind.
    public let code: Code
    /// The line of the defect, from 1; nil if it has none.
    public let line: Int?
    /// The defect as part of a sentence. It quotes nothing of the text.
    public let reason: String

    init(_ code: Code, line: Int? = nil, _ reason: String) {
        self.code = code
        self.line = line
        self.reason = reason
    }
}
