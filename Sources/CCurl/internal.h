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
    /// When libcurl wants to be called; -1: not at all.
    int64_t deadline;
    uint16_t index;
    /// Connections; transfers that have not been stopped; connections that were shut down and that libcurl has not closed yet.
    int open, running, retired;
    /// Which of the loop's sendings its last one was.
    uint64_t last_use;
    /// Look-ups of names since `names_since`, and in the span before it (names.c).
    int names, names_before;
    int64_t names_since;
} ccurl_pool;

/// One entry per descriptor number: what the owner knows and what libcurl wants.
typedef struct {
    uint8_t wanted;
    uint8_t applied;
    uint16_t pool;
    /// The pool that it was opened for, while it is open.
    uint16_t home;
    /// At our end, once it was idle; 0: unknown.
    uint16_t port;
    /// Open, of HTTP/1, and nobody's for now (idle.c).
    bool idle;
    /// Counts up with each connection that goes idle, of HTTP/1 or 2; 0: it is in use.
    uint64_t idle_since;
    /// It was shut down, and libcurl has not closed it yet.
    bool retired;
    /// Opened by `ccurl_socket_open` and not yet known to be closed; ask `ccurl_socket_is_open`.
    bool open;
    /// Closed, or of unknown fate, since the last drain.
    bool closed;
    bool listed;
    /// Of the socket that was opened: no other that the system has made has it.
    ino_t inode;
} ccurl_descriptor;

/// For calls without a transport and for each transport one for public addresses and one for all, and both twice more, made when
/// first needed: for TLS without HTTP/2, since libcurl 7.88 shares no HTTP/2 connection with a host any more once it has spoken
/// HTTP/1.1 with it in the same pool, and for calls that have a connection of their own. That many at once; few have all six.
enum { TRANSPORTS = 256, POOLS = 4 + 4 * TRANSPORTS };

/// libcurl's own in each pool: a pair of sockets to be woken by.
enum { POOL_DESCRIPTORS = 2 };

