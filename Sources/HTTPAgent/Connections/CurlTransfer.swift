// SPDX-License-Identifier: Apache-2.0
import CCurl
internal import Glibc
import JobModel

/// One pooled easy handle with its buffers. Its deinit aborts and frees it.
@safe final class CurlTransfer {
    let handle: OpaquePointer
    /// The pool of its transport; nil for default settings. The pool lives at least as long.
    unowned let pool: TransportPool?
    /// Whether it had parts or a cookie jar, of which libcurl keeps traces. Then it serves one call only.
    private(set) var isSpent = false
    private(set) var hasGzipBody = false
    /// The body that the handle points to. The array must live until the handle is cleared.
    private var lent: [UInt8] = []
    /// Bodies up to 64 KiB are copied into memory of the handle.
    private static let mostCopied = 64 << 10
    /// The URL that the handle points to. It must live until the handle gets another one.
    private(set) var url: CallURL?

    /// Creates a handle. Nil without memory.
    init?(in loop: CurlLoop, pool: TransportPool? = nil) {
        guard let handle = unsafe ccurl_transfer_create(loop.handle, pool?.handle) else { return nil }
        unsafe self.handle = handle
        self.pool = pool
    }

    deinit { unsafe ccurl_transfer_destroy(handle) }

    /// The slot of its call.
    var slot: Int {
        get { unsafe ccurl_transfer_slot(handle) }
        set { unsafe ccurl_transfer_set_slot(handle, newValue) }
    }

    /// Sets the URL of the next sending. The same URL again has no cost.
    func setURL(_ url: CallURL) {
        if self.url === url { return }
        unsafe ccurl_transfer_set_url(handle, url.handle)
        self.url = url
    }

    /// Sets how many bytes of the answer it may keep until it is given more.
    func setRoom(_ bytes: Int) { unsafe ccurl_transfer_set_room(handle, Int64(bytes)) }

    /// Removes and returns the body of the answer.
    func takeBody(_ count: Int) -> [UInt8] {
        // All empty arrays share one storage. Swift's library would write the length into it, in several threads at once.
        guard count > 0 else {
            unsafe ccurl_transfer_take_body(handle, nil)
            return []
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            unsafe ccurl_transfer_take_body(handle, buffer.baseAddress)
            initialized = count
        }
    }

    /// Copies the body. A large one is kept alive instead. False without memory.
    func setBody(_ bytes: [UInt8]) -> Bool {
        if bytes.count > CurlTransfer.mostCopied {
            lent = bytes
            // The array stays alive and unchanged until the handle is cleared, and so do its bytes.
            unsafe lent.withUnsafeBufferPointer { unsafe ccurl_transfer_lend_body(handle, $0.baseAddress, $0.count) }
            return true
        }
        return unsafe bytes.withUnsafeBufferPointer { unsafe ccurl_transfer_set_body(handle, $0.baseAddress, $0.count) }
    }

    /// Sets the body in gzip. False without memory.
    func setGzipBody(_ bytes: [UInt8]) -> Bool {
        hasGzipBody = true
        return unsafe bytes.withUnsafeBufferPointer {
            unsafe ccurl_transfer_set_gzip_body(handle, $0.baseAddress, $0.count)
        }
    }

    /// Adds a part with a copy of these bytes, or with a file, which must live as long. False without memory.
    func addPart(_ part: BodyPart, filename: String?, type: String?, bytes: [UInt8], file: UploadFile?) -> Bool {
        isSpent = true
        var texts = CStrings()
        let start = (name: texts.add(part.name), filename: texts.add(filename), type: texts.add(type))
        return unsafe texts.bytes.withUnsafeBufferPointer { block in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                guard let base = block.baseAddress, let name = start.name else { return false }
                var c = unsafe ccurl_form_part(
                    name: base + name, filename: start.filename.map { unsafe base + $0 },
                    type: start.type.map { unsafe base + $0 }, file: file?.handle, bytes: bytes.baseAddress,
                    length: bytes.count
                )
                return unsafe ccurl_transfer_add_part(handle, &c)
            }
        }
    }

    /// Gives it a jar with only these lines. False without memory.
    func setCookies(_ lines: [String]) -> Bool {
        isSpent = true
        var texts = CStrings()
        for line in lines { texts.add(CookieText.encode(line)) }
        return unsafe texts.bytes.withUnsafeBufferPointer {
            unsafe ccurl_transfer_set_cookies(handle, $0.baseAddress, lines.count)
        }
    }

    /// Adds a value to the Cookie header, in addition to the jar's cookies. False without memory.
    func setOwnCookies(_ value: String?) -> Bool { unsafe ccurl_transfer_set_own_cookies(handle, value) }

    /// The lines of the jar.
    var cookies: [String] {
        let list = unsafe ccurl_transfer_cookies(handle)
        defer { unsafe curl_slist_free_all(list) }
        var lines: [String] = []
        var node = unsafe list
        while let line = unsafe node {
            if let data = unsafe line.pointee.data {
                unsafe lines.append(CookieText.decode(UnsafeRawBufferPointer(start: data, count: strlen(data))))
            }
            unsafe node = line.pointee.next
        }
        return lines
    }

    /// Copies `count` lines, each of which ends with NUL. False without memory.
    func setHeaders(_ lines: [UInt8], count: Int) -> Bool {
        unsafe lines.withUnsafeBytes {
            unsafe ccurl_transfer_set_headers(handle, $0.bindMemory(to: CChar.self).baseAddress, $0.count, count)
        }
    }

    /// Adds it to its pool, which sends it. False if libcurl refuses.
    func start(_ sending: borrowing ccurl_sending) -> Bool {
        unsafe withUnsafePointer(to: sending) { unsafe ccurl_transfer_start(handle, $0) } == 0
    }

    /// Sets the address of the host for the next sending, as an entry of CURLOPT_RESOLVE. False without memory.
    func setFound(_ entry: UnsafePointer<CChar>?) -> Bool { unsafe ccurl_transfer_set_found(handle, entry) }

    /// Removes it from its pool, running or not.
    func stop() { unsafe ccurl_transfer_stop(handle) }

    /// The facts about its sending. Its pointers are valid until the next change of the transfer.
    var result: ccurl_result { unsafe ccurl_transfer_result(handle) }

    /// Prepares it for another call, and frees large buffers.
    func clear() {
        hasGzipBody = false
        unsafe ccurl_transfer_clear(handle)
        lent = []
    }
}
