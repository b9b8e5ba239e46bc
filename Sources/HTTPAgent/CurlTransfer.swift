// SPDX-License-Identifier: Apache-2.0
import CCurl

/// One pooled easy handle with its buffers; aborts and frees it at the end of its life.
@safe final class CurlTransfer {
    let handle: OpaquePointer
    /// What the handle points to; it must not go before the handle takes another.
    private(set) var url: CallURL?

    /// Nil if memory is out.
    init?(in loop: OpaquePointer) {
        guard let handle = unsafe ccurl_transfer_create(loop) else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe ccurl_transfer_destroy(handle) }

    /// Which call it works for.
    var slot: Int {
        get { unsafe ccurl_transfer_slot(handle) }
        set { unsafe ccurl_transfer_set_slot(handle, newValue) }
    }

    /// Where the next sending goes; the same URL again costs nothing.
    func setURL(_ url: CallURL) {
        if self.url === url { return }
        unsafe ccurl_transfer_set_url(handle, url.handle)
        self.url = url
    }

    /// Copies the body; false if memory is out.
    func setBody(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe ccurl_transfer_set_body(handle, $0.baseAddress, $0.count) }
    }

    /// Copies `count` lines that end with NUL each; false if memory is out.
    func setHeaders(_ lines: [UInt8], count: Int) -> Bool {
        unsafe lines.withUnsafeBytes {
            unsafe ccurl_transfer_set_headers(handle, $0.bindMemory(to: CChar.self).baseAddress, $0.count, count)
        }
    }

    /// Hands it to its pool; false if libcurl refuses.
    func start(_ sending: borrowing ccurl_sending) -> Bool {
        unsafe withUnsafePointer(to: sending) { unsafe ccurl_transfer_start(handle, $0) } == 0
    }

    /// Takes it out of its pool, running or not.
    func stop() { unsafe ccurl_transfer_stop(handle) }

    /// Makes it ready for another call and gives large buffers back.
    func clear() { unsafe ccurl_transfer_clear(handle) }
}
