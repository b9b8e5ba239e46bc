// SPDX-License-Identifier: Apache-2.0
//
// How an answer ends. OpenSSL knows how a connection has ended, and libcurl does not report it.
//
// An answer with neither length nor chunks ends with its connection. Over TLS a close_notify must announce the end,
// because otherwise an attacker on the way may have caused it (RFC 9112 §9.8). libcurl 7.88 does not distinguish the
// two ends.
#include "transfer.h"

#include <openssl/ssl.h>

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
