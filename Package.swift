// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every Swift target: language mode 6, all warnings are errors, and each
/// use of memory that the compiler cannot check is marked `unsafe` in the source.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// The C code uses GNU extensions, such as pipe2, asprintf, O_PATH and pthread_timedjoin_np. Warnings are errors.
let gnu: [CSetting] = [.define("_GNU_SOURCE"), .unsafeFlags(["-Wall", "-Wextra", "-Werror"])]

/// How the worker is linked: relocations in the short form and no table of exported symbols, together 0.9 MB that each start
/// reads and that stay mapped (docs/decisions/0028-linking.md). lld comes with Swift; its default here, gold, packs none.
let slim: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--no-export-dynamic"],
        .when(configuration: .release))
]

/// The tests of the whole product: workers, databases and servers together. One target for each group of topics. `make sanitize`
/// builds none of them.
let integrationTests: [Target] = [
    "Admin", "Callbacks", "Credentials", "Docs", "Insert", "Lanes", "Operations", "Outages", "Pages", "Queue", "Requests", "Roles",
    "Servers", "Storms", "Trees", "Workers",
].map { topic in
    .testTarget(
        name: "\(topic)IntegrationTests",
        dependencies: ["PGClient", "PrivateCluster", "JobStore", "JobModel", "HostileTarget", "TestSupport"],
        path: "Tests/Integration/\(topic)", swiftSettings: strict)
}

/// The modules that `Tests/Fuzz` gives outside bytes.
let fuzzed: [Target.Dependency] = [
    "Admin", "CCoding", "CCurl", "CFuzzFeeds", "CHTTPServer", "CPostgres", "Engine", "HTTPAgent", "JobModel", "JobStore", "OpenAPI",
    "PGClient", "SecretSealing", "WebhookSigning", "WorkerCLI", "XMLCheck",
]

