// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A detached thread, whose memory is freed at its end. It inherits the blocked signals of its creator.
public enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts it. False if the system refuses. C: `pthread_create`, `pthread_detach`.
    public static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let argument = unsafe Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            unsafe argument.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
