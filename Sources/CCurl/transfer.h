// SPDX-License-Identifier: Apache-2.0
#ifndef CCURL_INTERNAL_TRANSFER_H
#define CCURL_INTERNAL_TRANSFER_H

#include "connections.h"

typedef struct {
    uint8_t *bytes;
    size_t length, capacity;
} ccurl_buffer;

/// As in `ccurl_sending`.
enum { METHOD_GET, METHOD_POST, METHOD_HEAD };

enum { HEAD_START, HEAD_LINES, HEAD_DONE };

/// The target of the body. A download has none until the owner has seen the headers.
enum { TO_MEMORY, UNDECIDED, TO_PART };

/// The neighbours of a transfer in one of its loop's `waiting` lists.
typedef struct {
    ccurl_transfer *next, *previous;
} ccurl_neighbours;

struct ccurl_transfer {
    CURL *easy;
    ccurl_loop *loop;
    /// Null: default settings.
    ccurl_transport *transport;
    long slot;
    CURLM *pool;
    /// The owner of `pool`, now or at its last use.
    ccurl_pool *home;
    // The current options of the handle, so that the next sending sets only the different ones.
    CURLU *url;
    int method;
    bool method_set, method_has_body, has_headers, shares_http2, version_set;
    long total_ms, connect_ms, address_age;
    /// Whether libcurl itself has ended the sending, without a failure.
    bool is_done;
    /// Whether libcurl has sent the request again, or may have done so without reaching a connection.
    bool is_worn;
    /// Whether the handle could not be renewed and must not be used: its proxy may be missing.
    bool is_broken;
    // The request.
    ccurl_buffer body;
    /// The bytes of the owner, as many as `body` counts; null: the bytes of `body` are sent.
    const uint8_t *lent;
    curl_mime *parts;
    /// The file of the last part so far.
    cfiles_file *last_file;
    /// The file that it waits for while paused.
    cfiles_file *awaited;
    ccurl_neighbours neighbours[2];
    struct curl_slist *headers;
    /// The address of its host. libcurl reads it when the sending begins.
    struct curl_slist *found;
    size_t headers_capacity;
    bool public_only, repeatable, host_is_known;
    /// Whether the URL is https, without a proxy that itself uses TLS.
    bool asks_tls;
    int sendings;
    int64_t started_ns;
    int64_t first_byte_ns, low_speed_bytes, low_speed_ns;
    // The progress, for the pace check.
    int64_t wait_began, uploaded, slow_since, window_bytes, window_began;
    int64_t received;
    int64_t upload_total, answer_total;
    // The answer.
    ccurl_buffer head, answer;
    int64_t answer_limit;
    /// How many bytes of the answer it may keep. The owner grants more (answer_room.c).
    int64_t room;
    bool waits_for_room;
    /// Since when it waits, how long it waited before, and the total limit once libcurl no longer enforces it.
    int64_t room_since, room_waited;
    long own_total_ms;
    /// How much of a repeatedly delivered piece is decoded already.
    size_t decoded;
    /// Whether the answer has encodings to decode. `coding` decodes from the body's first byte on.
    bool coded, decodes, library_decodes;
    struct ccoding *coding;
    /// The received bytes of the answer while it is decoded, unless they are too many.
    ccurl_buffer raw;
    bool raw_is_lost;
    // A download. The byte counts include earlier attempts.
    cfiles_part *part;
    int sink;
    bool paused, identity;
    /// The descriptor of the idle connection that it took, until libcurl requests it; -1: none.
    int taken;
    int64_t filed, file_limit;
    size_t head_total;
    int head_state;
    int head_status;
    /// Whether a final answer has begun. A 1xx answer does not count.
    bool answering;
    /// Whether `ccurl_transfer_take_answered` has reported it.
    bool answer_seen;
    size_t location, location_length;
    /// The Content-Length, if there is one.
    int64_t length;
    /// Whether the previous header line was a Content-Length, which a folded line would continue.
    bool folds_length;
    bool folding, has_location, has_length, chunked;
    /// Whether the end of the TLS connection ends the answer, and the end has not been announced.
    bool awaits_close;
    /// The facts that the callbacks record. `ccurl_transfer_result` adds the others.
    ccurl_result facts;
    bool opened, cut_off;
    /// Whether its connection is HTTP/2.
    bool multiplexed;
    char remote_ip[64];
    int local_port, peer_port;
    char error_text[CURL_ERROR_SIZE];
};

