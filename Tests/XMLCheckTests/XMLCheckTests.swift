// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import XMLCheck

struct XMLCheckTests {
    @Test(arguments: [
        "<a/>", "<?xml version=\"1.0\"?>\n<!-- c --><a b='1'>x &amp; y &#228;<![CDATA[<]]></a>\n",
        "<a xml:lang='de'>ü</a>",
        "<p:a/>", "<a xmlns='urn:x'><b/></a>", "<!DOCTYPE a [<!ENTITY e 'text'>]><a b='&e;'>&e;</a>",
        "<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/none.dtd'><a>&unknown;</a>", "<a>\u{1F600}</a>",
    ])
    func `a well-formed document has no defect`(document: String) {
        #expect(XMLCheck.defect(of: [UInt8](document.utf8)) == nil)
    }

    @Test(arguments: [
        ("", "no root"), ("   ", "no root"), ("text", "no root"), ("{\"a\": 1}", "no root"), ("<a>", "ends inside"),
        ("<a>\n<b>\n</a>", "line 3: an element is closed"), ("<a/><b/>", "follows the root"), ("<a b=1/>", "attribute"),
        ("<a b='1' b='2'/>", "attribute"), ("<a>&nope;</a>", "not declared"), ("<a>\u{1}</a>", "character"),
        ("<a>&#0;</a>", "character"), ("<a b='<'/>", "contains <"), ("<a><!-- </a>", "not closed"),
        ("\n<?xml version='1.0'?><a/>", "line 2: the XML declaration"),
        ("<?xml version='1.0' encoding='klingon'?><a/>", "not known"),
        ("<html><br></html>", "closed by the end tag"), ("<!DOCTYPE html><html><p>x</html>", "closed by the end tag"),
    ])
    func `the first defect of a malformed document is described with its line`(document: String, words: String) {
        let defect = XMLCheck.defect(of: [UInt8](document.utf8))
        #expect(defect?.contains(words) == true, "\(defect ?? "none")")
    }

    @Test func `bytes that are invalid in their charset are a defect and not a crash`() {
        #expect(XMLCheck.defect(of: [0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E])?.contains("charset") == true)
        #expect(XMLCheck.defect(of: [0]) != nil)
        #expect(XMLCheck.defect(of: [0x3C, 0x61, 0x3E, 0, 0x3C, 0x2F, 0x61, 0x3E]) != nil)
        #expect(XMLCheck.defect(of: [0xFE, 0xFF]) != nil)
        #expect(XMLCheck.defect(of: [UInt8]("<a/>\0garbage<<".utf8))?.contains("character") == true)
        #expect(XMLCheck.defect(of: [UInt8]("<a/>\0".utf8)) != nil)
        let large = [UInt8](("<a>" + String(repeating: "x", count: 20_000) + "</a>\n").utf8)
        #expect(XMLCheck.defect(of: large) == nil && XMLCheck.defect(of: large + [0] + large) != nil)
        #expect(XMLCheck.defect(of: [0xEF, 0xBB, 0xBF]) != nil)
        #expect(XMLCheck.defect(of: (0..<255).map { UInt8($0) }) != nil)
    }

