// SPDX-License-Identifier: Apache-2.0
//
// The life of a transfer.
#include "transfer.h"

/// A finished transfer keeps so many bytes. 5,000 calls in flight leave about 20 KB each, of which libcurl takes 14.
enum { KEEP = 2048 };

ccurl_transfer *ccurl_transfer_create(ccurl_loop *loop, ccurl_transport *transport) {
    ccurl_transfer *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->loop = loop;
    t->transport = transport;
    t->room = INT64_MAX;
    t->easy = curl_easy_init();
    if (t->easy && ccurl_options_set(t)) return t;
    curl_easy_cleanup(t->easy);
    free(t);
    return NULL;
}

/// Renews the handle, so that this call does not affect the next one: libcurl 7.88 counts over all calls of a handle
/// how often it sent a request again, and refuses the sixth time.
///
/// It needs another handle. A reset one may keep its buffer, has the default buffer size and accepts no other.
static void renew(ccurl_transfer *t) {
    CURL *fresh = curl_easy_init();
    t->is_worn = false;
    t->is_broken = !fresh;
    if (!fresh) return;
    curl_easy_cleanup(t->easy);
    t->easy = fresh;
    t->is_broken = !ccurl_options_set(t);
    if (t->url) curl_easy_setopt(t->easy, CURLOPT_CURLU, t->url);
    t->method_set = t->version_set = t->identity = t->library_decodes = false;
    t->total_ms = t->connect_ms = t->address_age = 0;
}

void ccurl_transfer_destroy(ccurl_transfer *t) {
    ccurl_transfer_stop(t);
    curl_easy_cleanup(t->easy);
    curl_mime_free(t->parts);
    free(t->headers);
    curl_slist_free_all(t->found);
    free(t->body.bytes);
    ccurl_coding_end(t);
    free(t->head.bytes);
    free(t->answer.bytes);
    ccurl_forget_raw(t);
    free(t);
}

long ccurl_transfer_slot(const ccurl_transfer *t) { return t->slot; }
void ccurl_transfer_set_slot(ccurl_transfer *t, long slot) { t->slot = slot; }

void ccurl_transfer_set_url(ccurl_transfer *t, CURLU *url) {
    t->url = url;
    curl_easy_setopt(t->easy, CURLOPT_CURLU, url);
}

static void shrink(ccurl_buffer *b) {
    if (b->capacity > KEEP) {
        free(b->bytes);
        *b = (ccurl_buffer){0};
    }
    b->length = 0;
}

void ccurl_transfer_clear(ccurl_transfer *t) {
    if (t->is_worn || t->is_broken) renew(t);
    shrink(&t->head);
    shrink(&t->answer);
    ccurl_coding_end(t);
    ccurl_forget_raw(t);
    // A transfer that waits for its file has no progress, and must not show the progress of the previous call.
    t->started_ns = t->uploaded = t->upload_total = t->received = t->answer_total = 0;
    t->last_file = NULL;
    t->part = NULL;
    t->sink = TO_MEMORY;
    shrink(&t->body);
    t->lent = NULL;
    t->room = INT64_MAX;
    t->has_headers = false;
    if (t->headers_capacity > KEEP) {
        free(t->headers);
        t->headers = NULL;
        t->headers_capacity = 0;
    }
}

bool ccurl_transfer_set_found(ccurl_transfer *t, const char *found) {
    if (!t->found && !found) return true;
    struct curl_slist *list = found ? curl_slist_append(NULL, found) : NULL;
    curl_easy_setopt(t->easy, CURLOPT_RESOLVE, list);
    curl_slist_free_all(t->found);
    t->found = list;
    return !found || list;
}
