// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread of its own, for what must go on while a test blocks: the tasks of all tests share as many threads as
/// there are cores, and two blocking tests take them all.
public final class BackgroundThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private let thread: pthread_t

    /// Starts at once.
    public init(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
        unsafe pthread_create(
            &thread, nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, argument)
        self.thread = thread
    }

    /// Waits for its end; once.
    public func join() {
        pthread_join(thread, nil)
    }
}
