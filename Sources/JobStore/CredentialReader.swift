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
        let name = result.text(row, CredentialTaskColumn.credential)
        let version = result.int64(row, CredentialTaskColumn.version)
        let plain =
            result.isNull(row, CredentialTaskColumn.secrets)
            ? nil : Secrets(pairs: result.texts(row, CredentialTaskColumn.secrets))
        guard result.text(row, CredentialTaskColumn.task) == "r" else {
            return .seal(name, version, plain ?? Secrets())
        }
        var call = HTTPCall(
            method: HTTPMethod(rawValue: result.text(row, CredentialTaskColumn.method)) ?? .post,
            url: result.text(row, CredentialTaskColumn.url),
            headers: CallReader.pairs(result.texts(row, CredentialTaskColumn.headers)).map { HTTPHeader($0.0, $0.1) },
            allowsPrivateNetwork: result.bool(row, CredentialTaskColumn.privateNetwork))
        call.privateNetworkSwitch = .credential
        if !result.isNull(row, CredentialTaskColumn.body) {
            call.body = .bytes(result.bytes(row, CredentialTaskColumn.body), contentType: "application/json")
        } else if !result.isNull(row, CredentialTaskColumn.form) {
            call.body = .form(
                CallReader.pairs(result.texts(row, CredentialTaskColumn.form)).map { FormField($0.0, $0.1) })
        }
        return .refresh(
            TokenTask(
                credential: name, version: version, epoch: result.int64(row, CredentialTaskColumn.epoch),
                sealed: result.isNull(row, CredentialTaskColumn.sealed)
                    ? nil : result.bytes(row, CredentialTaskColumn.sealed), plain: plain,
                isOAuth: result.text(row, CredentialTaskColumn.kind).hasPrefix("oauth2"),
                clientID: result.optionalText(row, CredentialTaskColumn.clientID), request: call)
        )
    }

    /// The login of a call, from a row of `prepare`. Nil if the job has no credential.
    static func use(_ result: borrowing PGResult, _ row: Int) -> CredentialUse? {
        guard let name = result.optionalText(row, PrepareColumn.credential) else { return nil }
        let place =
            result.isNull(row, PrepareColumn.place)
            ? ["header", "Authorization", ""] : result.texts(row, PrepareColumn.place)
        return CredentialUse(
            name: name, version: result.optionalInt64(row, PrepareColumn.credentialVersion) ?? 0,
            isBasic: result.optionalText(row, PrepareColumn.credentialKind) == "basic",
            sealed: result.isNull(row, PrepareColumn.sealed) ? nil : result.bytes(row, PrepareColumn.sealed),
            plain: result.isNull(row, PrepareColumn.secrets)
                ? nil : Secrets(pairs: result.texts(row, PrepareColumn.secrets)),
            place: CredentialReader.place(place), isGone: result.isNull(row, PrepareColumn.credentialKind))
    }

    private static func place(_ words: [String]) -> CredentialUse.Place {
        // A row never traps: words that are missing count as empty.
        let name = words.count > 1 ? words[1] : ""
        return switch words.first {
        case "query": .query(name)
        case "nowhere", nil: .nowhere
        case "form": .form(name)
        case "json": .json(name)
        default: .header(name, prefix: words.count > 2 ? words[2] : "")
        }
    }
}
