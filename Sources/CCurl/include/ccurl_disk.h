// SPDX-License-Identifier: Apache-2.0
//
// Downloads to disk, and files from disk. A `ccurl_disk` is one helper thread for all work that may block: opening,
// reading, writing, hashing, syncing, renaming. The loop's thread only copies bytes into a part's ring and reads its
// state. The disk's descriptor (an eventfd) becomes readable when a state has changed.
//
// A download of `a/b` is in `a/b.part` while it grows, with a note next to it, `a/b.part.meta`. The note contains the
// writer, the owner's text, and how many bytes are durable. It is replaced as a whole, and never counts bytes that are
// not durable.
#ifndef CCURL_DISK_H
#define CCURL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccurl_disk ccurl_disk;
typedef struct ccurl_part ccurl_part;
typedef struct ccurl_file ccurl_file;

typedef enum {
    CCURL_PART_OPENING,
    CCURL_PART_OPEN,
    /// Closed and kept for another attempt. A part without bytes is removed.
    CCURL_PART_SUSPENDED,
    /// The file has its final name.
    CCURL_PART_DONE,
    CCURL_PART_FAILED,
} ccurl_part_state;

/// The step that failed.
typedef enum {
    CCURL_STAGE_NONE,
    CCURL_STAGE_PATH,
    CCURL_STAGE_KIND,
    CCURL_STAGE_LOCK,
    CCURL_STAGE_WRITE,
    CCURL_STAGE_NOTE,
    CCURL_STAGE_CHECKSUM,
    CCURL_STAGE_RENAME,
} ccurl_part_stage;

typedef struct {
    ccurl_part_state state;
    ccurl_part_stage stage;
    int os_errno;
    /// How many durable bytes were found when the part was opened, and how many there are now.
    int64_t found, durable;
    /// How many bytes are in the file, durable or not.
    int64_t written;
    /// Whether there is room again, after `ccurl_part_append` had none.
    bool has_room;
    /// The owner's text in the note that was found; null before the part is open. Valid until the next begin or free.
    const char *_Nullable text;
    /// The holder of the lock, if the stage is CCURL_STAGE_LOCK; possibly empty.
    const char *_Nonnull holder;
    /// While this part waits for the thread: since when the thread has worked on its current step, of any part, by
    /// `ccurl_now`. Otherwise 0.
    int64_t waits_since;
} ccurl_part_status;

/// Starts the thread. `holder` names this process to others that find a part locked. Null without memory or threads.
ccurl_disk *_Nullable ccurl_disk_create(const char *_Nonnull root, const char *_Nonnull holder);
/// Finishes the current work and ends the thread. After 10 s it leaves a thread that hangs, with its memory. All parts
/// must be freed before.
void ccurl_disk_destroy(ccurl_disk *_Nonnull disk);
/// Copies the path of the current work, cut to `size` bytes including the NUL; empty if the thread is idle. True if it
/// is the path of a part, whose file has the same name with `.part`.
bool ccurl_disk_current(ccurl_disk *_Nonnull disk, char *_Nonnull path, size_t size);
int ccurl_disk_descriptor(const ccurl_disk *_Nonnull disk);
/// Makes the descriptor unreadable until the next change.
void ccurl_disk_drain(ccurl_disk *_Nonnull disk);
/// Removes all parts below the root that are unchanged for this time, in the background.
void ccurl_disk_expire(ccurl_disk *_Nonnull disk, int64_t seconds);

/// Opens and locks the part for `path`, and creates missing directories. `sha256`: 32 bytes, or null. Null without
/// memory.
ccurl_part *_Nullable ccurl_part_open(
    ccurl_disk *_Nonnull disk, const char *_Nonnull path, const uint8_t *_Nullable sha256);
ccurl_part_status ccurl_part_look(ccurl_part *_Nonnull part);
/// Begins to write at byte `offset`, and cuts off the bytes after it. With `text` the note is replaced before the file
/// is changed. Without it the note stays. False without memory.
bool ccurl_part_begin(ccurl_part *_Nonnull part, int64_t offset, const char *_Nullable text);
/// Copies bytes into the ring: all of them, or none if there is no room or the part has failed.
bool ccurl_part_append(ccurl_part *_Nonnull part, const void *_Nonnull bytes, size_t length);
/// Writes the bytes of the ring. It makes them durable 5 s or 16 MiB after the last time.
void ccurl_part_flush(ccurl_part *_Nonnull part);
/// Completes the file: checks the hash, syncs, renames, syncs the directory.
void ccurl_part_finish(ccurl_part *_Nonnull part);
/// Makes the bytes durable and closes the part.
void ccurl_part_suspend(ccurl_part *_Nonnull part);
/// Suspends the part if it is open. The pointer is void afterwards.
void ccurl_part_free(ccurl_part *_Nonnull part);

// MARK: files that are sent (file.c)

/// The read-ahead for the file that is being sent, and for the next files of its call.
enum { CCURL_FILE_AHEAD = 256 * 1024 };

/// CHANGED: the rest cannot be sent: the file changed, a read failed, or memory was short.
typedef enum { CCURL_FILE_OPENING, CCURL_FILE_OPEN, CCURL_FILE_REFUSED, CCURL_FILE_CHANGED } ccurl_file_state;

/// ROOT: the root cannot be opened. OUTSIDE: the path leaves the root. LINK: it has a symbolic link. KIND: no regular
/// file. DESCRIPTORS: too many open files.
typedef enum {
    CCURL_FILE_ROOT, CCURL_FILE_ABSENT, CCURL_FILE_OUTSIDE, CCURL_FILE_LINK, CCURL_FILE_KIND, CCURL_FILE_UNREADABLE,
    CCURL_FILE_DESCRIPTORS,
} ccurl_file_refusal;

typedef struct {
    ccurl_file_state state;
    /// The reason, if it is refused.
    ccurl_file_refusal refusal;
    /// The size, known once the file is open.
    int64_t size;
    /// Whether bytes were read that are not sent yet.
    bool has_bytes;
    /// As in `ccurl_part_status`.
    int64_t waits_since;
} ccurl_file_status;

/// Begins to open a regular file below the root without following a link. It also reads the file if it is the first of
/// its call. Null without memory.
ccurl_file *_Nullable ccurl_file_open(ccurl_disk *_Nonnull disk, const char *_Nonnull path, bool is_first);
/// Begins to read an open file. The descriptor becomes readable when it has bytes.
void ccurl_file_read(ccurl_file *_Nonnull file);
ccurl_file_status ccurl_file_look(const ccurl_file *_Nonnull file);
/// Frees the file. The pointer is void afterwards. The transfer that sends it must be stopped before.
void ccurl_file_free(ccurl_file *_Nonnull file);

/// The SHA-256 of a short text, 32 bytes. False if the library refuses.
bool ccurl_sha256(const void *_Nonnull bytes, size_t length, uint8_t *_Nonnull out);

#endif
