// SPDX-License-Identifier: Apache-2.0
#ifndef CCURL_INTERNAL_H
#define CCURL_INTERNAL_H

#include "ccurl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef struct {
    CURLM *handle;
    ccurl_loop *loop;
    /// When libcurl must be called; -1: never.
    int64_t deadline;
    uint16_t index;
    /// Connections; transfers that are not stopped; shut-down connections that libcurl has not closed yet.
    int open, running, retired;
    /// The number of its last sending among all sendings of the loop.
    uint64_t last_use;
    /// Look-ups of names since `names_since`, and in the span before it (names.c).
    int names, names_before;
    int64_t names_since;
} ccurl_pool;

/// One entry per descriptor number. `wanted` are the events to wait for, `applied` the events that the owner waits for.
typedef struct {
    uint8_t wanted;
    uint8_t applied;
    uint16_t pool;
    /// The pool that it was opened for, while it is open.
    uint16_t home;
    /// The local port, once the connection was idle; 0: unknown.
    uint16_t port;
    /// Whether it is an open HTTP/1 connection that no transfer uses (idle.c).
    bool idle;
    /// A rising number for each connection that becomes idle, of HTTP/1 or 2; 0: it is in use.
    uint64_t idle_since;
    /// Whether it was shut down and libcurl has not closed it yet.
    bool retired;
    /// Whether `ccurl_socket_open` opened it and its close is not known; see `ccurl_socket_is_open`.
    bool open;
    /// Whether it was closed, or may have been, since the last drain.
    bool closed;
    /// Whether it is in the loop's `dirty` list, for the next drain.
    bool listed;
    /// The inode of the opened socket. No other socket of the system has it.
    ino_t inode;
} ccurl_descriptor;

/// For calls without a transport and for each transport there is one pool for public addresses and one for all. Two
/// more kinds of each are created when they are needed:
/// - `unshared`, for TLS without HTTP/2: libcurl 7.88 shares no HTTP/2 connection with a host after
///   it has used HTTP/1.1 with it in the same pool.
/// - `alone`, for calls that have their own connection.
///
/// POOLS is the most at one time. Few transports have all six pools.
enum { TRANSPORTS = 256, POOLS = 4 + 4 * TRANSPORTS };

/// libcurl's own descriptors in each pool: a pair of sockets for wake-ups.
enum { POOL_DESCRIPTORS = 2 };

struct ccurl_loop {
    /// Null at the place of a destroyed transport.
    ccurl_pool *pools[POOLS];
    ccurl_pool *unshared[2], *alone[2];
    int pool_count;
    long max_connections;
    /// Descriptors of pools and connections: their number, and from how many on idle ones are closed (descriptors.c).
    int held, most_held;
    /// Whether the process is short of descriptors, and whether each pool keeps at most one idle connection.
    bool is_short, is_tight;
    uint64_t sendings, idlings;
    /// The transfers that wait for files, and those that wait for room.
    ccurl_transfer *awaiting, *wanting;
    ccurl_descriptor *descriptors;
    /// For each descriptor the local port while it is idle, otherwise 0. It is a separate array, since each request
    /// searches it.
    uint16_t *idle_ports;
    int descriptor_capacity;
    int *dirty;
    int dirty_count, dirty_capacity, dirty_next;
    char *user_agent;
    char *accept_encoding;
    char *ca_file;
};

struct ccurl_transport {
    ccurl_loop *loop;
    ccurl_pool *pools[2], *unshared[2], *alone[2];
    char *proxy, *proxy_user, *proxy_password, *interface, *ca_file, *certificate_file, *key_file, *pins;
};

typedef struct {
    uint8_t *bytes;
    size_t length, capacity;
} ccurl_buffer;

/// As in `ccurl_sending`.
enum { METHOD_GET, METHOD_POST, METHOD_HEAD };

enum { HEAD_START, HEAD_LINES, HEAD_DONE };

/// The target of the body. A download has none until the owner has seen the headers.
enum { TO_MEMORY, UNDECIDED, TO_PART };

