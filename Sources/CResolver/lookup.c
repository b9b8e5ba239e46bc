// SPDX-License-Identifier: Apache-2.0
//
// Up to four lasting threads that look up host names. libcurl would start a thread and a pair of sockets for each
// look-up, which takes as much CPU as the rest of a call. These threads serve name servers that answer at once. If an
// answer is late, the call continues without it, and libcurl looks the name up with its own limits and errors.
//
// If the name server is fast, one thread does all the work, because each wake-up of another thread takes CPU from the
// calls. A second thread watches. It takes a name that has waited for PATIENCE because the first thread waits for a
// slow answer. Then a third thread watches, and so on.
#include "cresolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 4, MOST_ADDRESSES = 16, MOST_SPARE = 64, STACK = 512 * 1024 };
/// The longest name, and the size of a whole CURLOPT_RESOLVE entry.
enum { HOST_SIZE = 256, ENTRY_SIZE = 1280 };

/// A thread ends after 10 s without work. A watching thread takes a name after 2 ms.
static const int64_t LONGEST_IDLE = 10000000000, PATIENCE = 2000000;

/// A new name is refused if the oldest name has waited for 20 ms, or if the queue would take 50 ms.
static const int64_t LONGEST_WAIT = 20000000, LONGEST_QUEUE = 50000000;

typedef struct look_up look_up;
struct look_up {
    look_up *next;
    uint64_t ticket;
    int64_t asked;
    int port;
    char host[HOST_SIZE];
    /// `+host:port:addresses`. Empty if the name was not found, or if an address cannot be written in this form.
    char entry[ENTRY_SIZE];
};

typedef struct {
    look_up *first, *last;
} queue;

struct cresolver_lookups {
    pthread_mutex_t lock;
    pthread_cond_t work;
    queue asked, answered;
    /// Threads: all, the ones that wait for work, and the ones that look a name up.
    int threads, idle, busy;
    /// An idle thread waits for the first name to become overdue. A thread was woken or started and does not run yet.
    bool is_watched, is_waking;
    int waiting, event, family;
    /// The recent duration of look-ups.
    int64_t usual_ns;
    bool stop;
    // The following fields belong to the owner's thread: answers to return, the last returned one, and records for
    // reuse.
    queue taken;
    look_up *shown, *spare;
    int spares;
};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

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

/// Appends one address in the form of CURLOPT_RESOLVE. False if it cannot be written in this form.
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
    // The zone of the address would be lost.
    if (a->sa_family != AF_INET6 || v6.sin6_scope_id) return false;
    text[length++] = '[';
    if (!inet_ntop(AF_INET6, &v6.sin6_addr, text + length, INET6_ADDRSTRLEN)) return false;
    strcat(text, "]");
    return true;
}

static void resolve(look_up *l, int family) {
    // The same hints as libcurl's.
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(l->host, NULL, &hints, &found) != 0) return;
    // With the `+` the addresses age in libcurl's cache like addresses that libcurl has looked up.
    int count = 0, start = snprintf(l->entry, sizeof l->entry, "+%s:%d:", l->host, l->port);
    for (const struct addrinfo *a = found; a; a = a->ai_next) {
        size_t size = sizeof l->entry - (size_t)start;
        if (++count <= MOST_ADDRESSES && write_address(l->entry + start, size, a->ai_addr)) continue;
        count = 0;
        break;
    }
    if (count == 0) l->entry[0] = 0;
    freeaddrinfo(found);
}

static void free_all(cresolver_lookups *s) {
    look_up *l;
    while ((l = take(&s->asked)) || (l = take(&s->answered)) || (l = take(&s->taken))) free(l);
    while ((l = s->spare)) {
        s->spare = l->next;
        free(l);
    }
    free(s->shown);
    close(s->event);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run(void *context);

static bool add_thread(cresolver_lookups *s) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    // Only the loop's thread receives signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, &attributes, run, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started) s->threads++;
    return started;
}

