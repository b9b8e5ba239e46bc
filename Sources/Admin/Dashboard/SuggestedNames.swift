// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Names that fields of a filter bar suggest: queues, lanes, services, operations, tags and names of errors.
///
/// The browser offers them from a `datalist`, without a script. Any other name can be typed, too.
struct SuggestedNames: Sendable {
    private let byFilter: [String: [String]]

    /// The filters that have names to suggest.
    static let filters: Set = ["queue", "lane", "service", "operation", "tag", "error_name"]
    /// The most names of one filter.
    private static let limit: Int32 = 100

    private enum NameColumn: Int, PGColumn {
        case filter, name

        var sql: StaticString {
            switch self {
            case .filter: "n.filter"
            case .name: "n.name"
            }
        }
    }

    /// These names, by filter.
    init(_ byFilter: [String: [String]] = [:]) {
        self.byFilter = byFilter
    }

    /// Reads the names for the fields that have suggestions.
    init(for fields: [FilterBar.Field], _ connection: borrowing PGConnection) throws(PGError) {
        let filters = fields.map(\.name).filter(SuggestedNames.filters.contains)
        guard !filters.isEmpty else {
            byFilter = [:]
            return
        }
        var parameters = PGParameters()
        parameters.append(texts: filters)
        parameters.append(int32: SuggestedNames.limit)
        let read = try connection.query(
            "select \(NameColumn.selectList) from postrider_internal.suggested_names($1, $2) n", &parameters)
        var names: [String: [String]] = [:]
        for row in 0..<read.rowCount {
            names[read.text(row, NameColumn.filter), default: []].append(read.text(row, NameColumn.name))
        }
        byFilter = names
    }

    /// The names for a filter; none if it has no suggestions.
    subscript(filter: String) -> [String] { byFilter[filter] ?? [] }
}
