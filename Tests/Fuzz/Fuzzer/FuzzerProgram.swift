// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The function that libFuzzer calls with each input. `FUZZ_TARGET` names the target of the process.
@_cdecl("LLVMFuzzerTestOneInput")
func runFuzzTarget(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(Finding) {
        try FuzzerProgram.target.run(input)
    } catch {
        print("FINDING: \(error.description)")
        fflush(nil)
        abort()
    }
    return 0
}

/// The settings of the process.
enum FuzzerProgram {
    /// The target. A wrong name ends the process with the list of all names.
    static let target: FuzzTarget = {
        let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            print("FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
            exit(64)
        }
        return target
    }()
}
