// SPDX-License-Identifier: Apache-2.0
//
// The options of a handle that are equal for all sendings.
#include "transfer.h"

bool ccurl_options_set(ccurl_transfer *t) {
    ccurl_loop *loop = t->loop;
    const ccurl_transport *transport = t->transport;
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error_text);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, ccurl_on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, ccurl_on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, ccurl_on_progress);
    curl_easy_setopt(e, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, ccurl_before_request);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, t);
    curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, ccurl_on_look_up);
    curl_easy_setopt(e, CURLOPT_RESOLVER_START_DATA, t);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, ccurl_socket_open);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t);
    // The connection outlives the transfer that opened it.
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, ccurl_socket_close);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, loop);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    // An empty name and not null: with null, http_proxy of the environment would apply.
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    // A call that ends during its look-up would wait for the resolver's thread, and block the loop. With a silent name
    // server this took 3.3 s at `timeout:2 attempts:2`, and 10 s or more with glibc's defaults. This option leaves the
    // thread behind.
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    // A resumed session (RFC 8446 §2.2) sends no certificate, checks none, and gets new tickets. So an expired
    // certificate, a replaced file, or one that is no longer trusted would stay valid while calls follow each other.
    //
    // So each connection makes a full handshake, also with a proxy. It costs 0.4 ms of CPU on each side (OpenSSL 3.0,
    // RSA 2048), and a round trip with TLS 1.2.
    curl_easy_setopt(e, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (loop->ca_file) {
        curl_easy_setopt(e, CURLOPT_CAINFO, loop->ca_file);
        // Debian's libcurl would trust the system's directory of authorities in addition to the file.
        curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    }
    // libcurl requests encodings, and this library decodes them.
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, loop->accept_encoding);
    curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(e, CURLOPT_USERAGENT, loop->user_agent);
    // Less than the usual 60 and 75 seconds after which servers close idle connections.
    curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, 55L);
    curl_easy_setopt(e, CURLOPT_MAXLIFETIME_CONN, 900L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    if (!transport) return true;
    // The answer of a SOCKS proxy is not visible. TLS with an HTTP proxy precedes the proxy's answer.
    if (transport->settings.proxy && strncmp(transport->settings.proxy, "socks", 5) == 0) {
        curl_easy_setopt(e, CURLOPT_SSL_CTX_FUNCTION, ccurl_before_tls);
        curl_easy_setopt(e, CURLOPT_SSL_CTX_DATA, t);
    }
    return ccurl_transport_apply(transport, e) == 0;
}
