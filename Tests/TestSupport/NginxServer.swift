// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A real web server for tests: HTTP, TLS with a test authority, HTTP/2 and gzip. It ends with `deinit`.
///
/// - `/text` answers `hello`, `/big` 100,000 bytes, as gzip if the client accepts it. `/up` redirects to TLS.
/// - The certificate of the TLS host is for `localhost` and `alt.localhost`. That host closes a connection after 20
///   requests.
/// - The certificate of the third port is for another name.
/// - `/who` answers with the client's address and the name in the client's certificate.
/// - `/session` answers `r` for a resumed TLS session and `.` for a new one, then closes the connection.
/// - `/away` redirects to `/who` on `alt.localhost`. `/nothing` answers 204.
/// - `/headersN` sends N header lines of 1,000 bytes, for N of 15, 17, 24, 120 and 160.
public final class NginxServer {
    /// The port of plain HTTP.
    public let port: Int
    /// The port of TLS with HTTP/2, for `localhost`.
    public let tlsPort: Int
    /// The port of TLS without HTTP/2. Its certificate is for `other.example`, and at 127.0.0.2 for `localhost`.
    public let wrongNamePort: Int
    /// The PEM file of the authority that signed all certificates.
    public let caFile: String
    /// The folder of the files that the server serves.
    public var www: String { folder + "/www" }
    /// The certificate of that authority for `client`, its key, and the same key under the passphrase `secret`.
    public var client: (certificate: String, key: String, lockedKey: String) {
        (folder + "/client.pem", folder + "/client.key", folder + "/locked.key")
    }
    /// The pin of the public key for `localhost`, in the form that libcurl takes.
    public let pin: String
    /// The certificate for `localhost`.
    public var certificate: String { folder + "/localhost.pem" }
    /// The private key for `localhost`, which does not fit the client's certificate.
    public var otherKey: String { folder + "/localhost.key" }
    private let folder: String
    private let process: Int32

    /// Makes certificates, starts nginx on three free ports from `firstPort` on and waits until it listens.
    public init(firstPort: Int) throws {
        var template = [CChar]("/tmp/postrider-nginx-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw StartFailed(output: "mkdtemp failed") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        caFile = folder + "/ca.pem"
        let (status, output) = try ChildProcess.run(["/bin/sh", "-ec", NginxServer.certificates(folder: folder)])
        guard status == 0, let pin = output.split(separator: "\n").last(where: { $0.hasPrefix("sha256//") }) else {
            throw StartFailed(output: output)
        }
        self.pin = String(pin)
        for attempt in 0..<20 {
            // Another test run may hold these ports. Only an attempt to bind them shows it.
            let ports = (firstPort + 3 * attempt, firstPort + 3 * attempt + 1, firstPort + 3 * attempt + 2)
            if let process = try NginxServer.start(folder: folder, ports: ports) {
                self.process = process
                (port, tlsPort, wrongNamePort) = ports
                return
            }
        }
        throw StartFailed(output: "nginx found no free ports from \(firstPort) on")
    }

    /// Starts nginx. Returns nil if nginx ended at once, as it does when a port is taken.
    private static func start(folder: String, ports: (Int, Int, Int)) throws -> Int32? {
        let (status, output) = try ChildProcess.run(["/bin/sh", "-ec", settings(folder: folder, ports: ports)])
        guard status == 0 else { throw StartFailed(output: output) }
        let process = try ChildProcess.spawn(["nginx", "-c", folder + "/nginx.conf", "-p", folder], output: -1)
        var hasEnded = false
        try TestClock.wait(5, for: "nginx to start") {
            hasEnded = ChildProcess.poll(process) != nil
            return unsafe hasEnded || access(folder + "/pid", F_OK) == 0
        }
        return hasEnded ? nil : process
    }

    deinit {
        ChildProcess.terminate(process)
        _ = try? ChildProcess.run(["rm", "-rf", folder])
    }

    /// nginx or its certificates could not be made.
    public struct StartFailed: Error {
        /// The output of openssl or nginx.
        public let output: String
    }

    private static func certificates(folder: String) -> String {
        """
        cd \(folder); chmod 755 .; umask 022
        # Keys of elliptic curves, because an RSA key takes 0.1 s of CPU.
        key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
        openssl req -x509 $key -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca
        for name in localhost other.example client; do
          openssl req $key -keyout $name.key -out $name.csr -subj /CN=$name
          printf 'subjectAltName=DNS:%s,DNS:alt.%s' $name $name > $name.ext
          openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $name.ext -out $name.pem
        done
        openssl pkey -in client.key -aes256 -passout pass:secret -out locked.key
        mkdir www; printf hello > www/text; head -c 100000 /dev/zero | tr '\\0' a > www/big
        printf '\\nsha256//%s\\n' $(openssl x509 -in localhost.pem -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64)
        """
    }

    private static func settings(folder: String, ports: (Int, Int, Int)) -> String {
        """
        cd \(folder)
        value=$(head -c 993 /dev/zero | tr '\\0' a)
        for lines in 15 17 24 120 160; do
          printf 'location = /headers%s { ' $lines
          for line in $(seq 100 $((99 + lines))); do echo "add_header $line $value;"; done
          printf 'return 200 "hello"; }\n'
        done > headers.conf
        cat > nginx.conf <<'END'
        daemon off; master_process off; pid pid; error_log error.log;
        events { worker_connections 512; }
        http {
          access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
          gzip on; gzip_types *; gzip_min_length 1000; root www;
          ssl_protocols TLSv1.2 TLSv1.3;
          server {
            listen 127.0.0.1:\(ports.0);
            location = /up { return 308 https://localhost:\(ports.1)/text; }
            location = /who { return 200 "$remote_addr"; }
          }
          server {
            listen 127.0.0.1:\(ports.1) ssl http2; listen 127.0.0.2:\(ports.2) ssl;
            ssl_certificate localhost.pem; ssl_certificate_key localhost.key;
            ssl_client_certificate ca.pem; ssl_verify_client optional;
            location = /who { return 200 "$remote_addr $ssl_client_s_dn"; }
            location = /session { keepalive_timeout 0; return 200 "$ssl_session_reused"; }
            location = /nothing { return 204; }
            location = /away { return 302 https://alt.localhost:\(ports.1)/who; }
            include headers.conf;
          }
          server {
            listen 127.0.0.1:\(ports.1) ssl http2; server_name alt.localhost; keepalive_requests 20;
            ssl_certificate localhost.pem; ssl_certificate_key localhost.key;
            ssl_client_certificate ca.pem; ssl_verify_client optional;
            location = /who { return 200 "$remote_addr $ssl_client_s_dn"; }
          }
          server { listen 127.0.0.1:\(ports.2) ssl; ssl_certificate other.example.pem; ssl_certificate_key other.example.key; }
        }
        END
        """
    }
}
