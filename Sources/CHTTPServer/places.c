// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct place {
    enum place_state state;
    int socket;
    // In the order of what all of them did.
    uint64_t since;
};

// Connections come and go on one thread, and each does the rest on its own.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place places[PLACES];
static uint64_t events;

static void enter(struct place *place, enum place_state state) {
    place->state = state;
    place->since = ++events;
}

// Its thread, which waits for the socket, sees the end of the stream and closes it.
static void end_longest(const struct place *newest) {
    struct place *longest = NULL;
    for (struct place *place = places; place < places + PLACES; place++) {
        if (place == newest || (place->state != PLACE_WAITS && place->state != PLACE_SENDS)) continue;
        if (!longest || place->state < longest->state || (place->state == longest->state && place->since < longest->since))
            longest = place;
    }
    if (!longest) return;
    shutdown(longest->socket, SHUT_RDWR);
    enter(longest, PLACE_ENDS);
}

struct place *place_take(int socket, int most) {
    struct place *taken = NULL;
    int open = 0;
    pthread_mutex_lock(&lock);
    for (struct place *place = places; place < places + PLACES; place++) {
        if (place->state == PLACE_IS_FREE) {
            if (!taken) taken = place;
        } else if (place->state != PLACE_ENDS) {
            open++;
        }
    }
    if (taken) {
        taken->socket = socket;
        enter(taken, PLACE_WAITS);
        if (open >= most) end_longest(taken);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void place_follow(struct place *place, enum place_state state) {
    if (!place) return;
    pthread_mutex_lock(&lock);
    if (place->state != PLACE_ENDS) enter(place, state);
    pthread_mutex_unlock(&lock);
}

void place_leave(struct place *place) {
    if (!place) return;
    pthread_mutex_lock(&lock);
    place->state = PLACE_IS_FREE;
    pthread_mutex_unlock(&lock);
}
