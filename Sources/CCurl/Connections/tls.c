// SPDX-License-Identifier: Apache-2.0
//
// Facts about a TLS connection that OpenSSL knows and libcurl does not report.
#include "transfer.h"

#include <openssl/ssl.h>

SSL *ccurl_tls_of(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

void ccurl_certificate_look(ccurl_transfer *t) {
    SSL *tls = ccurl_tls_of(t->easy);
    // A server sends its signature algorithms to a client only when it requests a certificate (RFC 8446 §4.3.2, RFC
    // 5246 §7.4.4).
    if (tls && SSL_get_sigalgs(tls, -1, NULL, NULL, NULL, NULL, NULL) > 0) t->facts.certificate_wanted = true;
}