    @Test func `the server's charset overrides the document's charset, and a byte order mark overrides both`() {
        let latin = [UInt8]("<?xml version='1.0' encoding='utf-8'?><a>".utf8) + [0xFC] + [UInt8]("</a>".utf8)
        #expect(XMLCheck.defect(of: latin) != nil)
        #expect(XMLCheck.defect(of: latin, charset: "iso-8859-1") == nil)
        #expect(XMLCheck.defect(of: latin, charset: "klingon") != nil)
        let declared = [UInt8]("<?xml version='1.0' encoding='iso-8859-1'?><a>".utf8) + [0xFC] + [UInt8]("</a>".utf8)
        #expect(XMLCheck.defect(of: declared) == nil)
        #expect(XMLCheck.defect(of: declared, charset: "utf-8") != nil)
        let marked = [0xEF, 0xBB, 0xBF] + [UInt8]("<a>ü</a>".utf8)
        #expect(XMLCheck.defect(of: marked, charset: "utf-16") == nil)
        let wide =
            [0xFF, 0xFE]
            + "<a>ü</a>".utf16.flatMap { (unit: UInt16) -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        #expect(XMLCheck.defect(of: wide) == nil)
        #expect(XMLCheck.defect(of: wide, charset: "utf-8") == nil)
        let sjis: [UInt8] = [0x3C, 0x61, 0x3E, 0x93, 0xFA, 0x96, 0x7B, 0x3C, 0x2F, 0x61, 0x3E]
        #expect(XMLCheck.defect(of: sjis, charset: "shift_jis") == nil)
    }

    @Test func `the XML check expands no entity and reads no file or URL`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, "<!ENTITY x 'y'>") }
        let laughs = (1...40).map { "<!ENTITY e\($0) '\(String(repeating: "&e\($0 - 1);", count: 10))'>" }.joined()
        let quadratic =
            "<!DOCTYPE a [<!ENTITY e '\(String(repeating: "x", count: 100_000))'>]><a>"
            + String(repeating: "&e;", count: 100_000) + "</a>"
        let documents = [
            "<!DOCTYPE a [<!ENTITY e0 'ha'>\(laughs)]><a>&e40;</a>",
            "<!DOCTYPE a [<!ENTITY e0 'ha'>\(laughs)]><a b='&e40;'/>",
            quadratic, "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
            "<!DOCTYPE a [<!ENTITY e SYSTEM '\(target.url)/e'>]><a>&e;</a>",
            "<!DOCTYPE a SYSTEM '\(target.url)/dtd'><a/>",
            "<!DOCTYPE a [<!ENTITY % p SYSTEM '\(target.url)/p'> %p;]><a/>",
            "<!DOCTYPE a [<!ENTITY % p '<!ENTITY &#37; q \"x\">'> %p; %q;]><a/>",
            "<?xml-stylesheet href='\(target.url)/s'?><a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='\(target.url)/x'/></a>",
        ]
        for document in documents { #expect(XMLCheck.defect(of: [UInt8](document.utf8)) == nil) }
        #expect(
            XMLCheck.defect(of: [UInt8]("<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a b='&e;'/>".utf8))
                != nil)
        #expect(target.requests.isEmpty)
    }

    @Test func `the XML check of deep or very large hostile documents ends`() {
        let deep = String(repeating: "<a>", count: 1_000_000)
        #expect(XMLCheck.defect(of: [UInt8](deep.utf8))?.contains("256") == true)
        let row = "<row id='1'><name>Ada &amp; co</name><n>1</n></row>"
        let large = "<a>" + String(repeating: row, count: 10_000_000 / row.utf8.count) + "</a>"
        #expect(XMLCheck.defect(of: [UInt8](large.utf8)) == nil)
        let tokens = [
            "<a>" + String(repeating: "x", count: 20_000_000) + "</a>",
            "<a b='" + String(repeating: ">", count: 20_000_000) + "'/>",
            "<!--" + String(repeating: "-x", count: 5_000_000) + "--><a/>",
            "<" + String(repeating: "n", count: 10_000_000) + "/>",
            "<a " + (1...200_000).map { "b\($0)=''" }.joined(separator: " ") + "/>",
            "<a>" + (1...500_000).map { "<e\($0)/>" }.joined() + "</a>",
            "<!DOCTYPE a [" + (1...200_000).map { "<!ENTITY e\($0) ''>" }.joined() + "]><a/>",
        ]
        // Some texts are refused for their size, and some are read. The test only checks that each one ends.
        for token in tokens { _ = XMLCheck.defect(of: [UInt8](token.utf8)) }
    }
}
