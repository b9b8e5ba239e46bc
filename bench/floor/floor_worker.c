// SPDX-License-Identifier: Apache-2.0
// floor_worker CONNINFO CONCURRENCY: the plainest worker that keeps its results, as a yardstick.
//
// One thread, libpq and libcurl's multi interface, blocking SQL in batches: claim up to BATCH jobs with SKIP LOCKED,
// call them, finish up to BATCH by one statement over unnest. It has no leases, retries, limits or clean stop. So its
// rate is the limit of this design on a machine, before any feature costs time. It is not a product.
#include <curl/curl.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, FLUSH_AFTER_MS = 5, POLL_EVERY_MS = 1000, IDLE_WAIT_MS = 500, CALL_TIMEOUT_MS = 30000 };

static const char CLAIM[] =
    "with picked as ("
    "  select id from jobs where state = 0 and run_at <= now() order by run_at, id limit $1 for update skip locked)"
    " update jobs j set state = 1, attempt = attempt + 1, claimed_at = now()"
    " from picked where j.id = picked.id returning j.id, j.url";

static const char FINISH[] =
    "with answer as (select * from unnest($1::bigint[], $2::int[], $3::text[]) as a(id, status, body)),"
    " gone as (delete from jobs j using answer where j.id = answer.id and j.state = 1 returning j.id)"
    " insert into results (job_id, status, body)"
    " select answer.id, answer.status, answer.body from answer join gone using (id)";

// A growing text: a response body, or an array literal under construction.
typedef struct {
    char *bytes;
    size_t length, capacity;
} Text;

typedef struct {
    CURL *handle;
    long long job;
    Text body;
} Transfer;

typedef struct {
    long long id;
    char *url;
} Job;

static PGconn *database;
static CURLM *multi;
static Transfer *transfers, **idle;
static int concurrency, idle_count;
static Job claimed[BATCH];
static int claimed_count, claimed_next;
static Text ids, statuses, bodies;
static int unsaved;
static double unsaved_since;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "floor_worker: %s: %s", what, why);
    exit(1);
}

static void reserve(Text *text, size_t more) {
    if (text->length + more <= text->capacity) return;
    text->capacity = 2 * (text->length + more);
    text->bytes = realloc(text->bytes, text->capacity);
    if (!text->bytes) fail("memory", "none left\n");
}

