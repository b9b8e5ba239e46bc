// SPDX-License-Identifier: Apache-2.0
#include "chttpserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "places.h"
#include "upload.h"

// People and collectors of metrics read the pages. Each connection has a thread, 256 KiB of stack, and a timeout of 10
// s without a byte. One address gets at most half of the connections. If all of them or all connections are taken, a
// new connection ends another one. So a health probe is answered even if other clients of its address hold them all.
//
// REQUEST_BYTES holds the request line, the headers, and 64 bytes for each argument: 600 ticked boxes need 60 KB.
enum {
    CONNECTIONS = 32, OF_ONE_ADDRESS = 16, TIMEOUT_S = 10, STACK_BYTES = 256 << 10, REQUEST_BYTES = 96 << 10
};

struct chttpserver_exchange {
    struct MHD_Connection *connection;
    const char *path;
    // NULL for GET and HEAD.
    const struct upload *upload;
    enum MHD_Result result;
    // Content-Disposition of a file; empty: none.
    char disposition[128];
};

// A process has one server. It is never destroyed, because that would wait for threads that wait for a database.
static struct {
    chttpserver_handler handler;
    void *context;
    // The only path that takes POST; NULL: none.
    char *post_path;
    struct MHD_Daemon *daemon;
    // The number of requests that are being answered.
    atomic_int busy;
} the_server;

const char *chttpserver_path(const chttpserver_exchange *exchange) {
    return exchange->path;
}

const char *chttpserver_header(const chttpserver_exchange *exchange, const char *name) {
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

bool chttpserver_is_post(const chttpserver_exchange *exchange) {
    return exchange->upload;
}

const void *chttpserver_body(const chttpserver_exchange *exchange, size_t *count) {
    *count = exchange->upload ? exchange->upload->count : 0;
    return *count ? exchange->upload->bytes : NULL;
}

typedef struct {
    int left;
    const char *name, *value;
} sought;

static enum MHD_Result on_argument(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    (void)kind;
    sought *s = context;
    if (s->left-- > 0) return MHD_YES;
    s->name = name;
    s->value = value;
    return MHD_NO;
}

bool chttpserver_argument(const chttpserver_exchange *exchange, int place, const char **name, const char **value) {
    sought s = {place, NULL, NULL};
    MHD_get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, on_argument, &s);
    *name = s.name;
    *value = s.value;
    return s.name != NULL;
}

// Pages load only content of this server, are not shown in frames of other sites, and are not cached. Requests to other
// sites carry no referrer. With `no-referrer` browsers would send `Origin: null` with the forms of these pages.
static const struct { const char *name, *value; } HEADERS[] = {
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Content-Security-Policy",
     "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
     "base-uri 'none'; frame-ancestors 'none'"},
};

static bool takes_post(const char *path) {
    return the_server.post_path && !strcmp(path, the_server.post_path);
}

void chttpserver_name_file(chttpserver_exchange *exchange, const char *name) {
    snprintf(exchange->disposition, sizeof exchange->disposition, "attachment; filename=\"%s\"", name);
}

void chttpserver_answer(
    chttpserver_exchange *exchange, unsigned status, const char *type, const char *location, const void *body, size_t count
) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
    if (!response) return;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++)
        MHD_add_response_header(response, HEADERS[i].name, HEADERS[i].value);
    if (*exchange->disposition) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, exchange->disposition);
        // A second policy: both apply. The sandbox also holds if a browser shows the file in spite of its disposition.
        MHD_add_response_header(response, "Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'");
    }
    if (status == MHD_HTTP_UNAUTHORIZED) {
        // Programs send the token as Bearer. Browsers ask for a password, which Basic allows.
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"postrider\", charset=\"UTF-8\"");
    }
    if (location) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, location);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(
            response, MHD_HTTP_HEADER_ALLOW, takes_post(exchange->path) ? "GET, HEAD, POST" : "GET, HEAD");
    exchange->result = MHD_queue_response(exchange->connection, status, response);
    MHD_destroy_response(response);
}

static struct place *place_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void connection_changed(
    void *context, struct MHD_Connection *connection, void **place, enum MHD_ConnectionNotificationCode what
) {
    (void)context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        place_leave(*place);
    } else {
        *place = place_take(
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr, CONNECTIONS, OF_ONE_ADDRESS);
    }
}

static void request_ended(
    void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how
) {
    (void)context, (void)how;
    if (*state && *state != &the_server) upload_end(*state);
    *state = NULL;
    place_set_state(place_of(connection), PLACE_WAITS);
}

static enum MHD_Result refuse(chttpserver_exchange *exchange, unsigned status, const char *words) {
    chttpserver_answer(exchange, status, "text/plain; charset=utf-8", NULL, words, strlen(words));
    return exchange->result;
}

static enum MHD_Result refuse_size(chttpserver_exchange *exchange) {
    return refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than 64 KiB\n");
}

