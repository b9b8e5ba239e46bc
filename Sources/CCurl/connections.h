// SPDX-License-Identifier: Apache-2.0
//
// Connections of a loop. The folders of this target are its layers: Connections, Answers, Requests, Transfers. No file
// calls a function of a later folder.
#ifndef CCURL_CONNECTIONS_H
#define CCURL_CONNECTIONS_H

#include "ccurl_transfer.h"

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

/// Events of a descriptor.
enum { EVENT_READ = 1, EVENT_WRITE = 2 };

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

enum { FOR_FILE, FOR_ROOM };

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
    /// The transfers that wait for files, and those that wait for room (waiting.c).
    ccurl_transfer *waiting[2];
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
    ccurl_transport_settings settings;
};

// buffers.c
/// The bytes that libcurl reads at once over HTTP/1. It allocates one byte more, so a buffer fills four pages of 4 KiB.
enum { CCURL_BUFFER = 16383 };
/// Calls curl_global_init. Buffers of calls then have pages of their own. Returns 0 or a CURLcode.
int ccurl_start_with_buffers(void);
// waiting.c
/// Adds the transfer to a list, FOR_FILE or FOR_ROOM, and removes it.
void ccurl_waiting_join(ccurl_transfer *t, int list);
void ccurl_waiting_leave(ccurl_transfer *t, int list);
/// Sets the file that it waits for; null: none.
void ccurl_transfer_await(ccurl_transfer *t, cfiles_file *file);
// tls.c
/// The OpenSSL connection of a transfer. Null without one, or if libcurl does not expose it.
struct ssl_st *ccurl_tls_of(CURL *easy);
/// Checks, once the connection is up, whether its server asks for a client certificate.
void ccurl_certificate_look(ccurl_transfer *t);
// table.c
/// Drops the previous socket of this number. The kernel has removed it from the owner's epoll set when it was closed.
/// The wanted interest stays: libcurl does not request it again if the new socket has the same number and direction.
void ccurl_table_forget(ccurl_loop *loop, int fd);
/// Whether the number is a socket that `ccurl_socket_open` has opened. A socket that ended without a notice is dropped.
bool ccurl_socket_is_open(ccurl_loop *loop, int fd);
/// The entry of `fd`, listed for the next drain. Null without memory; then the socket stalls until a timeout.
ccurl_descriptor *ccurl_table_touch(ccurl_loop *loop, int fd);
/// Call this when no transfer uses the connection, and it stays open.
void ccurl_table_set_idle(ccurl_loop *loop, int fd);
void ccurl_table_set_used(ccurl_loop *loop, int fd);
/// Records that a connection of the pool was opened.
void ccurl_table_opened(ccurl_pool *pool, ccurl_descriptor *d);
/// Records that a socket is being closed.
void ccurl_table_closed(ccurl_loop *loop, ccurl_descriptor *d);
/// Records that all connections of the pool are closed, including those that libcurl has closed without a notice.
void ccurl_table_emptied(ccurl_pool *pool);
// names.c
/// Call this when libcurl looks a name up, because its cache has no address that is young enough.
void ccurl_names_asked(ccurl_transfer *t);
/// Call this when libcurl has read its cache of names. All transfers of a pool share the cache. At the end of a
/// transfer libcurl removes each address that is older than this transfer allows.
void ccurl_names_read(ccurl_transfer *t);
/// Call this when the transfer has ended, and libcurl has removed old addresses from its cache.
void ccurl_names_pruned(ccurl_transfer *t);
// idle.c
/// Call this when its descriptor is ready. The first unrequested byte, or the end, retires the connection.
void ccurl_idle_ready(ccurl_loop *loop, int fd);
/// Ends an idle connection. libcurl closes it at its next check of the pool, once a second while calls begin.
void ccurl_idle_retire(ccurl_loop *loop, int fd);
/// Checks the connection with this local port before a request is written. If it was idle and bytes have arrived, it is
/// retired. Returns whether it is HTTP/2.
bool ccurl_idle_check(ccurl_transfer *t, int port);
/// Records that the transfer's connection is in use, whether or not libcurl has requested the socket.
void ccurl_idle_taken(ccurl_transfer *t);
// pool.c
/// Creates a pool for the loop. Null without memory.
ccurl_pool *ccurl_pool_create(ccurl_loop *loop);
/// Closes its connections. No transfer may be in it.
void ccurl_pool_destroy(ccurl_pool *pool);
/// Closes its connections at once and creates it again. No transfer may be in it. False without memory.
bool ccurl_pool_renew(ccurl_pool *pool);
/// The number of connections above which libcurl closes an idle one.
long ccurl_pool_limit(const ccurl_loop *loop);
// descriptors.c
/// Decides, before a transfer opens its connection, whether the pool keeps the connection when it is idle.
void ccurl_descriptors_opening(ccurl_transfer *t);
/// Closes idle connections of other pools if there are too many. Call it before a sending in `next`.
void ccurl_descriptors_release(ccurl_loop *loop, const ccurl_pool *next);
// socket.c
curl_socket_t ccurl_socket_open(void *transfer, curlsocktype purpose, struct curl_sockaddr *address);
int ccurl_socket_close(void *loop, curl_socket_t fd);
/// Whether libcurl's HTTP/2 session has failed internally. Then no transfer can use the connection.
bool ccurl_session_is_broken(const ccurl_transfer *t);
/// Ends the connection of the last request, for all transfers that share it.
void ccurl_socket_end(const ccurl_transfer *t);
// transport.c
/// Applies the settings of its transport to a new handle. Returns 0 or a CURLcode.
int ccurl_transport_apply(const ccurl_transport *transport, CURL *easy);

#endif
