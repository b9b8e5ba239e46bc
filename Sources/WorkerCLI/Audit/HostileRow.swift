// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// One statement that the database must refuse: a row for `postrider.jobs`, or a spec for `submit`.
struct HostileRow: Sendable {
    /// Its defect in words for the user, without secrets.
    var text: String
    var statement: String
    /// The required beginning of the message, a column or a place of the spec. Nil: PostgreSQL itself refuses it and
    /// names no place.
    var place: String?

    /// SQLSTATE classes that count as a refusal: Postrider's own, data, constraints and limits. A syntax error (42601)
    /// counts as well.
    private static let classes: Set<String> = ["PR", "22", "23", "54"]

    /// The deviation from the requirement, nil without one. `error` is the result of the statement, nil if it
    /// succeeded.
    func defect(_ error: PGError?) -> String? {
        guard let error else { return "it was accepted" }
        let texts = [error.message, error.detail ?? "", error.hint ?? ""]
        if texts.contains(where: { $0.contains(HostileInput.secret) }) { return "the refusal quotes a secret" }
        let state = error.sqlState?.rawValue ?? "no SQLSTATE"
        guard HostileRow.classes.contains(String(error.sqlState?.category ?? "")) || state == "42601" else {
            return "it ended with \(state): \(error.message)"
        }
        guard let place else { return nil }
        guard error.message.hasPrefix(place) else { return "the refusal does not say where: \(error.message)" }
        return error.hint?.isEmpty == false ? nil : "the refusal has no hint"
    }

    /// The requirement in words, for a fault.
    var requirement: String {
        place.map { "be refused for \($0.split(separator: ":").first ?? "")" } ?? "be refused"
    }
}
