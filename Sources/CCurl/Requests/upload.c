// SPDX-License-Identifier: Apache-2.0
//
// Files that are sent as parts of a multipart body. libcurl's callbacks take the bytes that the helper thread has read
// (CFiles). Without bytes the transfer pauses. If a file changes during a call, the call fails.
#include "transfer.h"

typedef struct {
    ccurl_transfer *transfer;
    cfiles_file *file;
} upload;

static size_t on_read(char *buffer, size_t size, size_t count, void *context) {
    const upload *u = context;
    int64_t length = cfiles_file_take(u->file, buffer, size * count);
    if (length >= 0) return (size_t)length;
    if (length == CFILES_LOST) {
        u->transfer->facts.changed_file = cfiles_file_path(u->file);
        return CURL_READFUNC_ABORT;
    }
    ccurl_transfer_await(u->transfer, u->file);
    return CURL_READFUNC_PAUSE;
}

// libcurl's seek callback, before it sends the body again: after a redirect that keeps the body, or if a reused
// connection was dead.
static int on_seek(void *context, curl_off_t offset, int origin) {
    const upload *u = context;
    return origin == SEEK_SET && cfiles_file_seek(u->file, offset) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

int ccurl_upload_attach(ccurl_transfer *t, curl_mimepart *part, cfiles_file *file) {
    upload *u = malloc(sizeof *u);
    if (!u) return (int)CURLE_OUT_OF_MEMORY;
    *u = (upload){t, file};
    if (t->last_file) cfiles_file_set_next(t->last_file, file);
    t->last_file = file;
    // libcurl frees `u` with the part.
    return (int)curl_mime_data_cb(part, cfiles_file_look(file).size, on_read, on_seek, free, u);
}

bool ccurl_transfer_take_answered(ccurl_transfer *t) {
    if (!t->answering || t->head_state != HEAD_DONE || t->answer_seen) return false;
    t->answer_seen = true;
    return true;
}

int ccurl_transfer_send_on(ccurl_transfer *t) {
    ccurl_transfer_await(t, NULL);
    // The call was waiting for the disk and not for the server.
    t->wait_began = ccurl_now();
    if (!t->pool) return 0;
    int others = t->paused || t->waits_for_room ? CURLPAUSE_RECV : CURLPAUSE_CONT;
    // After the pause in `on_read`, libcurl still sends bytes that it read before. Only then does it mark the transfer
    // as paused. Continuing an unmarked transfer would have no effect on its part. So pause it explicitly first.
    int code = (int)curl_easy_pause(t->easy, others | CURLPAUSE_SEND);
    return code ? code : (int)curl_easy_pause(t->easy, others);
}