typedef struct ccurl_coding ccurl_coding;

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
    uint8_t *body;
    size_t body_length, body_capacity;
    /// A body of the owner; null: `body` is sent.
    const uint8_t *lent;
    curl_mime *parts;
    /// The path of a file part that changed after the start. The file owns it.
    const char *changed_file;
    /// The file of the last part so far.
    cfiles_file *last_file;
    /// The file that it waits for while paused, and its neighbours in the list of waiting transfers.
    cfiles_file *awaited;
    ccurl_transfer *next_awaiting, *previous_awaiting;
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
    ccurl_transfer *next_wanting, *previous_wanting;
    /// Since when it waits, how long it waited before, and the total limit once libcurl no longer enforces it.
    int64_t room_since, room_waited;
    long own_total_ms;
    /// How much of a repeatedly delivered piece is decoded already.
    size_t decoded;
    /// Whether the answer has encodings to decode. `coding` decodes from the body's first byte on.
    bool coded, decodes, library_decodes;
    ccurl_coding *coding;
    ccurl_coding_defect coding_defect;
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
    bool folding, has_location, has_wait, has_length, length_unclear, chunked;
    /// Whether the end of the TLS connection ends the answer, and the end has not been announced.
    bool awaits_close;
    // Facts for `ccurl_result`.
    bool opened, denied, headers_too_large, body_too_large, resend_refused, out_of_descriptors, cut_off;
    bool memory_out, looked_up, tls_began, certificate_wanted;
    /// Whether its connection is HTTP/2.
    bool multiplexed;
    char remote_ip[64];
    int local_port, peer_port;
    char error_text[CURL_ERROR_SIZE];
};

