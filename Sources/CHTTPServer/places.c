// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct place {
    enum place_state state;
    int socket;
    // The address of the client.
    unsigned char address[16];
    // A rising number that is renewed with each change of state.
    uint64_t since;
};

// One thread opens and ends all connections. Each connection's own thread does the rest.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place places[PLACES];
static uint64_t events;

static void enter(struct place *place, enum place_state state) {
    place->state = state;
    place->since = ++events;
}

static bool has_same_address(const struct place *place, const struct place *other) {
    return !memcmp(place->address, other->address, sizeof place->address);
}

static bool is_open(const struct place *place) {
    return place->state != PLACE_IS_FREE && place->state != PLACE_ENDS;
}

// Its thread waits for the socket, sees the end of the stream, and closes it.
static void end(struct place *place) {
    shutdown(place->socket, SHUT_RDWR);
    enter(place, PLACE_ENDS);
}

// Ends the connection that has waited longest, of one address or of all. Waiting connections end before sending ones,
// in the order of enum place_state. Returns whether there was one.
static bool end_longest(const struct place *newest, bool of_its_address) {
    struct place *longest = NULL;
    for (struct place *place = places; place < places + PLACES; place++) {
        if (place == newest || (place->state != PLACE_WAITS && place->state != PLACE_SENDS)) continue;
        if (of_its_address && !has_same_address(place, newest)) continue;
        if (!longest || place->state < longest->state || (place->state == longest->state && place->since < longest->since))
            longest = place;
    }
    if (longest) end(longest);
    return longest;
}

static void note_address(struct place *place, const struct sockaddr *client) {
    memset(place->address, 0, sizeof place->address);
    if (client->sa_family == AF_INET6) {
        memcpy(place->address, &((const struct sockaddr_in6 *)client)->sin6_addr, 16);
    } else if (client->sa_family == AF_INET) {
        memcpy(place->address, &((const struct sockaddr_in *)client)->sin_addr, 4);
    }
}

struct place *place_take(int socket, const struct sockaddr *client, int most, int most_of_one) {
    struct place *taken = NULL;
    pthread_mutex_lock(&lock);
    for (struct place *place = places; place < places + PLACES && !taken; place++)
        if (place->state == PLACE_IS_FREE) taken = place;
    if (taken) {
        taken->socket = socket;
        note_address(taken, client);
        enter(taken, PLACE_WAITS);
        int open = 0, of_one = 0;
        for (struct place *place = places; place < places + PLACES; place++) {
            if (!is_open(place)) continue;
            open++;
            of_one += has_same_address(place, taken);
        }
        if (of_one > most_of_one) {
            if (!end_longest(taken, true)) end(taken);
        } else if (open > most) {
            end_longest(taken, false);
        }
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void place_set_state(struct place *place, enum place_state state) {
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
