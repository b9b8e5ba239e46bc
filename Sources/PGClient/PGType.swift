// SPDX-License-Identifier: Apache-2.0

/// The object ids of the types that parameters are sent as (`pg_type.oid`, fixed by PostgreSQL).
public struct PGType: RawRepresentable, Hashable, Sendable {
    /// The oid; 0 lets the server infer the type.
    public let rawValue: UInt32

    /// Any oid.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The server infers the type.
    public static let unspecified = PGType(rawValue: 0)
    /// `bool`.
    public static let bool = PGType(rawValue: 16)
    /// `bytea`.
    public static let bytea = PGType(rawValue: 17)
    /// `"char"`.
    public static let char = PGType(rawValue: 18)
    /// `int8`.
    public static let int8 = PGType(rawValue: 20)
    /// `int2`.
    public static let int2 = PGType(rawValue: 21)
    /// `int4`.
    public static let int4 = PGType(rawValue: 23)
    /// `text`.
    public static let text = PGType(rawValue: 25)
    /// `float8`.
    public static let float8 = PGType(rawValue: 701)
    /// `timestamptz`.
    public static let timestamptz = PGType(rawValue: 1184)
    /// `uuid`.
    public static let uuid = PGType(rawValue: 2950)
    /// `jsonb`.
    public static let jsonb = PGType(rawValue: 3802)

    /// `bool[]`.
    public static let boolArray = PGType(rawValue: 1000)
    /// `bytea[]`.
    public static let byteaArray = PGType(rawValue: 1001)
    /// `int2[]`.
    public static let int2Array = PGType(rawValue: 1005)
    /// `int4[]`.
    public static let int4Array = PGType(rawValue: 1007)
    /// `text[]`.
    public static let textArray = PGType(rawValue: 1009)
    /// `int8[]`.
    public static let int8Array = PGType(rawValue: 1016)
    /// `float8[]`.
    public static let float8Array = PGType(rawValue: 1022)
    /// `timestamptz[]`.
    public static let timestamptzArray = PGType(rawValue: 1185)
}