/// Wakes a thread, or starts one.
static void wake(cresolver_lookups *s) {
    if (s->is_waking) return;
    if (s->idle > 0) {
        s->is_waking = true;
        pthread_cond_signal(&s->work);
    } else if (s->threads < MOST_THREADS) {
        s->is_waking = add_thread(s);
    }
}

/// Waits for work. False if none came for LONGEST_IDLE.
static bool wait_for_work(cresolver_lookups *s) {
    const look_up *first = s->asked.first;
    bool watches = first && !s->is_watched;
    int64_t until = watches ? first->asked + PATIENCE : now() + LONGEST_IDLE;
    struct timespec limit = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    s->idle++;
    if (watches) s->is_watched = true;
    int code = pthread_cond_clockwait(&s->work, &s->lock, CLOCK_MONOTONIC, &limit);
    if (watches) s->is_watched = false;
    s->idle--;
    s->is_waking = false;
    return !code || watches || s->asked.first;
}

static void *run(void *context) {
    cresolver_lookups *s = context;
    pthread_mutex_lock(&s->lock);
    s->is_waking = false;
    while (!s->stop) {
        const look_up *first = s->asked.first;
        int64_t began = first ? now() : 0;
        if (!first || (s->busy > 0 && began - first->asked < PATIENCE)) {
            if (wait_for_work(s)) continue;
            break;
        }
        look_up *l = take(&s->asked);
        s->waiting--;
        // Its call has continued without it.
        if (began - l->asked > CRESOLVER_LOOKUP_NS) {
            free(l);
            continue;
        }
        s->busy++;
        if (s->asked.first && !s->is_watched) wake(s);
        pthread_mutex_unlock(&s->lock);
        resolve(l, s->family);
        int64_t took = now() - began;
        pthread_mutex_lock(&s->lock);
        s->busy--;
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

cresolver_lookups *cresolver_lookups_create(void) {
    cresolver_lookups *s = calloc(1, sizeof *s);
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

void cresolver_lookups_destroy(cresolver_lookups *s) {
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    // A thread that waits for a name server may take seconds to end. So the last thread frees the memory.
    bool is_last = s->threads == 0;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    if (is_last) free_all(s);
}

int cresolver_lookups_descriptor(const cresolver_lookups *s) { return s->event; }

bool cresolver_lookups_ask(cresolver_lookups *s, uint64_t ticket, const char *host, int port) {
    int64_t asked = now();
    size_t length = strlen(host);
    if (length >= HOST_SIZE) return false;
    look_up *l = s->spare;
    if (l) {
        s->spare = l->next;
        s->spares--;
    } else if (!(l = malloc(sizeof *l))) {
        return false;
    }
    l->ticket = ticket;
    l->asked = asked;
    l->port = port;
    memcpy(l->host, host, length + 1);
    l->entry[0] = 0;
    pthread_mutex_lock(&s->lock);
    bool is_late = s->asked.first && asked - s->asked.first->asked > LONGEST_WAIT;
    is_late |= s->waiting * s->usual_ns / MOST_THREADS > LONGEST_QUEUE;
    if (!is_late && (s->busy == 0 || !s->is_watched)) wake(s);
    bool accepts = !is_late && s->threads > 0;
    if (accepts) {
        append(&s->asked, l);
        s->waiting++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!accepts) free(l);
    return accepts;
}

void cresolver_lookups_drain(cresolver_lookups *s) {
    eventfd_t count;
    eventfd_read(s->event, &count);
    pthread_mutex_lock(&s->lock);
    look_up *l;
    while ((l = take(&s->answered))) append(&s->taken, l);
    pthread_mutex_unlock(&s->lock);
}

bool cresolver_lookups_next(cresolver_lookups *s, uint64_t *ticket, const char **entry) {
    if (s->shown && s->spares < MOST_SPARE) {
        s->shown->next = s->spare;
        s->spare = s->shown;
        s->spares++;
    } else {
        free(s->shown);
    }
    s->shown = take(&s->taken);
    if (!s->shown) return false;
    *ticket = s->shown->ticket;
    *entry = s->shown->entry[0] ? s->shown->entry : NULL;
    return true;
}
