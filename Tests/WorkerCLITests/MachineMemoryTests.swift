// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WorkerCLI

/// Sizes in the notation of users, and the memory that the machine reports.
struct MachineMemoryTests {
    @Test func `sizes are parsed and formatted, and invalid sizes are refused`() {
        #expect(SizeText.parse("268435456") == 256 << 20)
        #expect(SizeText.parse("512KiB") == 512 << 10)
        #expect(SizeText.parse("256MiB") == 256 << 20)
        #expect(SizeText.parse("1GiB") == 1 << 30)
        for text in ["", "MiB", "1 GiB", "1.5GiB", "-1MiB", "1MB", "1mib", "9223372036854775807GiB"] {
            #expect(SizeText.parse(text) == nil, "\(text)")
        }
        for text in ["1GiB", "1536MiB", "1000", "3KiB", "0"] {
            #expect(SizeText.parse(text).map(SizeText.format) == text)
        }
    }

    @Test func `the total memory is read from meminfo`() {
        #expect(MachineMemory.total(meminfo: "MemTotal:        2034772 kB\nMemFree: 1 kB\n") == 2_034_772 << 10)
        #expect(MachineMemory.total(meminfo: "") == nil)
        #expect((MachineMemory.bytes() ?? 0) > 32 << 20)
    }

    @Test func `memory limits are looked up in cgroup versions 1 and 2`() {
        #expect(MachineMemory.limit(text: "max\n") == nil)
        #expect(MachineMemory.limit(text: "1073741824\n") == 1 << 30)
        #expect(MachineMemory.limit(text: "9223372036854771712\n") == nil)
        #expect(
            MachineMemory.limitFiles("0::/system.slice/a.service\n") == [
                "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/system.slice/a.service/memory.max",
                "/sys/fs/cgroup/system.slice/memory.max",
            ])
        #expect(
            MachineMemory.limitFiles("12:cpu,cpuacct:/\n5:memory:/docker/1\n") == [
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
            ])
    }

    @Test func `doctor warns of a large memory budget and reports one as large as memory`() {
        let gib = 1 << 30
        #expect(MachineCheckup.memory(budget: 256 << 20, machine: gib).grade == .ok)
        #expect(MachineCheckup.memory(budget: 900 << 20, machine: gib).grade == .notice)
        #expect(MachineCheckup.memory(budget: gib, machine: gib).grade == .fault)
    }
}
