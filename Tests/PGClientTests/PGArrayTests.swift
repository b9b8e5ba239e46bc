// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

struct PGArrayTests {
    @Test(arguments: [0, 1, 64, 5000])
    func `arrays of every type keep their values, their NULLs and their order`(count: Int) throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        try connection.execute(
            "create table t (a int8, b int4, c int2, d text, e bytea, f bool, g float8, h timestamptz)")
        var ids = PGArrayBuilder<Int64>()
        var int4s = PGArrayBuilder<Int32>()
        var int2s = PGArrayBuilder<Int16>()
        var texts = PGArrayBuilder<String>()
        var bodies = PGArrayBuilder<[UInt8]>()
        var flags = PGArrayBuilder<Bool>()
        var floats = PGArrayBuilder<Double>()
        var times = PGArrayBuilder<PGTimestamp>()
        for index in 0..<count {
            ids.append(Int64(index) << 32)
            // Every third row is NULL in all columns except the first.
            if index % 3 == 2 {
                int4s.appendNull()
                int2s.appendNull()
                texts.appendNull()
                bodies.appendNull()
                flags.appendNull()
                floats.appendNull()
                times.appendNull()
                continue
            }
            int4s.append(Int32(-index))
            int2s.append(Int16(index))
            texts.append("text \(index) é")
            bodies.append([0, UInt8(index % 256), 0])
            flags.append(index.isMultiple(of: 2))
            floats.append(Double(index) / 4)
            times.append(PGTimestamp(microseconds: Int64(index)))
        }
        var parameters = PGParameters()
        parameters.append(array: ids)
        parameters.append(array: int4s)
        parameters.append(array: int2s)
        parameters.append(array: texts)
        parameters.append(array: bodies)
        parameters.append(array: flags)
        parameters.append(array: floats)
        parameters.append(array: times)
        _ = try connection.query(
            "insert into t select * from unnest($1, $2, $3, $4, $5, $6, $7, $8)", &parameters)

        let rows = try connection.query("select * from t order by a")
        #expect(rows.rowCount == count)
        var wrong = 0
        for index in 0..<count {
            var isRight = rows.int64(index, 0) == Int64(index) << 32
            if index % 3 == 2 {
                for column in 1..<8 { isRight = isRight && rows.isNull(index, column) }
            } else {
                isRight =
                    isRight && rows.int32(index, 1) == Int32(-index) && rows.int16(index, 2) == Int16(index)
                    && rows.text(index, 3) == "text \(index) é"
                    && rows.bytes(index, 4) == [0, UInt8(index % 256), 0]
                    && rows.bool(index, 5) == index.isMultiple(of: 2) && rows.float8(index, 6) == Double(index) / 4
                    && rows.timestamp(index, 7).microseconds == Int64(index)
            }
            if !isRight { wrong += 1 }
        }
        #expect(wrong == 0)

        let arrays = try connection.query(
            "select coalesce(array_agg(a order by a), '{}'), coalesce(array_agg(b order by a), '{}'), "
                + "coalesce(array_agg(d order by a), '{}') from t")
        let sentIDs: [Int64] = (0..<count).map { Int64($0) << 32 }
        let sentInts: [Int32] = (0..<count).map { index in index % 3 == 2 ? 0 : Int32(-index) }
        let sentTexts: [String] = (0..<count).map { index in index % 3 == 2 ? "" : "text \(index) é" }
        #expect(arrays.int64s(0, 0) == sentIDs)
        #expect(arrays.int32s(0, 1) == sentInts)
        #expect(arrays.texts(0, 2) == sentTexts)
    }

    @Test func `array builders and parameters can be reused after removeAll`() throws {
        let connection = try PGConnection(TestCluster.shared.connectionString())
        var ids = PGArrayBuilder<Int64>()
        var parameters = PGParameters()
        for round in 1...3 as ClosedRange<Int64> {
            ids.removeAll()
            parameters.removeAll()
            if round == 2 { ids.appendNull() } else { ids.append(round) }
            parameters.append(array: ids)
            parameters.append(text: "round \(round)")
            let rows = try connection.query("select $1::int8[], $2::text, array_position($1, null)", &parameters)
            #expect(rows.int64s(0, 0) == [round == 2 ? 0 : round])
            #expect(rows.text(0, 1) == "round \(round)")
            #expect(rows.isNull(0, 2) == (round != 2))
        }
    }

    @Test func `borrowed bytes equal the server's value and end with a NUL`() throws {
        let connection = try PGConnection(TestCluster.shared.connectionString())
        let rows = try connection.query("select '\\x610062'::bytea, null::bytea")
        let lent = unsafe rows.withUnsafeBytes(0, 0) {
            unsafe Array(UnsafeRawBufferPointer(start: $0.baseAddress, count: 4))
        }
        #expect(lent == [0x61, 0, 0x62, 0])
        let counts = [0, 1].map { column in unsafe rows.withUnsafeBytes(0, column) { $0.count } }
        #expect(counts == [3, 0])
    }

    @Test(arguments: [0, 1, 64, 5000])
    func `an array of rows keeps the values, NULLs and order of every field`(count: Int) throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        try connection.execute(
            """
            create type r as (a int8, b int4, c int2, d text, e bytea, f bool, g "char", h jsonb);
            create table t of r
            """)
        var rows = PGRowArrayBuilder(fields: 8)
        for round in 1...2 {
            rows.removeAll()
            for index in 0..<count {
                let isNull = index % 3 == 2
                rows.beginRow()
                rows.append(int64: Int64(index) << 32)
                rows.append(int32: isNull ? nil : Int32(-index))
                rows.append(int16: isNull ? nil : Int16(index))
                rows.append(text: isNull ? nil : "text \(index) é")
                rows.append(bytes: isNull ? nil : [0, UInt8(index % 256), 0])
                rows.append(bool: isNull ? nil : index.isMultiple(of: 2))
                rows.append(letter: isNull ? nil : "x")
                rows.appendNull(.jsonb)
                rows.endRow()
            }
            #expect(rows.count == count)
            var parameters = PGParameters()
            parameters.append(rows: rows)
            parameters.append(int32: Int32(round))
            _ = try connection.query("insert into t select x.* from unnest($1::r[]) x where $2 > 0", &parameters)
        }
        let wrong = try connection.query(
            """
            select count(*) from (select *, row_number() over (order by a, ctid) - 1 as n from t) t
             cross join lateral (select t.n / 2 as i) i
             where t.a <> i.i << 32
                or case when i.i % 3 = 2 then num_nonnulls(b, c, d, e, f, g) > 0
                   else (b, c, d, e, f, g) is distinct from
                        (-i.i::int, i.i::int2, format('text %s é', i.i), decode('00' || lpad(to_hex(i.i % 256), 2, '0') || '00', 'hex'),
                         i.i % 2 = 0, 'x'::"char") end or h is not null
            """)
        #expect(wrong.int64(0, 0) == 0)
        #expect(try connection.query("select count(*) from t").int64(0, 0) == Int64(2 * count))
    }
}