// store.c
bool ccurl_buffer_reserve(ccurl_buffer *b, size_t more);
/// Appends decoded bytes to the answer. False without room.
bool ccurl_keep_body(ccurl_transfer *t, const uint8_t *bytes, size_t length);
/// Frees the received bytes that are kept in addition to the decoded ones.
void ccurl_forget_raw(ccurl_transfer *t);
/// Whether the answer has no body by its status or method. Its headers do not matter.
bool ccurl_has_no_body(const ccurl_transfer *t);
// closing.c
/// Determines, after the headers, whether the end of a TLS connection ends the body.
void ccurl_closing_begin(ccurl_transfer *t);
/// Checks whether that end was announced. Call it until the transfer leaves its connection.
void ccurl_closing_look(ccurl_transfer *t);
/// Whether headers and body are complete, if the headers define the end of the body.
bool ccurl_answer_is_whole(const ccurl_transfer *t);
/// Whether headers and body are complete over HTTP/2, and no error of the stream is known.
bool ccurl_stream_is_whole(const ccurl_transfer *t);
// answer_room.c
/// Whether the answer needs more room before it can take so many bytes.
bool ccurl_lacks_room(const ccurl_transfer *t, size_t more);
/// Pauses the transfer until its owner grants more. Returns the value for the write callback.
size_t ccurl_wait_for_room(ccurl_transfer *t);
/// Ends its wait and resets the waiting time.
void ccurl_transfer_forget_room(ccurl_transfer *t);
// coding.c
/// Prepares the decoding of the listed encodings. False if that is impossible.
bool ccurl_coding_begin(ccurl_transfer *t);
/// Decodes a piece of the body. False if it is broken or too large. `left` is how much of the piece found no room.
bool ccurl_coding_write(ccurl_transfer *t, const uint8_t *bytes, size_t length, size_t *left);
/// Frees the decoders.
void ccurl_coding_end(ccurl_transfer *t);
/// Makes the received bytes the body, since they cannot be decoded. False if there were too many to keep.
bool ccurl_use_raw(ccurl_transfer *t);
// download.c
/// Handles the body of a download: it pauses, copies into the part's ring, or refuses.
size_t ccurl_on_part_body(ccurl_transfer *t, const char *bytes, size_t length);
// answer.c
size_t ccurl_on_header(char *bytes, size_t size, size_t count, void *transfer);
size_t ccurl_on_body(char *bytes, size_t size, size_t count, void *transfer);
// result.c
/// Whether libcurl has dropped an answer's headers over HTTP/2, as above 128 KiB. Only the status has arrived.
/// libcurl reports this to the call that happened to read, whichever call the headers belong to. Their own call may get
/// only their end, without the first line that libcurl itself writes.
bool ccurl_headers_lost(const ccurl_transfer *t);
// upload.c
/// Makes an open file the content of a part. Returns 0 or a CURLcode.
int ccurl_upload_attach(ccurl_transfer *t, curl_mimepart *part, cfiles_file *file);
// callbacks.c
/// CURLOPT_PREREQFUNCTION: runs before each writing of the request, on new and on reused connections.
int ccurl_before_request(void *transfer, char *peer_ip, char *local_ip, int peer_port, int local_port);
/// CURLOPT_SSL_CTX_FUNCTION: TLS begins, so the steps before it are done.
CURLcode ccurl_before_tls(CURL *easy, void *context, void *transfer);
/// CURLOPT_RESOLVER_START_FUNCTION: the cached address is missing or too old.
int ccurl_on_look_up(void *resolver, void *reserved, void *transfer);
/// CURLOPT_XFERINFOFUNCTION. It counts the bytes as received, before they are decompressed. libcurl's own limits leave
/// them out.
int ccurl_on_progress(void *transfer, curl_off_t total, curl_off_t received, curl_off_t upload, curl_off_t uploaded);
// options.c
/// Sets the options that are equal for all sendings. False without memory.
bool ccurl_options_set(ccurl_transfer *t);

#endif