// The headers of a request have arrived. An answer here ends the connection if a body follows.
static enum MHD_Result begin(chttpserver_exchange *exchange, const char *method, void **state) {
    if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD)) {
        *state = &the_server;
        return MHD_YES;
    }
    if (strcmp(method, MHD_HTTP_METHOD_POST) || !takes_post(exchange->path)) {
        *state = &the_server;
        return refuse(
            exchange, MHD_HTTP_METHOD_NOT_ALLOWED,
            takes_post(exchange->path) ? "this address answers GET, HEAD and POST only\n"
                                       : "this address answers GET and HEAD only\n");
    }
    // The library has checked that it is a number. A chunked body has none; `receive` counts it.
    const char *length = chttpserver_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length && strtoull(length, NULL, 10) > CHTTPSERVER_MOST_BYTES) {
        *state = &the_server;
        return refuse_size(exchange);
    }
    *state = upload_begin();
    return *state ? MHD_YES : MHD_NO;
}

static enum MHD_Result request(
    void *context, struct MHD_Connection *connection, const char *path, const char *method, const char *version,
    const char *body, size_t *body_count, void **state
) {
    (void)context, (void)version;
    chttpserver_exchange exchange = {.connection = connection, .path = path, .result = MHD_NO};
    // The first call delivers the headers only.
    if (!*state) return begin(&exchange, method, state);
    struct upload *upload = *state == &the_server ? NULL : *state;
    // A GET may have a body, which is dropped.
    if (*body_count) {
        bool goes_on = !upload || upload_receive(upload, body, *body_count);
        *body_count = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    if (upload && upload->received > CHTTPSERVER_MOST_BYTES) return refuse_size(&exchange);
    exchange.upload = upload;
    atomic_fetch_add(&the_server.busy, 1);
    place_set_state(place_of(connection), PLACE_ANSWERS);
    the_server.handler(the_server.context, &exchange);
    place_set_state(place_of(connection), PLACE_SENDS);
    atomic_fetch_sub(&the_server.busy, 1);
    return exchange.result;
}

static struct addrinfo *resolve(const char *address, uint16_t port) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(address, NULL, &hints, &found)) return NULL;
    if (found->ai_family == AF_INET6) {
        ((struct sockaddr_in6 *)found->ai_addr)->sin6_port = htons(port);
    } else {
        ((struct sockaddr_in *)found->ai_addr)->sin_port = htons(port);
    }
    return found;
}

int chttpserver_start(
    const char *address, uint16_t port, const char *post_path, chttpserver_handler handler, void *context
) {
    struct addrinfo *found = resolve(address, port);
    if (!found) return EINVAL;
    the_server.handler = handler;
    the_server.context = context;
    the_server.post_path = post_path ? strdup(post_path) : NULL;
    // Without MHD_USE_ITC, MHD_quiesce_daemon refuses.
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC;
    if (found->ai_family == AF_INET6) {
        flags |= MHD_USE_IPv6;
        // The unspecified IPv6 address includes all IPv4 addresses.
        if (IN6_IS_ADDR_UNSPECIFIED(&((struct sockaddr_in6 *)found->ai_addr)->sin6_addr)) flags |= MHD_USE_DUAL_STACK;
    }
    errno = 0;
    the_server.daemon = MHD_start_daemon(
        flags, port, NULL, NULL, request, NULL, MHD_OPTION_SOCK_ADDR, found->ai_addr, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)PLACES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_THREAD_STACK_SIZE,
        (size_t)STACK_BYTES, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        request_ended, NULL, MHD_OPTION_END);
    int error = errno;
    freeaddrinfo(found);
    if (the_server.daemon) return 0;
    return error ? error : EIO;
}

void chttpserver_stop(int milliseconds) {
    if (!the_server.daemon) return;
    int listener = MHD_quiesce_daemon(the_server.daemon);
    if (listener != MHD_INVALID_SOCKET) {
        // The accepting thread may keep it open for a moment.
        shutdown(listener, SHUT_RDWR);
        close(listener);
    }
    const struct timespec pause = {.tv_nsec = 5000000};
    for (int waited = 0; waited < milliseconds && atomic_load(&the_server.busy) > 0; waited += 5) nanosleep(&pause, NULL);
}

int chttpserver_is_loopback(const char *address) {
    struct addrinfo *found = resolve(address, 0);
    if (!found) return -1;
    bool is_loopback;
    if (found->ai_family == AF_INET6) {
        const struct in6_addr *bytes = &((struct sockaddr_in6 *)found->ai_addr)->sin6_addr;
        is_loopback = IN6_IS_ADDR_LOOPBACK(bytes);
    } else {
        is_loopback = ntohl(((struct sockaddr_in *)found->ai_addr)->sin_addr.s_addr) >> 24 == 127;
    }
    freeaddrinfo(found);
    return is_loopback;
}
