// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The causes of failures that a person has ticked, for an act on the jobs of each. Pure.
struct TickedCauses: Equatable, Sendable {
    /// One for each cause. A job may match several.
    let selections: [JobSelection]

    /// The argument of `/act` with causes, separated by commas. A cause is a query of `/jobs`, in which `%2C` is a comma.
    static let field = "causes"
    /// The most causes of one act, because each is counted by its own walk over the failures.
    static let most = 10

    /// Reads the causes.
    ///
    /// - Throws: the defect of a filter, or of the argument.
    init(_ text: String, for kind: Act.Kind) throws(ActDefect) {
        let parts = text.split(separator: ",")
        guard (1...TickedCauses.most).contains(parts.count) else {
            throw ActDefect(TickedCauses.field, "must name 1 to \(TickedCauses.most) causes")
        }
        var found: [JobSelection] = []
        for part in parts {
            let selection = try JobSelection(try FormBody.decode([UInt8](part.utf8)), for: kind)
            if !found.contains(selection) { found.append(selection) }
        }
        selections = found
    }

    /// The causes as the value of the argument.
    var text: String {
        selections.map { TickedCauses.text($0.fields.map { ($0.name, $0.value) }) }.joined(separator: ",")
    }

    /// One cause as a value of the argument.
    static func text(_ filters: [(String, String)]) -> String {
        String(decoding: PercentEncoding.encode(filters.map { FormField($0.0, $0.1) }, space: .percent), as: UTF8.self)
    }

    /// One cause in words.
    static func words(_ filters: [(String, String)]) -> String {
        filters.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}

extension Act {
    /// The filters of an act on many jobs; none for other acts.
    var selections: [JobSelection] {
        switch target {
        case .jobs(let selection): [selection]
        case .causes(let causes): causes.selections
        default: []
        }
    }
}
