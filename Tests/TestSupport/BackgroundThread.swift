// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

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

    /// What `body` returns or throws on a thread of its own that blocks no signal, for tests of signals.
    ///
    /// The threads of tasks block nearly all. What a test sends to one of them stays pending there, and ends the
    /// process, without a word, when a later test on the same thread unblocks it; with its own thread it is gone.
    public static func result<Value: Sendable>(of body: @escaping @Sendable () throws -> Value) throws -> Value {
        let result = Mutex(Result<Value, any Error>.failure(TestClock.Timeout(description: "the thread did not run")))
        let thread = BackgroundThread {
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
        }
        thread.join()
        return try result.withLock { $0 }.get()
    }

    /// Waits for its end; once.
    public func join() {
        pthread_join(thread, nil)
    }
}