struct ccurl_loop {
    /// Null where a transport has gone.
    ccurl_pool *pools[POOLS];
    ccurl_pool *unshared[2], *alone[2];
    int pool_count;
    long max_connections;
    /// Descriptors of pools and connections: how many there are, and from how many on idle connections are given up (room.c).
    int held, most_held;
    bool is_short, is_tight;
    uint64_t sendings, idlings;
    /// The transfers that wait for files, and those that wait for room.
    ccurl_transfer *awaiting, *wanting;
    ccurl_descriptor *descriptors;
    /// Beside each descriptor: the port at our end while it is idle, else 0. Apart, since each request looks through them.
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

/// Where the body goes: for a download, nowhere until the owner has seen the headers.
enum { TO_MEMORY, UNDECIDED, TO_PART };

typedef struct ccurl_coding ccurl_coding;

struct ccurl_transfer {
    CURL *easy;
    ccurl_loop *loop;
    /// Null: the plain way.
    ccurl_transport *transport;
    long slot;
    CURLM *pool;
    /// Whose `pool` is, or was last.
    ccurl_pool *home;
    // What the handle is set to, so that the next sending sets only what differs.
    CURLU *url;
    int method;
    bool method_set, method_has_body, has_headers, https, version_set;
    long total_ms, connect_ms, address_age;
    /// libcurl has ended the sending itself, without a failure.
    bool is_done;
    /// libcurl sent again by itself, or may have done without getting as far as a connection.
    bool is_worn;
    /// It could not be made as new and must not be used: its proxy may be missing.
    bool is_broken;
    // The request.
    uint8_t *body;
    size_t body_length, body_capacity;
    /// A body that the owner keeps; null: `body` counts.
    const uint8_t *lent;
    curl_mime *parts;
    /// The path of a file part that was no longer what it had been at the start; the file owns it.
    const char *changed_file;
    /// The one that its last part so far sends.
    ccurl_file *last_file;
    /// The file that it waits for, paused; and its neighbours among those that do so, if it does.
    ccurl_file *awaited;
    ccurl_transfer *next_awaiting, *previous_awaiting;
    struct curl_slist *headers;
    /// Where its host was found; libcurl reads it when the sending begins.
    struct curl_slist *found;
    size_t headers_capacity;
    bool public_only, repeatable, host_is_known;
    /// The URL is https, and no proxy has a TLS of its own.
    bool asks_tls;
    int sendings;
    int64_t started_ns;
    int64_t first_byte_ns, low_speed_bytes, low_speed_ns;
    // Progress, for the pace check.
    int64_t wait_began, uploaded, slow_since, window_bytes, window_began;
    int64_t received;
    int64_t upload_total, answer_total;
    // The answer.
    ccurl_buffer head, answer;
    int64_t answer_limit;
    /// How many bytes of the answer it may keep; the owner grants more (wait.c).
    int64_t room;
    bool waits_for_room;
    ccurl_transfer *next_wanting, *previous_wanting;
    /// Since when it waits, how long it waited before, and the total limit once libcurl no longer keeps it.
    int64_t room_since, room_waited;
    long own_total_ms;
    /// How much of the piece that libcurl hands out once more is decoded already.
    size_t decoded;
    /// The answer has encodings that are to be undone; `coding` does it from the body's first byte on.
    bool coded, decodes, library_decodes;
    ccurl_coding *coding;
    ccurl_coding_defect coding_defect;
    /// The received bytes of what is being decoded, unless they are too many.
    ccurl_buffer raw;
    bool raw_is_lost;
    // A download. Its bytes so far, those of earlier attempts included.
    ccurl_part *part;
    int sink;
    bool paused, identity;
    /// The descriptor of the idle connection that it took, while libcurl may not have asked for it yet; -1: none.
    int taken;
    int64_t filed, file_limit;
    size_t head_total;
    int head_state;
    int head_status;
    /// A final answer has begun: not one of the 1xx that may come before it.
    bool answering;
    /// Told by `ccurl_transfer_is_answered`.
    bool answer_seen;
    size_t location, location_length;
    /// The Content-Length, if there is one.
    int64_t length;
    /// The header line before this one was a Content-Length, which a folded line would go on with.
    bool folds_length;
    bool folding, has_location, has_wait, has_length, length_unclear, chunked;
    /// The answer ends with its TLS connection, whose end has not been announced.
    bool awaits_close;
    // Evidence.
    bool opened, denied, headers_too_large, body_too_large, resend_refused, out_of_descriptors, cut_off;
    bool memory_out, looked_up, tls_began, certificate_wanted;
    /// Its connection is one of HTTP/2.
    bool multiplexed;
    char remote_ip[64];
    int local_port, peer_port;
    char error_text[CURL_ERROR_SIZE];
};

curl_socket_t ccurl_socket_open(void *transfer, curlsocktype purpose, struct curl_sockaddr *address);
int ccurl_socket_close(void *loop, curl_socket_t fd);
/// Whether the number means a socket that `ccurl_socket_open` has made; one that has ended unseen is forgotten.
bool ccurl_socket_is_open(ccurl_loop *loop, int fd);
/// Whether libcurl's session of HTTP/2 has failed in its own hands: the connection is of no use to any transfer.
bool ccurl_session_is_broken(const ccurl_transfer *t);
/// The number of the port at our end; 0: unknown.
uint16_t ccurl_socket_port(int fd);
/// libcurl looks a name up, since its cache has no address that is young enough.
void ccurl_names_asked(ccurl_transfer *t);
/// libcurl has read its cache of names. All transfers of a pool share the cache. At the end of a transfer libcurl removes each address
/// that is older than this transfer allows.
void ccurl_names_read(ccurl_transfer *t);
/// The transfer has ended, and libcurl has removed old addresses from its cache.
void ccurl_names_pruned(ccurl_transfer *t);
/// Whether the other end of the socket has this address.
bool ccurl_socket_has_peer(int fd, const char *host, int port);
/// Ends the connection that the request was last sent on, for all transfers that share it.
void ccurl_socket_end(const ccurl_transfer *t);
/// The entry of `fd`, listed for the next drain; null if memory is out (the socket then stalls until a timeout).
ccurl_descriptor *ccurl_loop_touch(ccurl_loop *loop, int fd);
/// No transfer uses the connection any more, and it stays open.
void ccurl_idle_begin(ccurl_loop *loop, int fd);
void ccurl_idle_end(ccurl_loop *loop, int fd);
/// Its descriptor is ready: with the first byte that nobody asked for, or at its end, it is over.
void ccurl_idle_ready(ccurl_loop *loop, int fd);
/// Ends an idle connection. libcurl closes it at its next look through the pool, which it has once a second while calls begin.
void ccurl_idle_retire(ccurl_loop *loop, int fd);
/// Before a request is written, on the connection with this port at our end: retires it if it was idle and something has
/// come meanwhile. Says whether it is one of HTTP/2.
bool ccurl_idle_check(ccurl_transfer *t, int port);
/// The connection that the transfer took is idle no more, whether or not libcurl has asked for it yet.
void ccurl_idle_taken(ccurl_transfer *t);
size_t ccurl_on_header(char *bytes, size_t size, size_t count, void *transfer);
/// The body of a download: paused, copied into the part's ring, or refused.
size_t ccurl_on_part_body(ccurl_transfer *t, const char *bytes, size_t length);
/// Makes an open file the content of a part; 0 or a CURLcode.
int ccurl_file_attach(ccurl_file *file, ccurl_transfer *t, curl_mimepart *part);
/// Sets the file that it waits for; null: none.
void ccurl_transfer_await(ccurl_transfer *t, ccurl_file *file);
/// Whether the answer needs more room before it can take so many bytes.
bool ccurl_lacks_room(const ccurl_transfer *t, size_t more);
/// Pauses the transfer until its owner grants more. Returns the value that the write callback has to return.
size_t ccurl_wait_for_room(ccurl_transfer *t);
/// Ends its wait and forgets how long it has waited.
void ccurl_transfer_forget_room(ccurl_transfer *t);
size_t ccurl_on_body(char *bytes, size_t size, size_t count, void *transfer);
/// Appends to the answer what needs no decoding any more; false: there is no room.
bool ccurl_keep_body(ccurl_transfer *t, const uint8_t *bytes, size_t length);
/// Frees the received bytes that are kept together with the decoded ones.
void ccurl_forget_raw(ccurl_transfer *t);
/// Makes the received bytes the body, since they cannot be decoded; false: there were too many to keep.
bool ccurl_use_raw(ccurl_transfer *t);
/// Prepares to undo the encodings that the headers list; false: it cannot be done.
bool ccurl_coding_begin(ccurl_transfer *t);
/// Undoes them for a piece of the body; false: broken, or too large. `left` is how much of the piece there was no room for.
bool ccurl_coding_write(ccurl_transfer *t, const uint8_t *bytes, size_t length, size_t *left);
/// Whether several encodings lie one in the other: then what comes out of a piece cannot stop in the middle.
bool ccurl_coding_is_nested(const ccurl_coding *c);
/// Whether a stream has begun and not come to its end.
bool ccurl_coding_is_inside(const ccurl_coding *c);
/// Forgets them.
void ccurl_coding_end(ccurl_transfer *t);
/// Whether the answer ends with its headers, whatever they say of a body.
bool ccurl_has_no_body(const ccurl_transfer *t);
/// OpenSSL's connection of a transfer; null: there is none, or libcurl does not tell.
struct ssl_st *ccurl_tls_of(CURL *easy);
/// The headers are whole: does the end of a TLS connection end the body?
void ccurl_closing_begin(ccurl_transfer *t);
/// Called until the transfer leaves its connection: has that end been announced?
void ccurl_closing_look(ccurl_transfer *t);
/// Whether all of the body has come behind whole headers, where these tell its end.
bool ccurl_answer_is_whole(const ccurl_transfer *t);
/// Whether all of the body has come behind whole headers over HTTP/2, and nothing says that the stream ended for an error.
bool ccurl_stream_is_whole(const ccurl_transfer *t);
/// Whether libcurl has given up an answer's headers over HTTP/2, which it does where they are larger than 128 KiB: the status
/// has come, and the rest not as far as to us. The call that happened to read then is told so, whosever headers they were;
/// the one whose they were may see only the end of them, without the first line that libcurl itself writes.
bool ccurl_headers_lost(const ccurl_transfer *t);
/// Called once the connection is up: does its server ask for a client certificate?
void ccurl_certificate_look(ccurl_transfer *t);
bool ccurl_buffer_reserve(ccurl_buffer *b, size_t more);
/// A pool of its own for the loop, or null.
ccurl_pool *ccurl_pool_create(ccurl_loop *loop);
/// Closes its connections; no transfer may be in it.
void ccurl_pool_destroy(ccurl_pool *pool);
/// Closes its connections at once and leaves it as new; no transfer may be in it. False: out of memory.
bool ccurl_pool_renew(ccurl_pool *pool);
/// A connection of the pool has been opened.
void ccurl_room_opened(ccurl_pool *pool, ccurl_descriptor *d);
/// A socket is being closed.
void ccurl_room_closed(ccurl_loop *loop, ccurl_descriptor *d);
/// Before a transfer opens its connection: decides whether the pool keeps it once it is idle.
void ccurl_room_enter(ccurl_transfer *t);
/// All connections of the pool are closed: those too that libcurl has closed by itself, and that count until that is seen.
void ccurl_room_emptied(ccurl_pool *pool);
/// Before a sending in `next`: gives up idle connections of other pools if there are too many.
void ccurl_room_make(ccurl_loop *loop, const ccurl_pool *next);
/// Number of connections above which libcurl closes an idle one.
long ccurl_room_limit(const ccurl_loop *loop);
/// Sets a new handle up for its transport; 0 or a CURLcode.
int ccurl_transport_apply(const ccurl_transport *transport, CURL *easy);

#endif
