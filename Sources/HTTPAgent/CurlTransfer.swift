// SPDX-License-Identifier: Apache-2.0
import CCurl
internal import Glibc
import JobModel

/// One pooled easy handle with its buffers; aborts and frees it at the end of its life.
@safe final class CurlTransfer {
    let handle: OpaquePointer
    /// Where it belongs; nil: the plain way. The pool lives at least as long.
    unowned let pool: TransportPool?
    /// It has parts or a jar, of which libcurl keeps traces: good for one call only.
    private(set) var isSpent = false
    /// The body is gzip.
    private(set) var hasGzipBody = false
    /// The body that the handle points to.
    private var lent: [UInt8] = []
    /// Up to 64 KiB a body is copied into memory that the handle keeps.
    private static let copied = 64 << 10
    /// What the handle points to; it must not go before the handle takes another.
    private(set) var url: CallURL?

    /// Nil if memory is out.
    init?(in loop: OpaquePointer, pool: TransportPool? = nil) {
        guard let handle = unsafe ccurl_transfer_create(loop, pool?.handle) else { return nil }
        unsafe self.handle = handle
        self.pool = pool
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

    /// How many bytes of the answer it may keep until it is given more.
    func setRoom(_ bytes: Int) { unsafe ccurl_transfer_set_room(handle, Int64(bytes)) }

    /// The answer's body, of which the handle keeps nothing.
    func takeBody(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            if let base = buffer.baseAddress { unsafe ccurl_transfer_take_body(handle, base) }
            initialized = count
        }
    }

    /// Copies the body, or keeps it alive if it is large; false if memory is out.
    func setBody(_ bytes: [UInt8]) -> Bool {
        if bytes.count > CurlTransfer.copied {
            lent = bytes
            // The array lives, unchanged, until the handle is cleared: so do its bytes.
            unsafe lent.withUnsafeBufferPointer { unsafe ccurl_transfer_lend_body(handle, $0.baseAddress, $0.count) }
            return true
        }
        return unsafe bytes.withUnsafeBufferPointer { unsafe ccurl_transfer_set_body(handle, $0.baseAddress, $0.count) }
    }

    /// Keeps the body in gzip; false if memory is out.
    func setGzipBody(_ bytes: [UInt8]) -> Bool {
        hasGzipBody = true
        return unsafe bytes.withUnsafeBufferPointer {
            unsafe ccurl_transfer_set_gzip_body(handle, $0.baseAddress, $0.count)
        }
    }

    /// Adds a part with a copy of these bytes, or with a file, which is to live as long; false if memory is out.
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

    /// Gives it a jar of these lines alone; false if memory is out.
    func setCookies(_ lines: [String]) -> Bool {
        isSpent = true
        var texts = CStrings()
        for line in lines { texts.add(CookieText.encode(line)) }
        return unsafe texts.bytes.withUnsafeBufferPointer {
            unsafe ccurl_transfer_set_cookies(handle, $0.baseAddress, lines.count)
        }
    }

    /// What goes into the Cookie header beside the jar's; false if memory is out.
    func setOwnCookies(_ value: String?) -> Bool { unsafe ccurl_transfer_set_own_cookies(handle, value) }

    /// The jar's lines.
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

    /// Says where the next sending finds its host, as an entry of CURLOPT_RESOLVE; false if memory is out.
    func setFound(_ entry: UnsafePointer<CChar>?) -> Bool { unsafe ccurl_transfer_set_found(handle, entry) }

    /// Takes it out of its pool, running or not.
    func stop() { unsafe ccurl_transfer_stop(handle) }

    /// Makes it ready for another call and gives large buffers back.
    func clear() {
        hasGzipBody = false
        unsafe ccurl_transfer_clear(handle)
        lent = []
    }
}
