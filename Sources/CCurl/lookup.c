// SPDX-License-Identifier: Apache-2.0
//
// Four lasting threads that look up host names. libcurl starts a thread and a pair of sockets for each look-up. That
// takes as much CPU as the rest of a call. These threads serve name servers that answer at once. If an answer is late, the call goes on without
// it, and libcurl looks the name up itself, with its own limits and errors.
#include "ccurl.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 4, MOST_ADDRESSES = 16, IDLE_SECONDS = 10, STACK = 512 * 1024 };

/// A new name is refused if the oldest name has waited for more than 20 ms, or if the queue takes more than 50 ms to look up.
static const int64_t LONGEST_WAIT = 20000000, LONGEST_QUEUE = 50000000;

typedef struct look_up look_up;
struct look_up {
    look_up *next;
    uint64_t ticket;
    int64_t asked;
    char host[CCURL_HOST_SIZE];
    char addresses[CCURL_ADDRESSES_SIZE];
};

typedef struct {
    look_up *first, *last;
} queue;

struct ccurl_lookups {
    pthread_mutex_t lock;
    pthread_cond_t work;
    queue asked, answered;
    int threads, idle, waiting, event, family;
    /// How long look-ups have taken lately.
    int64_t usual_ns;
    bool stop;
};

static void append(queue *q, look_up *l) {
    l->next = NULL;
    if (q->last) q->last->next = l;
    else q->first = l;
    q->last = l;
}

static look_up *take(queue *q) {
    look_up *l = q->first;
    if (!l) return NULL;
    q->first = l->next;
    if (!q->first) q->last = NULL;
    return l;
}

/// Appends one address as CURLOPT_RESOLVE takes it; false: it cannot be written so.
static bool write_address(char *text, size_t size, const struct sockaddr *a) {
    size_t length = strlen(text);
    if (length + INET6_ADDRSTRLEN + 4 > size) return false;
    if (length) text[length++] = ',';
    if (a->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, a, sizeof v4);
        return inet_ntop(AF_INET, &v4.sin_addr, text + length, INET6_ADDRSTRLEN) != NULL;
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, a, sizeof v6);
    // The zone would be lost.
    if (a->sa_family != AF_INET6 || v6.sin6_scope_id) return false;
    text[length++] = '[';
    if (!inet_ntop(AF_INET6, &v6.sin6_addr, text + length, INET6_ADDRSTRLEN)) return false;
    strcat(text, "]");
    return true;
}

static void resolve(look_up *l, int family) {
    // As libcurl asks.
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(l->host, NULL, &hints, &found) != 0) return;
    int count = 0;
    for (const struct addrinfo *a = found; a; a = a->ai_next) {
        if (++count <= MOST_ADDRESSES && write_address(l->addresses, sizeof l->addresses, a->ai_addr)) continue;
        l->addresses[0] = 0;
        break;
    }
    freeaddrinfo(found);
}

static void free_all(ccurl_lookups *s) {
    look_up *l;
    while ((l = take(&s->asked)) || (l = take(&s->answered))) free(l);
    close(s->event);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run(void *context) {
    ccurl_lookups *s = context;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        look_up *l = take(&s->asked);
        if (!l) {
            struct timespec limit;
            clock_gettime(CLOCK_MONOTONIC, &limit);
            limit.tv_sec += IDLE_SECONDS;
            s->idle++;
            int code = pthread_cond_clockwait(&s->work, &s->lock, CLOCK_MONOTONIC, &limit);
            s->idle--;
            if (code && !s->asked.first) break;
            continue;
        }
        s->waiting--;
        int64_t began = ccurl_now();
        // Its call has gone on without it.
        if (began - l->asked > CCURL_LOOKUP_NS) {
            free(l);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        resolve(l, s->family);
        int64_t took = ccurl_now() - began;
        pthread_mutex_lock(&s->lock);
        s->usual_ns += (took - s->usual_ns) / 8;
        bool wakes = !s->answered.first && !s->stop;
        append(&s->answered, l);
        if (wakes) eventfd_write(s->event, 1);
    }
    bool is_last = --s->threads == 0 && s->stop;
    pthread_mutex_unlock(&s->lock);
    if (is_last) free_all(s);
    return NULL;
}

ccurl_lookups *ccurl_lookups_create(void) {
    ccurl_lookups *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->event < 0) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    int v6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    s->family = v6 < 0 ? AF_INET : AF_UNSPEC;
    if (v6 >= 0) close(v6);
    return s;
}

void ccurl_lookups_destroy(ccurl_lookups *s) {
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    // A thread that waits for a name server would take seconds to end: the last one frees it all.
    bool is_last = s->threads == 0;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    if (is_last) free_all(s);
}

int ccurl_lookups_descriptor(const ccurl_lookups *s) { return s->event; }

static bool add_thread(ccurl_lookups *s) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    // Signals are the loop's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, &attributes, run, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started) s->threads++;
    return started;
}

bool ccurl_lookups_ask(ccurl_lookups *s, uint64_t ticket, const char *host) {
    int64_t now = ccurl_now();
    size_t length = strlen(host);
    look_up *l = length < CCURL_HOST_SIZE ? malloc(sizeof *l) : NULL;
    if (!l) return false;
    l->ticket = ticket;
    l->asked = now;
    memcpy(l->host, host, length + 1);
    l->addresses[0] = 0;
    pthread_mutex_lock(&s->lock);
    bool is_late = s->asked.first && now - s->asked.first->asked > LONGEST_WAIT;
    is_late |= s->waiting * s->usual_ns / MOST_THREADS > LONGEST_QUEUE;
    // More names wait than idle threads will take.
    if (!is_late && !s->idle && s->threads < MOST_THREADS) add_thread(s);
    bool accepts = !is_late && s->threads > 0;
    if (accepts) {
        append(&s->asked, l);
        s->waiting++;
        if (s->idle) pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    if (!accepts) free(l);
    return accepts;
}

void ccurl_lookups_drain(ccurl_lookups *s) {
    eventfd_t count;
    eventfd_read(s->event, &count);
}

bool ccurl_lookups_next(ccurl_lookups *s, uint64_t *ticket, char *addresses) {
    pthread_mutex_lock(&s->lock);
    look_up *l = take(&s->answered);
    pthread_mutex_unlock(&s->lock);
    if (!l) return false;
    *ticket = l->ticket;
    memcpy(addresses, l->addresses, CCURL_ADDRESSES_SIZE);
    free(l);
    return true;
}