static void append(Text *text, const char *bytes, size_t length) {
    reserve(text, length + 1);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

// An element of a text[] literal: quoted, with quotes and backslashes escaped.
static void append_element(Text *text, const Text *value) {
    reserve(text, 2 * value->length + 3);
    char *out = text->bytes + text->length;
    *out++ = '"';
    for (size_t i = 0; i < value->length; i++) {
        if (value->bytes[i] == '"' || value->bytes[i] == '\\') *out++ = '\\';
        *out++ = value->bytes[i];
    }
    *out++ = '"';
    *out = 0;
    text->length = out - text->bytes;
}

static size_t receive(char *bytes, size_t size, size_t count, void *transfer) {
    append(&((Transfer *)transfer)->body, bytes, size * count);
    return size * count;
}

static void open_database(const char *conninfo) {
    database = PQconnectdb(conninfo);
    if (PQstatus(database) != CONNECTION_OK) fail("connect", PQerrorMessage(database));
    PQclear(PQexec(database, "listen floor"));
    PQclear(PQprepare(database, "claim", CLAIM, 1, (Oid[]){23}));  // 23: int4
    PQclear(PQprepare(database, "finish", FINISH, 3, NULL));
}

static void open_transfers(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
    transfers = calloc(concurrency, sizeof *transfers);
    idle = calloc(concurrency, sizeof *idle);
    for (int i = 0; i < concurrency; i++) {
        Transfer *transfer = &transfers[i];
        transfer->handle = curl_easy_init();
        curl_easy_setopt(transfer->handle, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(transfer->handle, CURLOPT_WRITEDATA, transfer);
        curl_easy_setopt(transfer->handle, CURLOPT_PRIVATE, transfer);
        curl_easy_setopt(transfer->handle, CURLOPT_TIMEOUT_MS, (long)CALL_TIMEOUT_MS);
        curl_easy_setopt(transfer->handle, CURLOPT_NOSIGNAL, 1L);
        idle[idle_count++] = transfer;
    }
}

static bool notified(void) {
    bool any = false;
    PGnotify *note;
    PQconsumeInput(database);
    while ((note = PQnotifies(database))) {
        any = true;
        PQfreemem(note);
    }
    return any;
}

// Claims a batch. Returns true if the batch is full, because more jobs may then be ready.
static bool claim(void) {
    char limit[16];
    snprintf(limit, sizeof limit, "%d", BATCH);
    PGresult *rows = PQexecPrepared(database, "claim", 1, (const char *[]){limit}, NULL, NULL, 0);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK) fail("claim", PQresultErrorMessage(rows));
    claimed_count = PQntuples(rows);
    claimed_next = 0;
    for (int i = 0; i < claimed_count; i++) {
        free(claimed[i].url);
        claimed[i].id = atoll(PQgetvalue(rows, i, 0));
        claimed[i].url = strdup(PQgetvalue(rows, i, 1));
    }
    PQclear(rows);
    return claimed_count == BATCH;
}

// Stores all unsaved answers.
static void finish(void) {
    append(&ids, "}", 1);
    append(&statuses, "}", 1);
    append(&bodies, "}", 1);
    const char *values[] = {ids.bytes, statuses.bytes, bodies.bytes};
    PGresult *done = PQexecPrepared(database, "finish", 3, values, NULL, NULL, 0);
    if (PQresultStatus(done) != PGRES_COMMAND_OK) fail("finish", PQresultErrorMessage(done));
    PQclear(done);
    unsaved = 0;
    ids.length = statuses.length = bodies.length = 0;
}

static void send_claimed(void) {
    while (idle_count && claimed_next < claimed_count) {
        Transfer *transfer = idle[--idle_count];
        Job *job = &claimed[claimed_next++];
        transfer->job = job->id;
        transfer->body.length = 0;
        curl_easy_setopt(transfer->handle, CURLOPT_URL, job->url);
        curl_multi_add_handle(multi, transfer->handle);
    }
}

// Adds an answer to the three arrays of the next finish.
static void keep(Transfer *transfer, long status) {
    char number[32];
    const char *separator = unsaved ? "," : "{";
    append(&ids, separator, 1);
    append(&ids, number, snprintf(number, sizeof number, "%lld", transfer->job));
    append(&statuses, separator, 1);
    append(&statuses, number, snprintf(number, sizeof number, "%ld", status));
    append(&bodies, separator, 1);
    append_element(&bodies, &transfer->body);
    if (unsaved++ == 0) unsaved_since = now_ms();
}

// Lets libcurl work, and keeps the answers of the transfers that ended. Returns true if any ended.
static bool collect_answers(void) {
    int running, queued;
    bool any = false;
    CURLMsg *message;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &queued))) {
        if (message->msg != CURLMSG_DONE) continue;
        Transfer *transfer;
        long status = 0;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi, transfer->handle);
        keep(transfer, status);
        idle[idle_count++] = transfer;
        any = true;
    }
    return any;
}

int main(int count, char **arguments) {
    if (count != 3 || (concurrency = atoi(arguments[2])) < 1) {
        fprintf(stderr, "usage: floor_worker CONNINFO CONCURRENCY\n");
        return 64;
    }
    open_database(arguments[1]);
    open_transfers();
    bool more = true;  // whether a claim may find jobs
    double claimed_at = 0;
    for (;;) {
        if (notified() || now_ms() - claimed_at > POLL_EVERY_MS) more = true;
        bool nothing_moves = idle_count == concurrency && claimed_next == claimed_count;
        if (unsaved && (unsaved >= BATCH || nothing_moves || now_ms() - unsaved_since >= FLUSH_AFTER_MS)) finish();
        if (more && claimed_next == claimed_count && idle_count) {
            more = claim();
            claimed_at = now_ms();
        }
        send_claimed();
        if (collect_answers()) continue;
        bool may_claim = more && claimed_next == claimed_count && idle_count;
        bool may_send = claimed_next < claimed_count && idle_count;
        struct curl_waitfd session = {PQsocket(database), CURL_WAIT_POLLIN, 0};
        int wait_ms = may_claim || may_send ? 0 : unsaved ? FLUSH_AFTER_MS : IDLE_WAIT_MS;
        curl_multi_poll(multi, &session, 1, wait_ms, NULL);
    }
}
