// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The sanitizer with which the tests are built. `scripts/sanitize.sh` names it in `POSTRIDER_SANITIZER`.
public enum Sanitizer {
    /// Whether there is one. Then programs take more memory and more time than they promise.
    public static let isOn = unsafe getenv("POSTRIDER_SANITIZER") != nil
}
