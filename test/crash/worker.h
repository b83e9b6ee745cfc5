/*
 * A process that changes objects until it dies, and what must be there afterwards.
 *
 *     PROGRAM work ROOT NUMBER SEED PROMISE BATCH FIRST_VERSION N_CHANGES
 *     PROGRAM check ROOT LOG...
 *
 * A worker owns some keys, and one slot of an object that all workers share. It tells on
 * its standard output, line by line: "b KEY VERSION" before a change, "a KEY VERSION" when
 * the change, or with a batch above 0 the sync of that many, has returned, and "f KEY
 * VERSION MESSAGE" when it failed, which ends it. Version 0 is the removal.
 *
 * What is there must be whole, and of each key what was acknowledged last, or one of the
 * versions that were begun since.
 */
#ifndef ZELLIGE_TEST_WORKER_H
#define ZELLIGE_TEST_WORKER_H

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "store/store.h"
#include "test.h"

enum {
    WORKER_KEYS = 12, /* of each worker */
    WORKER_SLOTS = 8,
    WORKER_MAX_BYTES = 20000,
    WORKER_MAX_BATCH = 16,
};
#define WORKER_PAGE "shared/page"

static const zlg_limits worker_limits = {.keys_listed = 100000};

/* ------------------------------------------------------------------ values
 *
 * Text that names key and version, then bytes made of both, then a sum of all.
 */
static inline uint64_t worker_sum(const uint8_t *bytes, size_t n)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

static inline size_t worker_fill(uint8_t bytes[WORKER_MAX_BYTES], const char *key,
                                 uint32_t version)
{
    int n = snprintf((char *)bytes, 100, "%s %u\n", key, version);
    uint64_t seed = worker_sum(bytes, (size_t)n) | 1;
    size_t n_all = (size_t)n + test_random(&seed) % (WORKER_MAX_BYTES - 200);
    for (size_t i = (size_t)n; i < n_all; i++)
        bytes[i] = (uint8_t)test_random(&seed);
    uint64_t sum = worker_sum(bytes, n_all);
    memcpy(bytes + n_all, &sum, sizeof sum);
    return n_all + sizeof sum;
}

/* The version that the bytes hold whole; 0: they are torn. */
static inline uint32_t worker_version(const uint8_t *bytes, size_t n, const char *key)
{
    uint8_t expected[WORKER_MAX_BYTES];
    char text[100] = "", found[100];
    unsigned version = 0;
    memcpy(text, bytes, ZLGI_MIN(n, sizeof text - 1));
    if (sscanf(text, "%99s %u", found, &version) != 2 || strcmp(found, key) != 0)
        return 0;
    return worker_fill(expected, key, version) == n && memcmp(expected, bytes, n) == 0
               ? version
               : 0;
}

typedef struct worker_page {
    uint32_t slots[WORKER_SLOTS];
    uint64_t sum;
} worker_page;

static inline bool worker_page_is_whole(const worker_page *page, size_t n)
{
    return n == sizeof *page &&
           page->sum == worker_sum((const uint8_t *)page->slots, sizeof page->slots);
}

/* ------------------------------------------------------------------ working */

typedef struct worker {
    zlg_store *store;
    uint32_t number, version;
    uint64_t seed;
    zlg_promise promise;
    int batch; /* changes that are synced together; 0: each at once */
    zlgi_syncs *syncs;
    int n_waiting;
    struct {
        char key[64];
        uint32_t version;
    } waiting[WORKER_MAX_BATCH];
} worker;

static inline void worker_tell(const char *what, const char *key, uint32_t version,
                               const char *message)
{
    char line[700];
    int n = snprintf(line, sizeof line, "%s %s %u%s%s\n", what, key, version,
                     message[0] ? " " : "", message);
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        _exit(4);
}

static inline zlg_status worker_put(worker *w, const char *key, zlgi_txn *txn,
                                    uint32_t version, zlg_error *err)
{
    uint8_t bytes[WORKER_MAX_BYTES];
    size_t n = version != 0 ? worker_fill(bytes, key, version) : 0;
    zlgi_bytes parts[2] = {{bytes, n / 3}, {bytes + n / 3, n - n / 3}};
    return w->store->class->commit(w->store, key, txn, parts,
                                   version != 0 ? 2 : ZLGI_REMOVE, err);
}

static inline zlg_status worker_set_slot(worker *w, zlgi_txn *txn, uint32_t version,
                                         zlg_error *err)
{
    worker_page page = {{0}, 0};
    size_t n = 0;
    if (txn->present) {
        ZLGI_TRY(
            w->store->class->read(w->store, &txn->object, 0, sizeof page, &page, &n, err));
        if (!worker_page_is_whole(&page, n))
            return zlgi_fail(err, ZLG_CORRUPT, "the page is torn");
    }
    page.slots[w->number] = version;
    page.sum = worker_sum((const uint8_t *)page.slots, sizeof page.slots);
    zlgi_bytes part = {(const uint8_t *)&page, sizeof page};
    return w->store->class->commit(w->store, WORKER_PAGE, txn, &part, 1, err);
}

