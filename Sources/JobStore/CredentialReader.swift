// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Reads credentials from results: for the calls of jobs, and for the credential work of a worker.
public enum CredentialReader {
    /// One task from `postrider_internal.next_credential_tasks`.
    public enum Task: Sendable {
        /// Secrets to seal, with the credential's name and version.
        case seal(String, Int64, Secrets)
        /// A token to fetch.
        case refresh(TokenTask)
    }

    /// The task in a row of `StoreStatement.nextCredentialTasks`.
    public static func task(_ result: borrowing PGResult, _ row: Int) -> Task {
        let name = result.text(row, 1)
        let version = result.int64(row, 3)
        let plain = result.isNull(row, 6) ? nil : Secrets(pairs: result.texts(row, 6))
        guard result.text(row, 0) == "r" else { return .seal(name, version, plain ?? Secrets()) }
        var call = HTTPCall(
            method: HTTPMethod(rawValue: result.text(row, 7)) ?? .post, url: result.text(row, 8),
            headers: CallReader.pairs(result.texts(row, 9)).map { HTTPHeader($0.0, $0.1) },
            allowsPrivateNetwork: result.bool(row, 13))
        call.privateNetworkSwitch = .credential
        if !result.isNull(row, 10) {
            call.body = .bytes(result.bytes(row, 10), contentType: "application/json")
        } else if !result.isNull(row, 11) {
            call.body = .form(CallReader.pairs(result.texts(row, 11)).map { FormField($0.0, $0.1) })
        }
        return .refresh(
            TokenTask(
                credential: name, version: version, epoch: result.int64(row, 4),
                sealed: result.isNull(row, 5) ? nil : result.bytes(row, 5), plain: plain,
                isOAuth: result.text(row, 2).hasPrefix("oauth2"), clientID: result.optionalText(row, 12), request: call)
        )
    }

    /// The login of a call, from six columns of `prepare` that begin at `first`. Nil if the job has no credential.
    static func use(_ result: borrowing PGResult, _ row: Int, from first: Int) -> CredentialUse? {
        guard let name = result.optionalText(row, first) else { return nil }
        let place = result.isNull(row, first + 5) ? ["header", "Authorization", ""] : result.texts(row, first + 5)
        return CredentialUse(
            name: name, version: result.optionalInt64(row, first + 2) ?? 0,
            isBasic: result.optionalText(row, first + 1) == "basic",
            sealed: result.isNull(row, first + 3) ? nil : result.bytes(row, first + 3),
            plain: result.isNull(row, first + 4) ? nil : Secrets(pairs: result.texts(row, first + 4)),
            place: CredentialReader.place(place), isGone: result.isNull(row, first + 1))
    }

    private static func place(_ words: [String]) -> CredentialUse.Place {
        switch words[0] {
        case "query": .query(words[1])
        case "nowhere": .nowhere
        case "form": .form(words[1])
        case "json": .json(words[1])
        default: .header(words[1], prefix: words[2])
        }
    }
}
