// SPDX-License-Identifier: Apache-2.0

import PrivateCluster
import TestSupport
import Testing

/// The incidents of `docs/incidents.md`, each ended by the dashboard alone.
@Suite(.enabled(if: Browser.isInstalled, "chromium-driver is not installed"))
struct IncidentTests {
    /// `token-revoked` takes the minute after which a worker tests the token. `scripts/incidents.py` runs it, too.
    @Test(arguments: ["api-down", "throttled-lane", "poison-job", "database-away"])
    func `an operator finds an incident in the dashboard and ends it there within two minutes`(name: String) throws {
        let (status, output) = try ChildProcess.run([
            try ProjectFolder.python(), "-B", try ProjectFolder.path() + "/scripts/incidents.py", WorkerProcess.path,
            name,
        ])
        #expect(status == 0 && output.contains("\(name): ended after"), "\(output)")
    }
}
