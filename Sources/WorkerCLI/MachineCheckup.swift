// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent

/// What `worker doctor` finds on this machine.
enum MachineCheckup {
    /// libcurl, and the limits of this process.
    static func findings(concurrency: Int) -> [Finding] {
        [transport(), descriptors(concurrency)]
    }

    private static func transport() -> Finding {
        do throws(AgentError) {
            let features = try TransportFeatures()
            return features.speaksHTTP2
                ? Finding(.ok, "libcurl", "\(features.version), with HTTP/2")
                : Finding(
                    .notice, "libcurl",
                    "\(features.version) without HTTP/2: each call takes a connection; install Debian's libcurl4")
        } catch {
            return Finding(.fault, "libcurl", error.message)
        }
    }

    /// What a worker would have once it has raised its limit, as it does when it starts.
    private static func descriptors(_ concurrency: Int) -> Finding {
        let budget = DescriptorBudget.raised()
        let needed = DescriptorBudget.needed(forCalls: concurrency)
        guard budget.mostCalls < concurrency else {
            return Finding(
                .ok, "descriptors",
                "\(budget.allowed) allowed, \(needed) needed for calls; connections that are kept open take no more than the rest"
            )
        }
        return Finding(
            .fault, "descriptors",
            "\(budget.allowed) allowed, \(needed) needed; start the worker with ulimit -n \(needed), or lower --concurrency: it would make \(budget.mostCalls) calls at once"
        )
    }
}
