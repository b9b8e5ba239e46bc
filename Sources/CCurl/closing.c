// SPDX-License-Identifier: Apache-2.0
//
// Facts about a connection that OpenSSL knows and libcurl does not report: how it ended, and whether its server asks
// for a certificate. Also the end of an HTTP/2 stream.
//
// An answer with neither length nor chunks ends with its connection. Over TLS a close_notify must announce the end,
// because otherwise an attacker on the way may have caused it (RFC 9112 §9.8). libcurl 7.88 does not distinguish the
// two ends.
#include "transfer.h"

#include <openssl/ssl.h>

SSL *ccurl_tls_of(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

void ccurl_closing_begin(ccurl_transfer *t) {
    bool has_end = t->multiplexed || t->has_length || t->chunked || ccurl_has_no_body(t);
    t->awaits_close = !has_end && ccurl_tls_of(t->easy);
}

void ccurl_closing_look(ccurl_transfer *t) {
    SSL *tls = ccurl_tls_of(t->easy);
    if (tls && (SSL_get_shutdown(tls) & SSL_RECEIVED_SHUTDOWN)) t->awaits_close = false;
}

bool ccurl_answer_is_whole(const ccurl_transfer *t) {
    curl_off_t received = -1;
    curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return ccurl_has_no_body(t) || (t->has_length && received == t->length);
}

bool ccurl_stream_is_whole(const ccurl_transfer *t) {
    // libcurl writes an error text if the stream was reset with an error.
    return t->multiplexed && !t->error_text[0] && ccurl_answer_is_whole(t);
}

void ccurl_certificate_look(ccurl_transfer *t) {
    SSL *tls = ccurl_tls_of(t->easy);
    // A server sends its signature algorithms to a client only when it requests a certificate (RFC 8446 §4.3.2, RFC
    // 5246 §7.4.4).
    if (tls && SSL_get_sigalgs(tls, -1, NULL, NULL, NULL, NULL, NULL) > 0) t->facts.certificate_wanted = true;
}
