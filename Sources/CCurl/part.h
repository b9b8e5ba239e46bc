// SPDX-License-Identifier: Apache-2.0
#ifndef CCURL_PART_H
#define CCURL_PART_H

#include "ccurl_disk.h"

#include <limits.h>
#include <openssl/evp.h>
#include <pthread.h>

enum {
    /// The buffer between the loop and the thread, for each running download.
    RING = 256 * 1024,
    /// From so many bytes on the thread is woken. At most HASH_SLICE bytes are hashed before other parts get their
    /// turn.
    BATCH = 64 * 1024,
    HASH_SLICE = 1024 * 1024,
    NOTE_LIMIT = 16 * 1024,
    /// `.part.meta.new`
    LONGEST_SUFFIX = 14,
};
/// A killed process must fetch at most this much again.
#define CHECKPOINT_BYTES ((int64_t)16 * 1024 * 1024)
#define CHECKPOINT_NS ((int64_t)5000000000)

/// Work for the thread: a part that is filled, or a file that is read.
typedef struct ccurl_work ccurl_work;
struct ccurl_work {
    ccurl_disk *disk;
    /// Its own copy of the path, for messages.
    const char *path;
    bool is_part;
    /// Does one bounded piece of work. True if more is left.
    bool (*step)(ccurl_work *);
    void (*destroy)(ccurl_work *);
    // Protected by the disk's lock.
    ccurl_work *next;
    /// A freed work is destroyed once all its steps are done.
    bool queued, freed, settled;
};

struct ccurl_disk {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    int event;
    // Used by the thread only, because to open the root may hang as well.
    char *path;
    int root;
    /// The queue for the thread, and its current work.
    ccurl_work *first, *last, *current;
    /// When the thread began its current work or, if idle, was given work: monotonic nanoseconds.
    int64_t since;
    int64_t expire_after;
    bool stop;
    char *holder;
    /// The thread's buffer for hashing bytes on disk.
    uint8_t *slice;
};

enum { END_NONE, END_SUSPEND, END_FINISH };

struct ccurl_part {
    ccurl_work work;
    char *path;
    uint8_t sha256[32];
    bool checks;
    // Protected by the disk's lock.
    bool starved, flush, begins;
    int end;
    int64_t begin_offset;
    char *begin_text;
    uint8_t *ring;
    uint64_t head, tail;
    ccurl_part_state state;
    ccurl_part_stage stage;
    int os_errno;
    int64_t found, durable, written;
    /// Written by the thread only, with the lock held once the part is open.
    char *text;
    // Used by the thread. The loop reads `holder` only between opening and begin.
    int directory, file;
    char name[NAME_MAX + 1];
    char holder[128];
    bool begun;
    int64_t noted, checkpoint_ns, hashed;
    EVP_MD_CTX *hash;
};

// note.c, all on the thread. Each returns 0 or an errno.
int ccurl_note_read(ccurl_part *p);
int ccurl_note_write(ccurl_part *p, int64_t durable, bool sync_directory);
void ccurl_note_remove(ccurl_part *p);
int ccurl_sync_directory(int directory);
void ccurl_suffixed(char *out, const char *name, const char *suffix);
// disk.c
/// Gives the thread work. The caller holds the lock.
void ccurl_disk_enqueue(ccurl_work *w);
/// Since when the thread has worked on the same step while this work waits; otherwise 0. The caller holds the lock.
int64_t ccurl_disk_waits_since(const ccurl_work *w);
/// Makes the disk's descriptor readable.
void ccurl_disk_tell(ccurl_disk *d);
// part.c
bool ccurl_part_step(ccurl_work *w);
void ccurl_part_destroy(ccurl_work *w);
/// A child that another thread forks at this moment keeps the file open until its exec. Without the unlock it would
/// also keep the lock.
void ccurl_unlock_and_close(int file);
// expire.c
/// Walks the tree. It calls `pause` between entries, so that downloads continue.
void ccurl_expire_walk(int root, int64_t seconds, void (*pause)(void *), void *context);

#endif
