// SPDX-License-Identifier: Apache-2.0

import Foundation
import Migrations
import Testing

struct MigrationListTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("migrations")

    private static func onDisk() throws -> Set<String> {
        let paths = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return Set(paths.filter { $0.hasSuffix(".sql") })
    }

    @Test func `the binary contains each SQL file of the migrations folder once`() throws {
        #expect(Set(Migrations.all.map(\.name)) == (try Self.onDisk()))
        #expect(Migrations.all.count == Set(Migrations.all.map(\.name)).count)
    }

    @Test func `each file in the binary has the same bytes as on disk`() throws {
        for file in Migrations.all {
            let text = try Array(Data(contentsOf: Self.folder.appendingPathComponent(file.name)))
            let isSame = text == file.bytes
            #expect(isSame, "\(file.name)")
        }
    }

    @Test func `no migration file begins or ends a transaction`() {
        let words = ["begin;", "commit;", "rollback;", "start transaction;", "end transaction;"]
        for file in Migrations.all {
            let lines = String(decoding: file.bytes, as: UTF8.self).lowercased().split(separator: "\n")
            #expect(!lines.contains { words.contains(String($0)) }, "\(file.name)")
        }
    }
}
