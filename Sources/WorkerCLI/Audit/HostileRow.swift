// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// One statement that must be refused where it is given: a row for `postrider.jobs`, or a spec for `submit`.
struct HostileRow: Sendable {
    /// What is wrong with it, for the person who reads; holds no secret.
    var text: String
    /// The statement.
    var statement: String
    /// What the refusal begins with, a column or a place of the spec; nil: PostgreSQL refuses it itself, and knows
    /// none.
    var place: String?

    /// SQLSTATEs that are a refusal: of Postrider, of a value, of a constraint, of a syntax, of what is nested too
    /// deep.
    private static let classes: Set<String> = ["PR", "22", "23", "54"]

    /// What is not as it must be; nil: all is. `error` is what came of the statement, nil if it was taken.
    func defect(_ error: PGError?) -> String? {
        guard let error else { return "it was taken" }
        let told = [error.message, error.detail ?? "", error.hint ?? ""]
        if told.contains(where: { $0.contains(HostileInput.secret) }) { return "the refusal quotes a secret" }
        let state = error.sqlState?.rawValue ?? "no SQLSTATE"
        guard HostileRow.classes.contains(String(error.sqlState?.category ?? "")) || state == "42601" else {
            return "it ended with \(state): \(error.message)"
        }
        guard let place else { return nil }
        guard error.message.hasPrefix(place) else { return "the refusal does not say where: \(error.message)" }
        return error.hint?.isEmpty == false ? nil : "the refusal has no hint"
    }

    /// What it must do, for a fault.
    var requirement: String {
        place.map { "be refused for \($0.split(separator: ":").first ?? "")" } ?? "be refused"
    }
}
