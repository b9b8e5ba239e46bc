// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The columns of `next_credential_tasks`.
enum CredentialTaskColumn: Int, PGColumn {
    case task, credential, kind, version, epoch, sealed, secrets, method, url, headers, body, form, clientID
    case privateNetwork

    var sql: StaticString {
        switch self {
        case .task: "task"
        case .credential: "credential"
        case .kind: "kind"
        case .version: "version"
        case .epoch: "epoch"
        case .sealed: "sealed"
        case .secrets: "secrets"
        case .method: "method"
        case .url: "url"
        case .headers: "headers"
        case .body: "body"
        case .form: "form"
        case .clientID: "client_id"
        case .privateNetwork: "private_network"
        }
    }
}

/// The columns of `read_refresh_answer`.
public enum RefreshAnswerColumn: Int, PGColumn {
    case verdict, accessToken, refreshToken, expiresIn, error

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .verdict: "verdict"
        case .accessToken: "access_token"
        case .refreshToken: "refresh_token"
        case .expiresIn: "expires_in"
        case .error: "error"
        }
    }
}