/// `make fuzz` builds the targets of `Tests/Fuzz` as a program with libFuzzer, all other builds as a test of the kept inputs.
let fuzzTargets: [Target] =
    Context.environment["POSTRIDER_FUZZ"] == nil
    ? [
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["TestSupport"], path: "Tests/Fuzz",
            exclude: ["CFuzzFeeds", "Corpus", "Fuzzer", "SQL.txt"], swiftSettings: strict)
    ]
    : [
        .executableTarget(
            name: "fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["CFuzzFeeds", "Corpus", "Replay", "SQL.txt"], swiftSettings: strict),
    ]

/// A Swift target lists all that it may import; CI builds with the import check set to error.
let package = Package(
    name: "postrider",
    targets: [
        // 0: C only
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurlSystem", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCryptoSystem", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CCoding", dependencies: ["CZlib"], cSettings: gnu),
        .target(name: "CFiles", dependencies: ["CCryptoSystem"], cSettings: gnu),
        .target(name: "CResolver", cSettings: gnu),
        // libcurl uses libssl for TLS. idle.c asks libssl whether it holds bytes for a connection without a request.
        .target(
            name: "CCurl", dependencies: ["CCurlSystem", "CCryptoSystem", "CCoding", "CFiles", "CResolver"],
            cSettings: gnu + [.headerSearchPath(".")], linkerSettings: [.linkedLibrary("ssl")]),
        .target(name: "CLinux", cSettings: gnu),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CXMLSystem", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CHTTPServerSystem", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .target(name: "CHTTPServer", dependencies: ["CHTTPServerSystem"], cSettings: gnu),
        .target(name: "CXML", dependencies: ["CXMLSystem"], cSettings: gnu),
        .systemLibrary(name: "CYAMLSystem", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CYAML", dependencies: ["CYAMLSystem"], cSettings: gnu),

        // 1: each on its own
        .target(name: "JobModel", swiftSettings: strict),
        .target(name: "PGClient", dependencies: ["CPostgres"], swiftSettings: strict),
        .target(name: "Reactor", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "PrivateCluster", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "XMLCheck", dependencies: ["CXML"], swiftSettings: strict),
        .target(name: "HostileTarget", dependencies: ["Reactor"], swiftSettings: strict),
        // files.def and file.h are included, not compiled. #embed is C23, so clang would warn.
        .target(
            name: "CMigrations", exclude: ["file.h", "files.def"],
            cSettings: gnu + [.unsafeFlags(["-Wno-c23-extensions"])]),
        .target(name: "Migrations", dependencies: ["CMigrations"], swiftSettings: strict),

        // 2: database or HTTP, never both
        .target(name: "HTTPAgent", dependencies: ["JobModel", "CCurl", "CFiles", "CLinux", "CResolver"], swiftSettings: strict),
        .target(name: "OpenAPI", dependencies: ["JobModel", "CYAML"], swiftSettings: strict),
        .target(name: "WebhookSigning", dependencies: ["JobModel", "CCryptoSystem"], swiftSettings: strict),
        .target(name: "SecretSealing", dependencies: ["JobModel", "CSodium"], swiftSettings: strict),
        .target(name: "JobStore", dependencies: ["JobModel", "PGClient", "Migrations"], swiftSettings: strict),

        // 3: joins database and HTTP
        .target(
            name: "Engine",
            dependencies: ["JobModel", "PGClient", "HTTPAgent", "Reactor", "JobStore", "XMLCheck", "WebhookSigning", "SecretSealing"],
            swiftSettings: strict
        ),

        // 4: pages about the engine: health, metrics, dashboard
        .target(
            name: "Admin", dependencies: ["JobModel", "PGClient", "Reactor", "JobStore", "Engine", "CHTTPServer"],
            resources: [.embedInCode("Dashboard/dashboard.css"), .embedInCode("Dashboard/dashboard.js")], swiftSettings: strict),

        // 5: the program
        .target(
            name: "WorkerCLI",
            dependencies: ["JobModel", "PGClient", "Reactor", "JobStore", "Migrations", "Engine", "Admin", "HTTPAgent", "PrivateCluster", "CLinux", "WebhookSigning", "SecretSealing", "HostileTarget", "OpenAPI"],
            swiftSettings: strict
        ),
        .executableTarget(name: "worker", dependencies: ["WorkerCLI"], swiftSettings: strict, linkerSettings: slim),

        // tests mirror the sources
        .target(name: "TestSupport", dependencies: ["PGClient", "PrivateCluster", "JobStore", "CLinux"], path: "Tests/TestSupport", swiftSettings: strict),
        .executableTarget(name: "downloader", dependencies: ["HTTPAgent", "JobModel", "Reactor"], path: "Tests/Downloader", swiftSettings: strict),
        .testTarget(name: "JobModelTests", dependencies: ["JobModel", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "PGClientTests", dependencies: ["PGClient", "PrivateCluster", "Reactor", "TestSupport"], swiftSettings: strict),
        .target(name: "CSilentDisk", path: "Tests/CSilentDisk", cSettings: gnu),
        .testTarget(name: "CFilesTests", dependencies: ["CFiles", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "HTTPAgentTests", dependencies: ["HTTPAgent", "CCurl", "CResolver", "CSilentDisk", "HostileTarget", "JobModel", "Reactor", "TestSupport", "downloader"], swiftSettings: strict),
        .testTarget(name: "PrivateClusterTests", dependencies: ["PrivateCluster", "PGClient", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "XMLCheckTests", dependencies: ["XMLCheck", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "OpenAPITests", dependencies: ["OpenAPI"], swiftSettings: strict),
        .testTarget(name: "WebhookSigningTests", dependencies: ["WebhookSigning", "JobModel"], swiftSettings: strict),
        .testTarget(name: "SecretSealingTests", dependencies: ["SecretSealing", "JobModel"], swiftSettings: strict),
        .testTarget(name: "ReactorTests", dependencies: ["PrivateCluster", "Reactor", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "JobStoreTests", dependencies: ["JobStore", "JobModel", "PGClient", "PrivateCluster", "Migrations", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "EngineTests", dependencies: ["Engine", "HTTPAgent", "JobModel", "JobStore", "PGClient", "Reactor", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "AdminTests", dependencies: ["Admin", "Engine", "PGClient", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "Simulation", dependencies: ["Engine", "JobModel", "JobStore", "PGClient", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "WorkerCLITests", dependencies: ["WorkerCLI", "worker", "HTTPAgent", "HostileTarget", "JobModel", "PGClient", "TestSupport"], swiftSettings: strict),
        .target(
            name: "CFuzzFeeds", dependencies: ["CCurl", "CFiles", "CCryptoSystem"], path: "Tests/Fuzz/CFuzzFeeds",
            cSettings: gnu + [.headerSearchPath("../../../Sources/CCurl"), .headerSearchPath("../../../Sources/CFiles")]),
        .testTarget(
            name: "PublicSurfaceTests", dependencies: ["WorkerCLI", "Engine", "Migrations", "PGClient", "TestSupport"], exclude: ["Lists"],
            swiftSettings: strict),
    ] + (Context.environment["POSTRIDER_UNIT_TESTS"] == nil ? integrationTests : []) + fuzzTargets
)
