// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

// Statements about credentials. Secrets are parameters, and never part of a statement's text.
extension StoreCalls {
    /// `next_credential_tasks`. `except` names the credentials that other workers refresh.
    public static func nextCredentialTasks(
        worker: Int32, hasKey: Bool, canRefresh: Bool, except: [String], into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(bool: hasKey)
        parameters.append(bool: canRefresh)
        parameters.append(texts: except)
    }

    /// `store_sealed_secrets`.
    public static func storeSealedSecrets(
        _ credential: String, version: Int64, _ sealed: [UInt8], into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(text: credential)
        parameters.append(int64: version)
        parameters.append(bytes: sealed)
    }

    /// `read_refresh_answer`.
    public static func readRefreshAnswer(
        _ credential: String, _ response: HTTPResponse, into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(text: credential)
        parameters.append(int32: Int32(clamping: response.status))
        parameters.append(bytes: response.headerBlock)
        parameters.append(bytes: response.body)
    }

    /// `store_refresh`. Without `sealed` the new secrets are sent in plain, since the worker has no key.
    public static func storeRefresh(
        _ task: TokenTask, _ answer: TokenAnswer, sealed: [UInt8]?, into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(text: task.credential)
        parameters.append(int64: task.epoch)
        parameters.append(int64: task.version)
        parameters.append(text: answer.kind.rawValue)
        parameters.append(bytes: sealed)
        parameters.append(texts: sealed == nil ? answer.secrets?.pairs ?? [] : [])
        parameters.append(int32: answer.expiresIn)
        parameters.append(int64: answer.wait?.wholeMilliseconds)
        parameters.append(text: answer.reason)
    }
}
