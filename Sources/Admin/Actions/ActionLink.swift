// SPDX-License-Identifier: Apache-2.0

/// A link to the page that confirms one act of an admin. Pages show it only with `--http-actions`.
struct ActionLink: Sendable {
    /// The act, like `cancel`; the argument `do` of `/act`.
    let act: String
    /// The text of the link.
    let label: String
    /// The object of the act: arguments of `/act`, like `id` and `5`.
    let target: [(String, String)]
}