/* One change of a random kind of a random key; its name in `key`. */
static inline zlg_status worker_change(worker *w, char key[64], uint32_t *version,
                                       zlg_error *err)
{
    uint64_t choice = test_random(&w->seed) % 16;
    bool is_page = choice < 5;
    zlgi_txn txn = {.change = choice < 8 ? ZLGI_UPDATE : ZLGI_REPLACE,
                    .promise = w->promise,
                    .syncs = w->batch > 0 ? w->syncs : NULL};
    int i = (int)(test_random(&w->seed) % WORKER_KEYS);
    *version = choice >= 13 ? 0 : w->version++;
    if (is_page)
        snprintf(key, 64, "%s#%u", WORKER_PAGE, w->number);
    else
        snprintf(key, 64, "d%d/e/w%u-%d", i % 3, w->number, i);
    worker_tell("b", key, *version, "");
    const char *object = is_page ? WORKER_PAGE : key;
    zlg_status status;
    do {
        ZLGI_TRY(w->store->class->begin(w->store, object, &txn, err));
        status = is_page ? worker_set_slot(w, &txn, *version, err)
                         : worker_put(w, key, &txn, *version, err);
        w->store->class->end(w->store, &txn);
    } while (txn.again);
    return status;
}

static inline zlg_status worker_acknowledge(worker *w, const char *key, uint32_t version,
                                            zlg_error *err)
{
    if (w->batch == 0) {
        worker_tell("a", key, version, "");
        return ZLG_OK;
    }
    memcpy(w->waiting[w->n_waiting].key, key, sizeof w->waiting[0].key);
    w->waiting[w->n_waiting++].version = version;
    if (w->n_waiting < w->batch)
        return ZLG_OK;
    ZLGI_TRY(w->store->class->sync(w->store, w->syncs, err));
    for (int i = 0; i < w->n_waiting; i++)
        worker_tell("a", w->waiting[i].key, w->waiting[i].version, "");
    w->n_waiting = 0;
    return ZLG_OK;
}

static inline int worker_work(char **arguments)
{
    zlg_error err = {0};
    worker w = {.number = (uint32_t)strtoul(arguments[1], NULL, 10),
                .seed = strtoul(arguments[2], NULL, 10) * 2 + 1,
                .promise = (zlg_promise)strtoul(arguments[3], NULL, 10),
                .batch = (int)strtoul(arguments[4], NULL, 10),
                .version = (uint32_t)strtoul(arguments[5], NULL, 10)};
    unsigned long n_left = strtoul(arguments[6], NULL, 10);
    w.syncs = zlgi_syncs_new(&zlgi_default_alloc);
    if (zlgi_fs_open(&zlgi_default_alloc, &worker_limits, arguments[0], NULL, &w.store,
                     &err) != ZLG_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    zlg_status status = ZLG_OK;
    while (n_left-- > 0 && status == ZLG_OK) {
        char key[64];
        uint32_t version;
        status = worker_change(&w, key, &version, &err);
        if (status == ZLG_OK)
            status = worker_acknowledge(&w, key, version, &err);
        if (status != ZLG_OK)
            worker_tell("f", key, version, err.message);
    }
    zlgi_syncs_free(w.syncs);
    zlgi_store_destroy(w.store);
    return status == ZLG_OK ? 0 : 3;
}

/* ------------------------------------------------------------------ what must be there */

typedef struct worker_key {
    char name[64];
    int n_allowed; /* the first was acknowledged */
    uint32_t allowed[2 * WORKER_MAX_BATCH + 64];
    bool has_failed;
} worker_key;

typedef struct worker_model {
    int n;
    worker_key keys[WORKER_SLOTS * (WORKER_KEYS + 1)];
} worker_model;

static inline worker_key *worker_model_key(worker_model *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->keys[i].name, name) == 0)
            return &m->keys[i];
    worker_key *k = &m->keys[m->n++];
    memset(k, 0, sizeof *k);
    snprintf(k->name, sizeof k->name, "%s", name);
    k->n_allowed = 1; /* absent */
    return k;
}

