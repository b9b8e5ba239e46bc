// SPDX-License-Identifier: Apache-2.0
//
// The request of a transfer: body, parts, header lines, cookies. All of it stays for every sending of a call.
#include "transfer.h"

#include <ccoding.h>

bool ccurl_transfer_set_body(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    if (length > t->body.capacity) {
        uint8_t *grown = realloc(t->body.bytes, length);
        if (!grown) return false;
        t->body = (ccurl_buffer){.bytes = grown, .capacity = length};
    }
    if (length) memcpy(t->body.bytes, bytes, length);
    ccurl_transfer_lend_body(t, NULL, length);
    return true;
}

void ccurl_transfer_lend_body(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    t->lent = bytes;
    t->body.length = length;
}

// One block contains the nodes of the list and after them the lines. So it is one allocation, which is kept for the
// next call.
bool ccurl_transfer_set_headers(ccurl_transfer *t, const char *lines, size_t length, size_t count) {
    t->has_headers = count > 0;
    if (count == 0) return true;
    size_t need = count * sizeof(struct curl_slist) + length;
    if (need > t->headers_capacity) {
        struct curl_slist *grown = realloc(t->headers, need);
        if (!grown) return false;
        t->headers = grown;
        t->headers_capacity = need;
    }
    char *text = (char *)(t->headers + count);
    memcpy(text, lines, length);
    for (size_t i = 0; i < count; i++) {
        t->headers[i].data = text;
        t->headers[i].next = i + 1 < count ? &t->headers[i + 1] : NULL;
        text += strlen(text) + 1;
    }
    return true;
}

bool ccurl_transfer_set_gzip_body(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    size_t made;
    uint8_t *packed = ccoding_gzip(bytes, length, &made);
    if (!packed) return false;
    free(t->body.bytes);
    t->body = (ccurl_buffer){packed, made, made};
    t->lent = NULL;
    return true;
}

bool ccurl_transfer_add_part(ccurl_transfer *t, const ccurl_form_part *p) {
    // From 7.81 on libcurl encodes names as browsers do: %22, %0D and %0A for quote, CR and LF. CURLMIMEOPT_FORMESCAPE
    // would write backslashes instead, and let CR and LF through.
    if (!t->parts) t->parts = curl_mime_init(t->easy);
    curl_mimepart *part = t->parts ? curl_mime_addpart(t->parts) : NULL;
    if (!part) return false;
    int code;
    if (p->file) {
        code = ccurl_upload_attach(t, part, p->file);
    } else {
        code = curl_mime_data(part, p->length ? (const char *)p->bytes : "", p->length);
    }
    if (code == CURLE_OK) code = curl_mime_name(part, p->name);
    if (code == CURLE_OK && p->filename) code = curl_mime_filename(part, p->filename);
    if (code == CURLE_OK && p->type) code = curl_mime_type(part, p->type);
    return code == CURLE_OK;
}

// Debian's libcurl has the list of public suffixes, so an answer cannot set a cookie for `co.uk`.
bool ccurl_transfer_set_cookies(ccurl_transfer *t, const char *lines, size_t count) {
    if (curl_easy_setopt(t->easy, CURLOPT_COOKIEFILE, "") != CURLE_OK) return false;
    curl_easy_setopt(t->easy, CURLOPT_COOKIELIST, "ALL");
    for (size_t i = 0; i < count; i++) {
        if (curl_easy_setopt(t->easy, CURLOPT_COOKIELIST, lines) != CURLE_OK) return false;
        lines += strlen(lines) + 1;
    }
    return true;
}

bool ccurl_transfer_set_own_cookies(ccurl_transfer *t, const char *value) {
    return curl_easy_setopt(t->easy, CURLOPT_COOKIE, value) == CURLE_OK;
}

struct curl_slist *ccurl_transfer_cookies(ccurl_transfer *t) {
    struct curl_slist *list = NULL;
    curl_easy_getinfo(t->easy, CURLINFO_COOKIELIST, &list);
    return list;
}
