// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Compares the observations about a hostile input with the required end.
enum AuditVerdict {
    /// One line for the user: `ok`, or a fault with all deviations.
    static func finding(_ input: HostileInput, _ trace: CallTrace) -> Finding {
        let defects = defects(input, trace)
        guard !defects.isEmpty else {
            let growth = input.growthLimit == nil ? "" : ", with \(trace.growth >> 20) MiB of memory"
            return Finding(.ok, input.group, "\(input.text): \(trace.failure?.code.rawValue ?? "harmless")\(growth)")
        }
        let text = "\(input.text): must \(input.end.words); " + defects.joined(separator: "; ")
        // The line must not contain the secret, even if an error message does.
        return Finding(.fault, input.group, text.replacing(HostileInput.secret, with: "…"))
    }

    private static func defects(_ input: HostileInput, _ trace: CallTrace) -> [String] {
        var defects: [String] = []
        if let defect = input.end.defect(in: trace) { defects.append(defect) }
        if trace.failure?.message.contains(HostileInput.secret) == true {
            defects.append("its message contains a secret")
        }
        if trace.trapped > 0 { defects.append("it went to a proxy that only the environment names") }
        if let growthLimit = input.growthLimit, trace.growth > growthLimit {
            defects.append("the memory grew by \(trace.growth >> 20) MiB; at most \(growthLimit >> 20) MiB are allowed")
        }
        if let defect = input.also?() { defects.append(defect) }
        if !isFine(trace.innocent) { defects.append("a harmless call after it got no answer") }
        return defects
    }

    private static func isFine(_ innocent: CallOutcome?) -> Bool {
        guard case .response(let response)? = innocent?.ending else { return false }
        return response.status == 200 && response.body == AuditGround.innocentBody
    }
}
