// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import HTTPAgent

/// The findings of `worker doctor` on this machine.
enum MachineCheckup {
    /// The findings about libcurl and the limits of this process.
    static func findings(concurrency: Int, memory: Int) -> [Finding] {
        var findings = [transport(), descriptors(concurrency)]
        if let machine = MachineMemory.bytes() { findings.append(self.memory(budget: memory, machine: machine)) }
        return findings
    }

    /// Whether a worker with this budget fits into the memory of the machine or its control group, with some reserve.
    static func memory(budget: Int, machine: Int) -> Finding {
        let needed = budget + EngineConfiguration.memoryOverhead
        let text =
            "\(SizeText.rounded(machine)) here; a worker with --memory \(SizeText.format(budget)) takes up to "
            + SizeText.rounded(needed)
        if needed > machine {
            return Finding(.fault, "memory", text + ": the system may kill it; lower --memory or raise the limit")
        }
        guard needed > machine / 4 * 3 else { return Finding(.ok, "memory", text) }
        return Finding(.notice, "memory", text + ": that leaves little for other programs; lower --memory")
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

    /// The descriptors of a worker after it has raised its limit, as it does at its start.
    private static func descriptors(_ concurrency: Int) -> Finding {
        let budget = DescriptorBudget.raised()
        let needed = DescriptorBudget.needed(forCalls: concurrency)
        guard budget.mostCalls < concurrency else {
            return Finding(
                .ok, "descriptors",
                "\(budget.allowed) allowed, \(needed) needed for calls; idle connections use only the rest"
            )
        }
        return Finding(
            .fault, "descriptors",
            "\(budget.allowed) allowed, \(needed) needed; "
                + "start the worker with ulimit -n \(needed), or lower --concurrency: "
                + "it would make only \(budget.mostCalls) calls at once"
        )
    }
}