curl_socket_t ccurl_socket_open(void *transfer, curlsocktype purpose, struct curl_sockaddr *address);
int ccurl_socket_close(void *loop, curl_socket_t fd);
/// Whether the number is a socket that `ccurl_socket_open` has opened. A socket that ended without a notice is dropped.
bool ccurl_socket_is_open(ccurl_loop *loop, int fd);
/// Whether libcurl's HTTP/2 session has failed internally. Then no transfer can use the connection.
bool ccurl_session_is_broken(const ccurl_transfer *t);
/// The local port; 0: unknown.
uint16_t ccurl_socket_port(int fd);
/// Call this when libcurl looks a name up, because its cache has no address that is young enough.
void ccurl_names_asked(ccurl_transfer *t);
/// Call this when libcurl has read its cache of names. All transfers of a pool share the cache. At the end of a
/// transfer libcurl removes each address that is older than this transfer allows.
void ccurl_names_read(ccurl_transfer *t);
/// Call this when the transfer has ended, and libcurl has removed old addresses from its cache.
void ccurl_names_pruned(ccurl_transfer *t);
/// Whether the remote end of the socket has this address.
bool ccurl_socket_has_peer(int fd, const char *host, int port);
/// Ends the connection of the last request, for all transfers that share it.
void ccurl_socket_end(const ccurl_transfer *t);
/// The entry of `fd`, listed for the next drain. Null without memory; then the socket stalls until a timeout.
ccurl_descriptor *ccurl_loop_touch(ccurl_loop *loop, int fd);
/// Call this when no transfer uses the connection, and it stays open.
void ccurl_idle_begin(ccurl_loop *loop, int fd);
void ccurl_idle_end(ccurl_loop *loop, int fd);
/// Call this when its descriptor is ready. The first unrequested byte, or the end, retires the connection.
void ccurl_idle_ready(ccurl_loop *loop, int fd);
/// Ends an idle connection. libcurl closes it at its next check of the pool, once a second while calls begin.
void ccurl_idle_retire(ccurl_loop *loop, int fd);
/// Checks the connection with this local port before a request is written. If it was idle and bytes have arrived, it is
/// retired. Returns whether it is HTTP/2.
bool ccurl_idle_check(ccurl_transfer *t, int port);
/// Records that the transfer's connection is in use, whether or not libcurl has requested the socket.
void ccurl_idle_taken(ccurl_transfer *t);
size_t ccurl_on_header(char *bytes, size_t size, size_t count, void *transfer);
/// Handles the body of a download: it pauses, copies into the part's ring, or refuses.
size_t ccurl_on_part_body(ccurl_transfer *t, const char *bytes, size_t length);
/// Makes an open file the content of a part. Returns 0 or a CURLcode.
int ccurl_upload_attach(ccurl_transfer *t, curl_mimepart *part, cfiles_file *file);
/// Sets the file that it waits for; null: none.
void ccurl_transfer_await(ccurl_transfer *t, cfiles_file *file);
/// Whether the answer needs more room before it can take so many bytes.
bool ccurl_lacks_room(const ccurl_transfer *t, size_t more);
/// Pauses the transfer until its owner grants more. Returns the value for the write callback.
size_t ccurl_wait_for_room(ccurl_transfer *t);
/// Ends its wait and resets the waiting time.
void ccurl_transfer_forget_room(ccurl_transfer *t);
size_t ccurl_on_body(char *bytes, size_t size, size_t count, void *transfer);
/// Appends decoded bytes to the answer. False without room.
bool ccurl_keep_body(ccurl_transfer *t, const uint8_t *bytes, size_t length);
/// Frees the received bytes that are kept in addition to the decoded ones.
void ccurl_forget_raw(ccurl_transfer *t);
/// Makes the received bytes the body, since they cannot be decoded. False if there were too many to keep.
bool ccurl_use_raw(ccurl_transfer *t);
/// Prepares the decoding of the listed encodings. False if that is impossible.
bool ccurl_coding_begin(ccurl_transfer *t);
/// Decodes a piece of the body. False if it is broken or too large. `left` is how much of the piece found no room.
bool ccurl_coding_write(ccurl_transfer *t, const uint8_t *bytes, size_t length, size_t *left);
/// Whether encodings are nested. Then the output of a piece cannot stop in the middle.
bool ccurl_coding_is_nested(const ccurl_coding *c);
/// Whether a stream has begun and has not ended.
bool ccurl_coding_is_inside(const ccurl_coding *c);
/// Frees the decoders.
void ccurl_coding_end(ccurl_transfer *t);
/// Whether the answer has no body by its status or method. Its headers do not matter.
bool ccurl_has_no_body(const ccurl_transfer *t);
/// The OpenSSL connection of a transfer. Null without one, or if libcurl does not expose it.
struct ssl_st *ccurl_tls_of(CURL *easy);
/// Determines, after the headers, whether the end of a TLS connection ends the body.
void ccurl_closing_begin(ccurl_transfer *t);
/// Checks whether that end was announced. Call it until the transfer leaves its connection.
void ccurl_closing_look(ccurl_transfer *t);
/// Whether headers and body are complete, if the headers define the end of the body.
bool ccurl_answer_is_whole(const ccurl_transfer *t);
/// Whether headers and body are complete over HTTP/2, and no error of the stream is known.
bool ccurl_stream_is_whole(const ccurl_transfer *t);
/// Whether libcurl has dropped an answer's headers over HTTP/2, as above 128 KiB. Only the status has arrived.
/// libcurl reports this to the call that happened to read, whichever call the headers belong to. Their own call may get
/// only their end, without the first line that libcurl itself writes.
bool ccurl_headers_lost(const ccurl_transfer *t);
/// Checks, once the connection is up, whether its server asks for a client certificate.
void ccurl_certificate_look(ccurl_transfer *t);
bool ccurl_buffer_reserve(ccurl_buffer *b, size_t more);
/// Creates a pool for the loop. Null without memory.
ccurl_pool *ccurl_pool_create(ccurl_loop *loop);
/// Closes its connections. No transfer may be in it.
void ccurl_pool_destroy(ccurl_pool *pool);
/// Closes its connections at once and creates it again. No transfer may be in it. False without memory.
bool ccurl_pool_renew(ccurl_pool *pool);
/// Records that a connection of the pool was opened.
void ccurl_descriptors_opened(ccurl_pool *pool, ccurl_descriptor *d);
/// Records that a socket is being closed.
void ccurl_descriptors_closed(ccurl_loop *loop, ccurl_descriptor *d);
/// Decides, before a transfer opens its connection, whether the pool keeps the connection when it is idle.
void ccurl_descriptors_opening(ccurl_transfer *t);
/// Records that all connections of the pool are closed, including those that libcurl has closed without a notice.
void ccurl_descriptors_emptied(ccurl_pool *pool);
/// Closes idle connections of other pools if there are too many. Call it before a sending in `next`.
void ccurl_descriptors_release(ccurl_loop *loop, const ccurl_pool *next);
/// The number of connections above which libcurl closes an idle one.
long ccurl_descriptors_limit(const ccurl_loop *loop);
/// Applies the settings of its transport to a new handle. Returns 0 or a CURLcode.
int ccurl_transport_apply(const ccurl_transport *transport, CURL *easy);

#endif
