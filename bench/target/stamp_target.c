// SPDX-License-Identifier: Apache-2.0
// stamp_target PORT: a small HTTP/1.1 server on 127.0.0.1 that reports when calls arrived.
// It accepts only GET and keeps connections open.
//
//   /stamp/N     stores the wall clock (ns) of the first arrival of N, 0 <= N < STAMPS.
//   /stamps      returns all stamps as lines "N ns".
//   /stamps/A/B  returns the stamps of A <= N < B.
//   /arrived     returns the number of stamps.
//   /clear       deletes all stamps.
//
//   /delay/MS    answers after MS. Answers leave in order of arrival, so use one MS at a time.
//   /waiting     returns the number of delayed answers that are not sent yet.
//
// Other paths are answered at once. Every answer except /stamps, /arrived and /waiting is about 300 bytes of JSON.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 16384, REQUEST_BYTES = 8192, STAMPS = 1 << 24, DELAYED = 1 << 16, EVENTS = 512 };

typedef struct {
    char bytes[REQUEST_BYTES];
    size_t length;
    unsigned generation;  // counts closes, so that a delayed answer is not sent to a later connection
} Connection;

typedef struct {
    int64_t due_ms;
    int socket;
    unsigned generation;
} Delayed;

static Connection *connections[CONNECTIONS];
static int64_t stamps[STAMPS];
static int stamps_end, stamps_count;  // no number from stamps_end on has a stamp
static Delayed delayed[DELAYED];
static unsigned delayed_first, delayed_end;
static char answer[1024];
static size_t answer_length;

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t now_ms(void) { return clock_ns(CLOCK_MONOTONIC) / 1000000; }

static void send_all(int socket, const char *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(socket, bytes, length, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            length -= sent;
        } else if (sent < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){socket, POLLOUT, 0}, 1, 1000);
        } else {
            return;
        }
    }
}

static void send_text(int socket, const char *text, size_t length) {
    char head[128];
    int head_length = snprintf(
        head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n", length);
    send_all(socket, head, head_length);
    send_all(socket, text, length);
}

static void send_number(int socket, unsigned number) {
    char text[32];
    send_text(socket, text, snprintf(text, sizeof text, "%u\n", number));
}

static void store_stamp(long number) {
    if (number < 0 || number >= STAMPS || stamps[number]) return;
    stamps[number] = clock_ns(CLOCK_REALTIME);
    stamps_count++;
    if (number >= stamps_end) stamps_end = number + 1;
}

static void clear_stamps(void) {
    memset(stamps, 0, stamps_end * sizeof *stamps);
    stamps_end = stamps_count = 0;
}

static void send_stamps(int socket, int first, int end) {
    if (first < 0) first = 0;
    if (end > stamps_end) end = stamps_end;
    char *text = malloc(end > first ? (size_t)(end - first) * 32 : 1);
    size_t length = 0;
    for (int i = first; i < end; i++)
        if (stamps[i]) length += sprintf(text + length, "%d %lld\n", i, (long long)stamps[i]);
    send_text(socket, text, length);
    free(text);
}

static void serve(int socket, const char *path) {
    if (!strncmp(path, "/stamp/", 7)) {
        store_stamp(strtol(path + 7, NULL, 10));
    } else if (!strncmp(path, "/delay/", 7)) {
        if (delayed_end - delayed_first < DELAYED) {
            int64_t due = now_ms() + strtol(path + 7, NULL, 10);
            delayed[delayed_end++ % DELAYED] = (Delayed){due, socket, connections[socket]->generation};
            return;
        }
    } else if (!strcmp(path, "/clear")) {
        clear_stamps();
    } else if (!strncmp(path, "/stamps", 7)) {
        int first = 0, end = STAMPS;
        sscanf(path, "/stamps/%d/%d", &first, &end);
        send_stamps(socket, first, end);
        return;
    } else if (!strcmp(path, "/arrived")) {
        send_number(socket, stamps_count);
        return;
    } else if (!strcmp(path, "/waiting")) {
        send_number(socket, delayed_end - delayed_first);
        return;
    }
    send_all(socket, answer, answer_length);
}

static void answer_delayed(void) {
    int64_t now = now_ms();
    while (delayed_first != delayed_end && delayed[delayed_first % DELAYED].due_ms <= now) {
        Delayed *next = &delayed[delayed_first++ % DELAYED];
        if (connections[next->socket]->generation == next->generation) send_all(next->socket, answer, answer_length);
    }
}

static void accept_all(int listener, int epoll) {
    int socket;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (socket >= CONNECTIONS || (!connections[socket] && !(connections[socket] = calloc(1, sizeof(Connection))))) {
            close(socket);
            continue;
        }
        connections[socket]->length = 0;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &(struct epoll_event){.events = EPOLLIN, .data.fd = socket});
    }
}

static void read_requests(int socket) {
    Connection *connection = connections[socket];
    size_t room = REQUEST_BYTES - 1 - connection->length;
    ssize_t got = recv(socket, connection->bytes + connection->length, room, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {  // closed, failed, or a request that does not fit
        connection->generation++;
        close(socket);
        return;
    }
    connection->length += got;
    connection->bytes[connection->length] = 0;
    char *end;
    while ((end = strstr(connection->bytes, "\r\n\r\n"))) {
        char path[256] = "/";
        sscanf(connection->bytes, "%*s %255s", path);
        size_t used = end + 4 - connection->bytes;
        connection->length -= used;
        memmove(connection->bytes, end + 4, connection->length + 1);
        serve(socket, path);
    }
}

static int listen_on(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8192)) {
        perror("stamp_target: listen");
        exit(1);
    }
    return listener;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: stamp_target PORT\n");
        return 64;
    }
    char body[320];
    int length = snprintf(body, sizeof body, "{\"accepted\":true,\"padding\":\"%0*d\"}", 262, 0);
    answer_length = snprintf(
        answer, sizeof answer,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body);
    int listener = listen_on(atoi(arguments[1]));
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
    struct epoll_event events[EVENTS];
    for (;;) {
        int wait_ms = -1;  // no time limit if no answer is delayed
        if (delayed_first != delayed_end) {
            int64_t left = delayed[delayed_first % DELAYED].due_ms - now_ms();
            wait_ms = left > 0 ? (int)left : 0;
        }
        int ready = epoll_wait(epoll, events, EVENTS, wait_ms);
        for (int i = 0; i < ready; i++)
            events[i].data.fd == listener ? accept_all(listener, epoll) : read_requests(events[i].data.fd);
        answer_delayed();
    }
}
