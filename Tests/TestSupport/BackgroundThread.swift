// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A thread for work that must continue while a test blocks.
///
/// The tasks of all tests share one thread per core. Two blocking tests can occupy all threads of a 2-core machine.
public final class BackgroundThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private let thread: pthread_t
    private let isJoined = Atomic(false)

    /// Starts the thread at once.
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

    /// Runs `body` on a new thread that blocks no signal, and returns or throws its result. For tests of signals.
    ///
    /// The threads of Swift tasks block nearly all signals. A signal that a test sends to such a thread stays pending.
    /// It ends the process without a message when a later test on that thread unblocks it. On a new thread, a pending
    /// signal ends with the thread.
    public static func result<Value: Sendable>(of body: @escaping @Sendable () throws -> Value) throws -> Value {
        let result = Mutex(Result<Value, any Error>.failure(TestFault(description: "the thread did not run")))
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

    /// The system keeps the stack of a thread that has ended until it is joined or detached.
    deinit {
        if !isJoined.load(ordering: .relaxed) { pthread_detach(thread) }
    }

    /// Waits until the thread has ended. Call it once.
    public func join() {
        isJoined.store(true, ordering: .relaxed)
        pthread_join(thread, nil)
    }
}
