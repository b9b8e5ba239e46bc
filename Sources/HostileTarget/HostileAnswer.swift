// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The answer of a `HostileServer` for each path.
///
/// | path | answer |
/// |---|---|
/// | /ok | 200 and `ok`, connection kept |
/// | /echo | 200 and the request, head and body, as it came |
/// | /reset, /empty | the connection is reset or closed before a byte of an answer |
/// | /second-reset, /second-empty | 200 for the first request of this path, that end for each later one |
/// | /cut-headers, /cut-line, /only-interim | the end comes after a header line, inside one, or after a 1xx answer |
/// | /cut-length, /cut-chunks | the body stops before its end |
/// | /endless | chunks without end |
/// | /bomb | 1 GiB of zeros in 1 MB of gzip |
/// | /bad-gzip, /bad-chunk | a body that cannot be decoded |
/// | /huge-headers, /huge-header | 1 MB of header lines; one line of 200 KB |
/// | /many-headers | 300 × `X-Dup: n` |
/// | /folded, /interim | a folded header line; two 1xx answers before the real one |
/// | /endless-interim | 1xx answers without end |
/// | /nul | a body of NUL, 0xFF and `\u0000` |
/// | /garbage | no HTTP at all |
/// | /silent | nothing, until the client goes |
/// | /drip | headers, then one byte every 200 ms |
/// | /status?code=&retry-after= | that status, with that header |
/// | /two-lengths, /length-twice | `Content-Length` twice, with two values or with one |
/// | /negative-length, /huge-length | -1 as the length, or 23 digits |
/// | /length-list, /length-comma, /length-hex | a length of `5, 10`, `1,000` or `0x2` |
/// | /lengths-alike | a length of `2, 2` |
/// | /length-and-chunks | a length together with chunks |
/// | /endless-line, /endless-trailers | a status line, or trailers behind a body, without end |
/// | /endless-extension | a chunk whose extension has no end, a little at a time |
/// | /padded-gzip | `ok` in gzip, and zeros without end behind it |
/// | /huge-chunk | a chunk whose length has 68 bits |
/// | /stacked | six encodings, one in the other |
/// | /nul-header, /bare-return, /odd-name | NUL, a lone CR in a value; a name with spaces |
/// | /switch, /odd-version | an unrequested 101; HTTP/7.3 |
/// | /disposition | `ok`, with a Content-Disposition that names a file outside of the directory |
/// | /redirect?status=&to= | a redirect; `to` is sent as it stands |
/// | /location?status=&to= | a redirect; `to` is percent-decoded before |
/// | /cookies?to= | a redirect that sets a cookie of its own and one of another domain |
/// | /loop | a redirect to itself |
enum HostileAnswer {
    /// Writes the answer. False if the connection must be closed afterwards.
    ///
    /// - Parameter count: how many requests for this path have arrived, including this one.
    static func write(
        path: String, request: HostileConnection.Request, count: Int, to connection: HostileConnection
    ) -> Bool {
        switch path {
        case "/ok": return plain("ok", connection)
        case "/echo": return plain(request.method == "HEAD" ? [] : request.bytes, connection)
        case "/nul": return plain([0, 0xFF, 0xFE] + [UInt8]("{\"a\":\"\\u0000\"}".utf8) + [0], connection)
        case "/status": return status(request, connection)
        case "/redirect": return redirect(request, to: request.bytes(of: "to") ?? [47], connection)
        case "/location": return redirect(request, to: request.decodedBytes(of: "to") ?? [47], connection)
        case "/cookies":
            let lines = "Set-Cookie: own=1\r\nSet-Cookie: foreign=1; Domain=example.org\r\n"
            return redirect(request, to: request.bytes(of: "to") ?? [47], adding: lines, connection)
        case "/loop": return connection.write("HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n")
        case "/many-headers":
            let lines = (1...300).map { "X-Dup: \($0)\r\n" }.joined()
            return connection.write("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        case "/folded":
            return connection.write("HTTP/1.1 200 OK\r\nX-Fold: one\r\n  two\r\nContent-Length: 0\r\n\r\n")
        case "/bare-return":
            return connection.write(
                "HTTP/1.1 200 OK\r\nX-Odd: a\rX-Injected: b\r\nContent-Length: 2\r\n\r\nok")
        case "/odd-name":
            return connection.write(
                "HTTP/1.1 200 OK\r\nX Injected : b\r\nX-Fine: c\r\nContent-Length: 2\r\n\r\nok")
        case "/disposition":
            return connection.write(
                "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"../../outside\"\r\n"
                    + "Content-Length: 2\r\n\r\nok")
        case "/interim":
            return connection.write(
                "HTTP/1.1 102 Processing\r\nX-Hint: no\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: no\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nX-Final: yes\r\nContent-Length: 2\r\n\r\nok")
        case "/second-reset", "/second-empty":
            if count == 1 { return plain("ok", connection) }
            if path == "/second-reset" { connection.reset() }
            return false
        default:
            end(path, connection)
            return false
        }
    }

    /// Writes an answer that ends with its connection.
    private static func end(_ path: String, _ connection: HostileConnection) {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
        switch path {
        case "/reset": connection.reset()
        case "/empty": break
        case "/cut-headers": connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        case "/cut-line": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1")
        case "/only-interim": connection.write("HTTP/1.1 102 Processing\r\nX-Hint: no\r\n\r\n")
        case "/cut-length": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
        case "/two-lengths": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!")
        case "/huge-length":
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nok")
        case "/length-list": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5, 10\r\n\r\nhelloworld")
        case "/length-comma":
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1,000\r\n\r\n\(String(repeating: "a", count: 1_000))")
        case "/length-hex": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok")
        case "/lengths-alike": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok")
        case "/negative-length": connection.write("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok")
        case "/length-and-chunks":
            connection.write(chunked + "Content-Length: 1000\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        case "/huge-chunk": connection.write(chunked + "\r\n80000000000000002\r\nok\r\n0\r\n\r\n")
        case "/stacked":
            let encodings = [String](repeating: "gzip", count: 6).joined(separator: ", ")
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: \(encodings)\r\nContent-Length: 2\r\n\r\nok")
        case "/nul-header":
            connection.write("HTTP/1.1 200 OK\r\nX-Odd: a\0b\r\nContent-Length: 2\r\n\r\nok")
        case "/switch":
            connection.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nno HTTP")
        case "/odd-version": connection.write("HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\nok")
        case "/length-twice": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok")
        case "/cut-chunks": connection.write(chunked + "\r\n9\r\nonly this\r\n")
        case "/bad-chunk": connection.write(chunked + "\r\nxyz\r\nno length\r\n")
        case "/bad-gzip":
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip")
        case "/garbage": connection.write("220 mail.example.com ESMTP\r\nwhat do you want\r\n")
        case "/silent": connection.waitForClose()
        case "/huge-header":
            connection.write("HTTP/1.1 200 OK\r\nX-Big: \(String(repeating: "a", count: 200_000))\r\n\r\n")
        case "/huge-headers":
            connection.write("HTTP/1.1 200 OK\r\n")
            let line = "X-Big: \(String(repeating: "a", count: 1_000))\r\n"
            for _ in 0..<1_000 { guard connection.write(line) else { return } }
        case "/endless-interim": while connection.write("HTTP/1.1 102 Processing\r\nX-Pad: again and again\r\n\r\n") {}
        case "/endless":
            guard connection.write(chunked + "\r\n") else { return }
            let chunk = "1000\r\n" + String(repeating: "a", count: 0x1000) + "\r\n"
            while connection.write(chunk) {}
        case "/endless-line":
            guard connection.write("HTTP/1.1 200 ") else { return }
            while connection.write(String(repeating: "a", count: 0x1000)) {}
        case "/endless-trailers":
            guard connection.write(chunked + "\r\n2\r\nok\r\n0\r\n") else { return }
            while connection.write("X-Pad: again and again\r\n") {}
        case "/endless-extension":
            guard connection.write(chunked + "\r\n2;") else { return }
            while connection.write("a") { usleep(1_000) }
        case "/padded-gzip":
            guard connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n") else { return }
            guard connection.write(GzipBomb.ok) else { return }
            let zeros = [UInt8](repeating: 0, count: 0x1000)
            while connection.write(zeros) {}
        case "/bomb": bomb(connection)
        case "/drip":
            guard connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n") else { return }
            while connection.write("a") { usleep(200_000) }
        default: connection.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
    }

    private static func bomb(_ connection: HostileConnection) {
        guard connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n") else {
            return
        }
        guard send(GzipBomb.head, connection) else { return }
        let block = GzipBomb.block
        for _ in 0..<(1 << 30) / GzipBomb.blockSize { guard send(block, connection) else { return } }
    }

    private static func send(_ bytes: [UInt8], _ connection: HostileConnection) -> Bool {
        connection.write([UInt8]((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + [13, 10])
    }

    private static func plain(_ body: String, _ connection: HostileConnection) -> Bool {
        plain([UInt8](body.utf8), connection)
    }

    private static func plain(_ body: [UInt8], _ connection: HostileConnection) -> Bool {
        connection.write([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    }

    private static func status(_ request: HostileConnection.Request, _ connection: HostileConnection) -> Bool {
        let wait = request.argument("retry-after").map { "Retry-After: \($0)\r\n" } ?? ""
        return connection.write("HTTP/1.1 \(request.argument("code") ?? "200") X\r\n\(wait)Content-Length: 0\r\n\r\n")
    }

    private static func redirect(
        _ request: HostileConnection.Request, to location: [UInt8], adding lines: String = "",
        _ connection: HostileConnection
    ) -> Bool {
        let status = request.argument("status") ?? "302"
        let head = "HTTP/1.1 \(status) X\r\nLocation: "
        let rest = "\r\nX-Hop: 1\r\n\(lines)Content-Length: 0\r\n\r\n"
        return connection.write([UInt8](head.utf8) + location + [UInt8](rest.utf8))
    }
}
