// SPDX-License-Identifier: Apache-2.0
#ifndef CCURL_PART_H
#define CCURL_PART_H

#include "ccurl_disk.h"

#include <limits.h>
#include <openssl/evp.h>
#include <pthread.h>

enum {
    /// Between the loop and the thread, for each download under way.
    RING = 256 * 1024,
    /// From this many bytes on the thread is woken; at most this many are hashed before other parts have their turn.
    BATCH = 64 * 1024,
    HASH_SLICE = 1024 * 1024,
    NOTE_LIMIT = 16 * 1024,
    /// `.part.meta.new`
    LONGEST_SUFFIX = 14,
};
/// What a killed process may have to fetch again.
#define CHECKPOINT_BYTES ((int64_t)16 * 1024 * 1024)
#define CHECKPOINT_NS ((int64_t)5000000000)

/// What waits for the thread: a part that is filled, or a file that is read.
typedef struct ccurl_work ccurl_work;
struct ccurl_work {
    ccurl_disk *disk;
    /// Its own, for messages.
    const char *path;
    bool is_part;
    /// One bounded piece of work; true: there is more.
    bool (*step)(ccurl_work *);
    void (*destroy)(ccurl_work *);
    // Under the disk's lock.
    ccurl_work *next;
    /// One that is freed goes when nothing more is to be done with it.
    bool queued, freed, settled;
};

struct ccurl_disk {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    int event;
    // The thread's: to open the root may hang, too.
    char *path;
    int root;
    /// Those that wait for the thread, and the one that it is at.
    ccurl_work *first, *last, *current;
    /// When the thread began what it is at or, idle, was given work: monotonic nanoseconds.
    int64_t since;
    int64_t expire_after;
    bool stop;
    char *holder;
    /// The thread's, for hashing what lies on disk.
    uint8_t *slice;
};

enum { END_NONE, END_SUSPEND, END_FINISH };

struct ccurl_part {
    ccurl_work work;
    char *path;
    uint8_t sha256[32];
    bool checks;
    // Under the disk's lock.
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
    /// Written by the thread alone, under the lock once the part is open.
    char *text;
    // The thread's; `holder` is read by the loop only between opening and begin.
    int directory, file;
    char name[NAME_MAX + 1];
    char holder[128];
    bool begun;
    int64_t noted, checkpoint_ns, hashed;
    EVP_MD_CTX *hash;
};

// note.c, all on the thread; 0 or an errno.
int ccurl_note_read(ccurl_part *p);
int ccurl_note_write(ccurl_part *p, int64_t durable, bool sync_directory);
void ccurl_note_remove(ccurl_part *p);
int ccurl_sync_directory(int directory);
void ccurl_suffixed(char *out, const char *name, const char *suffix);
// disk.c
/// Gives the thread something to do; called with the lock held.
void ccurl_disk_enqueue(ccurl_work *w);
/// Since when the thread has been at the same piece of work while this waits for it; else 0. Called with the lock held.
int64_t ccurl_disk_waits_since(const ccurl_work *w);
/// Makes the disk's descriptor readable.
void ccurl_disk_tell(ccurl_disk *d);
// part.c
bool ccurl_part_step(ccurl_work *w);
void ccurl_part_destroy(ccurl_work *w);
/// A child that another thread forks this moment keeps the file open until its exec, and without the unlock its lock too.
void ccurl_unlock_and_close(int file);
// expire.c
/// Walks the tree; calls `pause` between entries, so that downloads go on.
void ccurl_expire_walk(int root, int64_t seconds, void (*pause)(void *), void *context);

#endif