/* Takes a line of a worker; false when it is none. */
static inline bool worker_model_take(worker_model *m, const char *line)
{
    char what, name[64];
    unsigned version;
    if (sscanf(line, "%c %63s %u", &what, name, &version) != 3)
        return false;
    worker_key *k = worker_model_key(m, name);
    int n_max = (int)ZLGI_COUNT(k->allowed);
    if (what == 'b' && k->n_allowed < n_max)
        k->allowed[k->n_allowed++] = version;
    else if (what == 'f')
        k->has_failed = true;
    if (what != 'a')
        return what == 'f' || k->n_allowed < n_max;
    /* All that was begun up to this one is past. */
    int i = 1;
    while (i < k->n_allowed && k->allowed[i] != version)
        i++;
    if (i == k->n_allowed)
        return false;
    k->n_allowed -= i;
    memmove(k->allowed, k->allowed + i, (size_t)k->n_allowed * sizeof k->allowed[0]);
    return true;
}

/* *out 0: absent. False, with a complaint, when it is torn. */
static inline bool worker_look(zlg_store *store, const char *name, uint32_t *out)
{
    zlg_error err;
    zlgi_buf buf;
    char key[64];
    unsigned slot = 0;
    bool is_page = sscanf(name, WORKER_PAGE "#%u", &slot) == 1, is_whole = true;
    snprintf(key, sizeof key, "%s", is_page ? WORKER_PAGE : name);
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    zlg_status status = zlgi_store_get(store, key, 1 << 20, &buf, &err);
    *out = 0;
    if (status == ZLG_OK && is_page) {
        worker_page page = {{0}, 0};
        memcpy(&page, buf.data, ZLGI_MIN(buf.n, sizeof page));
        is_whole = worker_page_is_whole(&page, buf.n);
        *out = page.slots[slot % WORKER_SLOTS];
    } else if (status == ZLG_OK) {
        *out = worker_version(buf.data, buf.n, key);
        is_whole = *out != 0;
    }
    if (!is_whole)
        printf("%s is torn: %zu bytes\n", key, buf.n);
    else if (status != ZLG_OK && status != ZLG_NOT_FOUND)
        printf("%s\n", err.message);
    zlgi_buf_reset(&buf);
    return is_whole && (status == ZLG_OK || status == ZLG_NOT_FOUND);
}

/* How many keys do not hold what they must; complains of each. */
static inline int worker_model_check(worker_model *m, zlg_store *store)
{
    int n_wrong = 0;
    for (int i = 0; i < m->n; i++) {
        worker_key *k = &m->keys[i];
        uint32_t version;
        bool is_right = worker_look(store, k->name, &version), is_allowed = false;
        for (int a = 0; a < k->n_allowed; a++)
            is_allowed = is_allowed || k->allowed[a] == version;
        if (is_right && !is_allowed)
            printf("%s holds version %u; %u was acknowledged, %d begun since\n", k->name,
                   version, k->allowed[0], k->n_allowed - 1);
        n_wrong += !is_right || !is_allowed;
        k->allowed[0] = version; /* from here on */
        k->n_allowed = 1;
    }
    return n_wrong;
}

/* A change that failed alone must have left what was there. */
static inline int worker_count_failed(const worker_model *m, zlg_store *store)
{
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        uint32_t version;
        const worker_key *k = &m->keys[i];
        if (!k->has_failed)
            continue;
        n++;
        if (worker_look(store, k->name, &version) && version != k->allowed[0])
            printf("%s changed to version %u though that failed\n", k->name, version);
    }
    return n;
}

static inline int worker_check(int n_logs, char **arguments)
{
    static worker_model m;
    static char line[1000];
    zlg_store *store;
    zlg_error err;
    int n_wrong = 0;
    if (zlgi_fs_open(&zlgi_default_alloc, &worker_limits, arguments[0], NULL, &store,
                     &err) != ZLG_OK) {
        printf("%s\n", err.message);
        return 2;
    }
    for (int i = 1; i <= n_logs; i++) {
        FILE *log = fopen(arguments[i], "r");
        if (log == NULL)
            return 2;
        while (fgets(line, sizeof line, log) != NULL)
            if (!worker_model_take(&m, line)) {
                printf("bad line: %s", line);
                n_wrong++;
            }
        fclose(log);
    }
    printf("%d changes had failed\n", worker_count_failed(&m, store));
    n_wrong += worker_model_check(&m, store);
    printf("%d keys, %d wrong\n", m.n, n_wrong);
    zlgi_store_destroy(store);
    return n_wrong > 0;
}

/* Runs a mode; -1 when the arguments ask for none. */
static inline int worker_main(int n_arguments, char **arguments)
{
    if (n_arguments == 9 && strcmp(arguments[1], "work") == 0)
        return worker_work(arguments + 2);
    if (n_arguments >= 4 && strcmp(arguments[1], "check") == 0)
        return worker_check(n_arguments - 3, arguments + 2);
    return -1;
}

#endif
