// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WorkerCLI

/// `worker submit --curl`: the columns of the job of a curl command, and the refusals.
struct CurlLineTests {
    private static let files: [String: [UInt8]] = [
        "body.txt": Array("a=1\r\nb=2\n".utf8), "data.bin": [0, 1, 255], "dir/pic.PNG": [137, 80],
        "-": Array("from stdin".utf8), "pass.txt": Array("p w".utf8),
    ]

    private static func read(_ path: String) throws(CommandError) -> [UInt8] {
        guard let bytes = files[path] else { throw .usage("FILE \(quoted(path))", "is missing", "give a file") }
        return bytes
    }

    private static func sql(_ command: String) throws(CommandError) -> String {
        try CurlInsert.sql(CurlLine(command, read: read))
    }

    /// Columns and values of the INSERT, on one line. max_redirects of commands without -L is left out.
    private static func row(_ command: String) throws -> String {
        try sql(command).replacing("\n        ", with: " ").replacing("\n", with: " ")
            .replacing("insert into postrider.jobs ", with: "").replacing(" returning id", with: "")
            .replacing(", max_redirects)", with: ")").replacing(", 0)", with: ")")
    }

    private static let form = #"{"Content-Type": "application/x-www-form-urlencoded"}"#

    @Test(arguments: [
        ("curl https://h/a", "(url) values ('https://h/a')"),
        ("  /usr/bin/curl   'https://h/a?x=1&y=2'  ", "(url) values ('https://h/a?x=1&y=2')"),
        ("curl h.example/a", "(url) values ('http://h.example/a')"),
        ("curl --url https://h/", "(url) values ('https://h/')"),
        ("curl -- https://h/", "(url) values ('https://h/')"),
        ("curl -X DELETE https://h/", "(method, url) values ('DELETE', 'https://h/')"),
        ("curl -XPUT https://h/", "(method, url) values ('PUT', 'https://h/')"),
        ("curl -sSLXPATCH https://h/", "(method, url) values ('PATCH', 'https://h/')"),
        ("curl --request OPTIONS https://h/ -s --no-progress-meter", "(method, url) values ('OPTIONS', 'https://h/')"),
        ("curl -I https://h/", "(method, url) values ('HEAD', 'https://h/')"),
        (
            "curl -H 'A: b' -H \"C:  d e\" https://h/",
            #"(url, headers) values ('https://h/', '{"A": "b", "C": "d e"}')"#
        ),
        ("curl -HA:b https://h/", #"(url, headers) values ('https://h/', '{"A": "b"}')"#),
        ("curl -H 'A: 1' -H 'a: 2' https://h/", #"(url, headers) values ('https://h/', '{"A": ["1", "2"]}')"#),
        ("curl -H 'Empty;' -H 'Expect:' https://h/", #"(url, headers) values ('https://h/', '{"Empty": ""}')"#),
        ("curl -H 'Connection: keep-alive' -H 'Content-Length: 3' https://h/", "(url) values ('https://h/')"),
        (
            "curl -d a=1 -d b=2 https://h/",
            "(method, url, headers, body) values ('POST', 'https://h/', '\(form)', convert_to('a=1&b=2', 'UTF8'))"
        ),
        (
            "curl --data @body.txt https://h/",
            "(method, url, headers, body) values ('POST', 'https://h/', '\(form)', convert_to('a=1b=2', 'UTF8'))"
        ),
        (
            "curl -d@- -H Content-Type: https://h/",
            "(method, url, body) values ('POST', 'https://h/', convert_to('from stdin', 'UTF8'))"
        ),
        (
            "curl --data-raw @x -H 'content-type: text/plain' https://h/",
            #"(method, url, headers, body) values ('POST', 'https://h/', '{"content-type": "text/plain"}', convert_to('@x', 'UTF8'))"#
        ),
        (
            "curl --data-binary @data.bin https://h/",
            "(method, url, headers, body) values ('POST', 'https://h/', '\(form)', decode('0001ff', 'hex'))"
        ),
        (
            "curl --data-urlencode 'q=a b&c' --data-urlencode '=x=' --data-urlencode p@pass.txt --data-urlencode ü https://h/",
            "(method, url, headers, body) values ('POST', 'https://h/', '\(form)', convert_to('q=a+b%26c&x%3D&p=p+w&%C3%BC', 'UTF8'))"
        ),
        (
            #"curl --json '{"a":1}' https://h/"#,
            #"(method, url, headers, body) values ('POST', 'https://h/', '{"Accept": "application/json", "Content-Type": "application/json"}', convert_to('{"a":1}', 'UTF8'))"#
        ),
        (
            "curl --json '[1' --json ',2]' -H 'Accept: x/y' -X PUT https://h/",
            #"(method, url, headers, body) values ('PUT', 'https://h/', '{"Accept": "x/y", "Content-Type": "application/json"}', convert_to('[1,2]', 'UTF8'))"#
        ),
        (
            "curl -d '' https://h/",
            "(method, url, headers, body) values ('POST', 'https://h/', '\(form)', convert_to('', 'UTF8'))"
        ),
        ("curl -G -d a=1 --data-urlencode 'b=ü' 'https://h/p?x#f'", "(url) values ('https://h/p?x&a=1&b=%C3%BC#f')"),
        ("curl -G -I -d a=1 https://h/", "(method, url) values ('HEAD', 'https://h/?a=1')"),
        ("curl -u ada:s3cret https://h/", "(url) values ('https://ada:s3cret@h/')"),
        ("curl --user 'a d:p:w@/?' https://x:y@h:8/p", "(url) values ('https://a%20d:p%3Aw%40%2F%3F@h:8/p')"),
        (
            "curl -b 'a=1; b=2' -b c=3 https://h/",
            #"(url, headers) values ('https://h/', '{"Cookie": "a=1; b=2; c=3"}')"#
        ),
        (
            "curl -A me -e https://r/ --oauth2-bearer T https://h/",
            #"(url, headers) values ('https://h/', '{"User-Agent": "me", "Referer": "https://r/", "Authorization": "Bearer T"}')"#
        ),
        ("curl -m 12.5 https://h/", "(url, timeout) values ('https://h/', '12.5 s')"),
        ("curl -g 'https://h/{a}[1]'", "(url) values ('https://h/{a}[1]')"),
        ("curl 'http://[::1]:80/a'", "(url) values ('http://[::1]:80/a')"),
        (
            "curl -F a=1 -F 'b=<pass.txt' -F 'c=@dir/pic.PNG' https://h/",
            #"(method, url, body_parts) values ('POST', 'https://h/', '[{"name": "a", "content": "1"}, {"name": "b", "content": "p w"}, {"name": "c", "base64": "iVA=", "filename": "pic.PNG", "type": "image/png"}]')"#
        ),
        (
            #"curl -F 'a="x;y\"z";type=text/html' -F 'f=@data.bin;filename="n m";type=a/b' --form-string 's=@x;type=q' https://h/"#,
            #"(method, url, body_parts) values ('POST', 'https://h/', '[{"name": "a", "content": "x;y\"z", "type": "text/html"}, {"name": "f", "base64": "AAH/", "filename": "n m", "type": "a/b"}, {"name": "s", "content": "@x;type=q"}]')"#
                .replacing("values ('POST', 'https://h/', '", with: "values ('POST', 'https://h/', E'")
                .replacing("\\\"", with: "\\\\\"")
        ),
        ("curl \\\n  -X POST \\\r\n  https://h/", "(method, url) values ('POST', 'https://h/')"),
        (
            "curl https://h/ --data-raw $'it\\'s\\n\\x41\\101\\u00e9'",
            "(method, url, headers, body) values ('POST', 'https://h/', '\(form)', convert_to('it''s\nAAé', 'UTF8'))"
                .replacing("\n", with: " ")
        ),
        (
            #"curl https://h/ -d "a\"b\$c" -d 'd'\''e' -d f\ g -d '$x'"#,
            #"(method, url, headers, body) values ('POST', 'https://h/', '\#(form)', convert_to('a"b$c&d''e&f g&$x', 'UTF8'))"#
        ),
        ("curl https://h/ # a comment | with signs", "(url) values ('https://h/')"),
        ("curl https://h/$ -H 'A: '\"b\"c", #"(url, headers) values ('https://h/$', '{"A": "bc"}')"#),
        ("curl https://h/ --compressed -f -i -v -w '%{http_code}'", "(url) values ('https://h/')"),
    ]) func `a curl command becomes the row that sends the same request`(command: String, row: String) throws {
        #expect(try Self.row(command) == row)
    }

    @Test func `a job follows redirects only with -L`() throws {
        #expect(try Self.sql("curl https://h/").contains("(url, max_redirects)\nvalues ('https://h/',\n        0)"))
        #expect(try !Self.sql("curl -L https://h/").contains("max_redirects"))
        #expect(try Self.sql("curl --location --max-redirs 3 https://h/").contains("        3)"))
    }

    @Test(arguments: [
        (
            "wget https://h/",
            "--curl: the text does not begin with curl; give a command like 'curl -X POST https://api.example.com/ping'"
        ),
        (
            "",
            "--curl: the text does not begin with curl; give a command like 'curl -X POST https://api.example.com/ping'"
        ),
        ("curl", "--curl URL: it is missing; give one like https://api.example.com/ping"),
        (
            "curl -k https://h/",
            "--curl -k: a job always checks the certificate; leave it out; services.tls can name a CA"
        ),
        (
            "curl -sk https://h/",
            "--curl -k: a job always checks the certificate; leave it out; services.tls can name a CA"
        ),
        (
            "curl --bogus https://h/",
            "--curl \"--bogus\": the option is unknown or means nothing for a job; leave it out"
        ),
        ("curl -sQ https://h/", "--curl \"-Q\": the option is unknown or means nothing for a job; leave it out"),
        ("curl -X", "--curl -X: its value is missing; give one"),
        (
            "curl -X FOO https://h/",
            "--curl -X \"FOO\": it is not a method of a job; give one of GET, POST, HEAD, PUT, DELETE, PATCH, OPTIONS"
        ),
        ("curl https://h/ https://i/", "--curl URL: there is more than one; give one command for each URL"),
        ("curl ftp://h/", "--curl URL: a job calls http and https only; give such a URL"),
        (
            "curl 'https://h/{a,b}'",
            "--curl URL: curl takes its braces or brackets for a list of URLs; add -g, or encode them"
        ),
        ("curl -u ada https://h/", "--curl -u: the password is missing; give -u USER:PASSWORD"),
        (
            "curl -b jar.txt https://h/",
            "--curl -b: a file of cookies is not read; give cookies like -b 'id=7; theme=dark'"
        ),
        (
            "curl -H Accept: https://h/",
            "--curl -H 'accept:': a worker always sends this header; leave it out, or give a value"
        ),
        (
            "curl -H 'Host: x' https://h/",
            "--curl -H \"Host\": header Host belongs to the transport and is set by the worker itself; leave it out"
        ),
        ("curl -H nothing https://h/", "--curl -H: it has no colon; give one like -H 'Accept: application/json'"),
        (
            "curl -d a -F b=c https://h/",
            "--curl -F: a request cannot have a form of -F and data of -d; give one of them"
        ),
        ("curl -I -d a https://h/", "--curl -I: a HEAD request has no body; leave out -I or the body"),
        ("curl -G -F a=b https://h/", "--curl -G: the parts of -F cannot go into a URL; give -d instead of -F"),
        ("curl -F 'a=@x,y' https://h/", "--curl -F: a part cannot hold several files; give each file with -F"),
        (
            "curl -F 'a=b;c' https://h/",
            "--curl -F: only ;type= and ;filename= may follow a value; quote the value: -F 'a=\"x;y\"'"
        ),
        ("curl -d @missing https://h/", "FILE \"missing\": is missing; give a file"),
        ("curl -m soon https://h/", "--curl -m: \"soon\" is not a time; give seconds up to 86400, like 12.5"),
        ("curl 'https://h/", "--curl: a ' is not closed; close it before the end"),
        (
            "curl \"https://h/$ID\"",
            "--curl: $ stands for a value that only a shell knows; put the value in its place, or quote it with '…'"
        ),
        (
            "curl https://h/`id`",
            "--curl: a backquote stands for a value that only a shell knows; put the value in its place, or quote it with '…'"
        ),
        (
            "curl https://h/?a=1&b=2",
            "--curl: & without quotes has a meaning for a shell only; give the curl command alone, with its URL in quotes"
        ),
        (
            "curl https://h/ | jq .",
            "--curl: | without quotes has a meaning for a shell only; give the curl command alone, with its URL in quotes"
        ),
        ("curl https://h/ \\", "--curl: it ends with a backslash; remove it"),
        (
            "curl -d $'\\xff' https://h/",
            "--curl: a word is not UTF-8 text; give binary data in a file, like --data-binary @FILE"
        ),
    ]) func `a command that no job can follow is refused with the reason and a remedy`(command: String, message: String)
    {
        let error = #expect(throws: CommandError.self) { try Self.sql(command) }
        #expect(error?.exit == .usage)
        #expect(error?.message == message)
    }
}
