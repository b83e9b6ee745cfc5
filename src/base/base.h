/*
 * base: what every other module stands on. Memory, buffers, errors, checked arithmetic,
 * JSON, threads. Knows nothing of Zarr.
 *
 * Rules: an inner function returns zlg_status and fills `err` (may be NULL); ZLGI_TRY
 * returns on failure. Whoever allocates does nothing else: make() creates the object and
 * calls a filling function; on failure make() frees it. One clean-up place.
 */
#ifndef ZLGI_BASE_H
#define ZLGI_BASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "zellige.h"

#define ZLGI_TRY(expression)                                                               \
    do {                                                                                   \
        zlg_status zlgi_status_ = (expression);                                            \
        if (zlgi_status_ != ZLG_OK)                                                        \
            return zlgi_status_;                                                           \
    } while (0)

#define ZLGI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ZLGI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define ZLGI_MAX(a, b) ((a) > (b) ? (a) : (b))
#define ZLGI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ZLGI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ------------------------------------------------------------------ errors (error.c) */

/* Sets err (if any) and returns status. */
zlg_status zlgi_fail(zlg_error *err, zlg_status status, const char *format, ...)
    ZLGI_PRINTF(3, 4);
/* Puts "context: " before the message that err holds; returns `status` unchanged. Does
 * nothing for ZLG_OK. */
zlg_status zlgi_within(zlg_error *err, zlg_status status, const char *format, ...)
    ZLGI_PRINTF(3, 4);
/* Whether the message begins with that context. */
bool zlgi_error_begins(const zlg_error *err, const char *format, ...) ZLGI_PRINTF(2, 3);
zlg_status zlgi_no_memory(zlg_error *err, size_t n_bytes);
/* What a function of the caller's returned, with what it wrote into `own`, goes to err.
 * NOT_FOUND, EXISTS and CANCELLED (a job that has failed elsewhere) mean something to the
 * library, and so become `instead`, as do numbers that are no status. */
zlg_status zlgi_foreign(zlg_status status, zlg_status instead, zlg_error *own,
                        zlg_error *err);

/* ------------------------------------------------------------------ arithmetic
 * False on overflow; *out is untouched then. */
static inline bool zlgi_mul_size(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}
static inline bool zlgi_add_size(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}
static inline bool zlgi_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}
static inline bool zlgi_add_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}
/* Product of non-negative lengths; 1 for n = 0. */
bool zlgi_product(const int64_t *lengths, int n, int64_t *out);

/* Little-endian loads and stores at any alignment. */
static inline uint32_t zlgi_load_u32le(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
           (uint32_t)b[3] << 24;
}
static inline uint64_t zlgi_load_u64le(const void *p)
{
    return (uint64_t)zlgi_load_u32le(p) | (uint64_t)zlgi_load_u32le((const uint8_t *)p + 4)
                                              << 32;
}
static inline void zlgi_store_u32le(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)v, b[1] = (uint8_t)(v >> 8), b[2] = (uint8_t)(v >> 16),
    b[3] = (uint8_t)(v >> 24);
}
static inline void zlgi_store_u64le(void *p, uint64_t v)
{
    zlgi_store_u32le(p, (uint32_t)v);
    zlgi_store_u32le((uint8_t *)p + 4, (uint32_t)(v >> 32));
}

/* ------------------------------------------------------------------ memory (memory.c)
 * A borrowed run of bytes. */
typedef struct zlgi_bytes {
    const uint8_t *data;
    size_t n;
} zlgi_bytes;

/* The allocator a module was given. Blocks of 2 MiB and more ask for huge pages (the
 * default allocator maps them aligned and advises the kernel: fresh 4 KiB pages cost
 * more than decoding into them). NULL on failure. */
typedef zlg_allocator zlgi_alloc;
extern const zlgi_alloc zlgi_default_alloc;
void *zlgi_new(const zlgi_alloc *alloc, size_t n_bytes); /* zeroed */
void *zlgi_resize(const zlgi_alloc *alloc, void *block, size_t old_bytes, size_t new_bytes);
void zlgi_free(const zlgi_alloc *alloc, void *block, size_t n_bytes);

/* A growable buffer. Its memory is kept between uses: reuse is a feature. */
typedef struct zlgi_buf {
    const zlgi_alloc *alloc;
    uint8_t *data;
    size_t n;        /* bytes in use */
    size_t capacity; /* bytes allocated */
} zlgi_buf;
void zlgi_buf_init(zlgi_buf *buf, const zlgi_alloc *alloc);
void zlgi_buf_reset(zlgi_buf *buf); /* frees */
/* At least `capacity` bytes; contents in use are kept when keep is true. */
zlg_status zlgi_buf_reserve(zlgi_buf *buf, size_t capacity, bool keep, zlg_error *err);
zlg_status zlgi_buf_append(zlgi_buf *buf, const void *data, size_t n, zlg_error *err);
zlg_status zlgi_buf_printf(zlgi_buf *buf, zlg_error *err, const char *format, ...)
    ZLGI_PRINTF(3, 4);
/* Moves the contents out as NUL-terminated text of ctx (may be NULL in tests). */
zlg_status zlgi_buf_take_text(zlgi_buf *buf, zlg_ctx *ctx, zlg_text *out, zlg_error *err);

/* An arena: many small blocks, one free. 16-byte aligned, not zeroed. */
typedef struct zlgi_arena {
    const zlgi_alloc *alloc;
    struct zlgi_arena_block *blocks;
    struct zlgi_arena_deferred *deferred;
    uint8_t *next, *end;
    size_t n_bytes; /* allocated in all */
} zlgi_arena;
void zlgi_arena_init(zlgi_arena *arena, const zlgi_alloc *alloc);
void zlgi_arena_reset(zlgi_arena *arena);                             /* frees all */
void *zlgi_arena_get(zlgi_arena *arena, size_t n_bytes);              /* NULL on failure */
char *zlgi_arena_text(zlgi_arena *arena, const char *data, size_t n); /* adds a NUL */
/* Runs run(what) when the arena is reset, the last one first: for what is in the arena, but
 * holds something outside. False when memory is short. */
bool zlgi_arena_defer(zlgi_arena *arena, void (*run)(void *what), void *what);

/* ------------------------------------------------------------------ registry (registry.c)
 *
 * What a caller has made known to a context by its names: codecs, say. Things are added at
 * any time, from any thread, and stay until the registry goes; of several with one name the
 * last counts. Each is one block that begins with this.
 */
typedef struct zlgi_registered {
    struct zlgi_registered *next;
    const void *sort;      /* of what kind: an address of those who know it */
    const char *name, *id; /* either may be NULL */
    void (*destroy)(struct zlgi_registered *one, const zlgi_alloc *alloc);
} zlgi_registered;
typedef struct zlgi_registry {
    const zlgi_alloc *alloc;
    zlgi_registered *first; /* atomic */
} zlgi_registry;
void zlgi_registry_add(zlgi_registry *registry, zlgi_registered *one);
/* By name or by id, the other one NULL. registry may be NULL. */
zlgi_registered *zlgi_registry_find(const zlgi_registry *registry, const void *sort,
                                    const char *name, const char *id);
void zlgi_registry_reset(zlgi_registry *registry);
/* Texts that a block keeps behind itself: bytes of one, NULL or not; its copy at *at, which
 * moves on. */
size_t zlgi_kept_bytes(const char *text);
const char *zlgi_keep(char **at, const char *text);

/* ------------------------------------------------------------------ looking up
 *
 * Work of one thread that may take long asks now and then, every few thousand steps,
 * whether anybody waits for it. After a no it does not go on any more. A NULL look is one
 * that nobody answers.
 */
typedef struct zlgi_look {
    bool (*goes_on)(void *user);
    void *user;
    uint64_t n_steps; /* since it was asked */
    bool is_stopped;
} zlgi_look;
enum { ZLGI_STEPS_PER_LOOK = 4096 };

static inline bool zlgi_look_up(zlgi_look *look, uint64_t n_steps)
{
    if (!look)
        return true;
    look->n_steps += n_steps;
    if (look->n_steps >= ZLGI_STEPS_PER_LOOK && !look->is_stopped) {
        look->n_steps = 0;
        look->is_stopped = !look->goes_on(look->user);
    }
    return !look->is_stopped;
}

/* Many elements that are a fraction of a step are gone through in spans:
 *
 *     for (size_t i = 0; i < n && zlgi_look_span(look, i, n, &end);)
 *         for (; i < end; i++)
 */
enum { ZLGI_SPAN = 64 * 1024 };
static inline bool zlgi_look_span(zlgi_look *look, size_t i, size_t n, size_t *end)
{
    *end = ZLGI_MIN(n, i + ZLGI_SPAN);
    return zlgi_look_up(look, (*end - i) / (ZLGI_SPAN / ZLGI_STEPS_PER_LOOK));
}

/* ------------------------------------------------------------------ sorting
 *
 *     ZLGI_SORT(sort_names, const char *, is_less)
 *
 * makes static void sort_names(const char **elements, size_t n, const void *context), where
 * is_less(const type *a, const type *b, const void *context) is inlined. In place, without
 * a byte of the allocator's, and the same order everywhere as long as is_less tells any two
 * elements apart.
 *
 * Quicksort around the middle of three, whose partition has no branch for each element;
 * short parts by insertion; what does not get shorter fast enough ends as a heap.
 *
 * ZLGI_SORT_WHILE ends early, with the elements in any order, when goes_on(context) says
 * false: it is asked every few thousand elements and between parts.
 */
#define ZLGI_SORT(name, type, is_less)                                                     \
    static inline bool name##_goes_on(const void *context)                                 \
    {                                                                                      \
        (void)context;                                                                     \
        return true;                                                                       \
    }                                                                                      \
    ZLGI_SORT_WHILE(name, type, is_less, name##_goes_on)

#define ZLGI_SORT_WHILE(name, type, is_less, goes_on)                                      \
    static void name##_insert(type *a, size_t n, const void *context)                      \
    {                                                                                      \
        for (size_t i = 1, k; i < n; i++) {                                                \
            type v = a[i];                                                                 \
            for (k = i; k > 0 && is_less(&v, &a[k - 1], context); k--)                     \
                a[k] = a[k - 1];                                                           \
            a[k] = v;                                                                      \
        }                                                                                  \
    }                                                                                      \
    static void name##_heap(type *a, size_t n, const void *context)                        \
    {                                                                                      \
        for (size_t first = n / 2, end = n; end > 1;) {                                    \
            type v = a[first > 0 ? first - 1 : end - 1];                                   \
            if (first > 0)                                                                 \
                first--;                                                                   \
            else                                                                           \
                a[--end] = a[0];                                                           \
            size_t k = first;                                                              \
            for (size_t low; (low = 2 * k + 1) < end; k = low) {                           \
                low += low + 1 < end && is_less(&a[low], &a[low + 1], context);            \
                if (!is_less(&v, &a[low], context))                                        \
                    break;                                                                 \
                a[k] = a[low];                                                             \
            }                                                                              \
            a[k] = v;                                                                      \
        }                                                                                  \
    }                                                                                      \
    static size_t name##_split(type *a, size_t n, const void *context)                     \
    {                                                                                      \
        size_t ends[3] = {n / 4, n / 2, n / 2 + n / 4}, last = 0;                          \
        for (int i = 0; i < 3; i++) { /* 0/1, 1/2, 0/1: then 1 is the middle */            \
            size_t low = ends[i == 1], high = ends[1 + (i == 1)];                          \
            type v = a[low];                                                               \
            type w = a[high];                                                              \
            bool falls = is_less(&w, &v, context);                                         \
            a[low] = falls ? w : v;                                                        \
            a[high] = falls ? v : w;                                                       \
        }                                                                                  \
        type pivot = a[n / 2];                                                             \
        a[n / 2] = a[0];                                                                   \
        for (size_t i = 1, end; i < n && (i == 1 || goes_on(context));) {                  \
            for (end = i + ZLGI_MIN(n - i, 4096); i < end; i++) {                          \
                type v = a[i];                                                             \
                a[i] = a[last + 1];                                                        \
                a[last + 1] = v;                                                           \
                last += is_less(&v, &pivot, context);                                      \
            }                                                                              \
        }                                                                                  \
        a[0] = a[last];                                                                    \
        a[last] = pivot;                                                                   \
        return last;                                                                       \
    }                                                                                      \
    static void name##_part(type *a, size_t n, int n_splits, const void *context)          \
    {                                                                                      \
        while (n > 24 && n_splits-- > 0) {                                                 \
            if (!goes_on(context))                                                         \
                return;                                                                    \
            size_t k = name##_split(a, n, context), n_high = n - k - 1;                    \
            bool low_first = k < n_high;                                                   \
            name##_part(low_first ? a : a + k + 1, low_first ? k : n_high, n_splits,       \
                        context);                                                          \
            a += low_first ? k + 1 : 0;                                                    \
            n = low_first ? n_high : k;                                                    \
        }                                                                                  \
        if (n > 24)                                                                        \
            name##_heap(a, n, context);                                                    \
        else                                                                               \
            name##_insert(a, n, context);                                                  \
    }                                                                                      \
    static void name(type *elements, size_t n, const void *context)                        \
    {                                                                                      \
        size_t i = 1;                                                                      \
        while (i < n && !is_less(&elements[i], &elements[i - 1], context))                 \
            i++;                                                                           \
        int n_splits = 0;                                                                  \
        for (size_t k = n; k > 0; k /= 2)                                                  \
            n_splits += 2;                                                                 \
        if (i < n)                                                                         \
            name##_part(elements, n, n_splits, context);                                   \
    }

/* ------------------------------------------------------------------ JSON (json*.c)
 *
 * RFC 8259 with Python's NaN, Infinity and -Infinity tokens (kept as such). Duplicate
 * names, control characters, bad UTF-8, trailing text, leading zeros are errors that
 * give the byte position. Key order and number text are kept. Lone surrogate escapes are
 * kept as WTF-8 so that a document can be written back.
 */
typedef enum zlgi_json_type {
    ZLGI_JSON_NULL,
    ZLGI_JSON_FALSE,
    ZLGI_JSON_TRUE,
    ZLGI_JSON_NUMBER, /* text as written, also NaN, Infinity, -Infinity */
    ZLGI_JSON_STRING, /* decoded; may hold NULs */
    ZLGI_JSON_ARRAY,
    ZLGI_JSON_OBJECT
} zlgi_json_type;

typedef struct zlgi_json zlgi_json;
struct zlgi_json {
    zlgi_json_type type;
    uint32_t n_text;  /* bytes of text */
    const char *text; /* number or string: NUL terminated */
    const char *name; /* member of an object: its name, NUL terminated */
    uint32_t n_name;
    uint32_t n_items; /* array, object */
    zlgi_json *items; /* array, object: first child; children form a list */
    zlgi_json *next;
    uint32_t position; /* byte offset in the document */
};

/* No document nests deeper than this, whatever max_depth says: recursion over a tree is
 * safe. */
enum { ZLGI_JSON_MAX_DEPTH = 1024 };

/* Parses into the arena. Nothing in the tree points into `text` afterwards. Deeper than
 * max_depth is ZLG_LIMIT, malformed ZLG_METADATA. */
zlg_status zlgi_json_parse(zlgi_arena *arena, const char *text, size_t n, int max_depth,
                           const zlgi_json **out, zlg_error *err);
const zlgi_json *zlgi_json_get(const zlgi_json *object, const char *name); /* or NULL */
const zlgi_json *zlgi_json_at(const zlgi_json *array, uint32_t i);
bool zlgi_json_is(const zlgi_json *value, const char *text); /* a string equal to text */
/* An integer literal (no fraction, no exponent) in range. False otherwise. */
bool zlgi_json_i64(const zlgi_json *value, int64_t *out);
bool zlgi_json_u64(const zlgi_json *value, uint64_t *out);
/* Any number, also the three tokens; correctly rounded, independent of the locale. */
bool zlgi_json_double(const zlgi_json *value, double *out);
/* Members in any order; numbers by their text. Linear when the order is the same. */
bool zlgi_json_equal(const zlgi_json *a, const zlgi_json *b);

/* Writing. indent 0: one line without spaces after , and : ; else pretty. */
zlg_status zlgi_json_write(const zlgi_json *value, int indent, zlgi_buf *out,
                           zlg_error *err);
/* Quoted and escaped; lone surrogates (WTF-8) as \uXXXX. ZLG_USAGE when not UTF-8. */
zlg_status zlgi_json_write_string(zlgi_buf *out, const char *text, size_t n,
                                  zlg_error *err);

/* ------------------------------------------------------------------ numbers
 *
 * Decimal text to binary floats and back (number.c, number_text.c): one rounding, ties to
 * even, whatever the locale. Text is a JSON number or one of the three tokens; nothing
 * else is taken. Too large is infinite, too small is zero.
 */
bool zlgi_parse_double(const char *text, size_t n, double *out);
bool zlgi_parse_float(const char *text, size_t n, float *out);
/* Bytes of the JSON number (no token) that text begins with; 0 when there is none. */
size_t zlgi_number_span(const char *text, size_t n);

/*
 * A binary float format no wider than float64: values significand x 2^exponent, with
 * significand < 2^precision and min_exponent <= exponent <= max_exponent. A significand
 * below 2^(precision - 1) is subnormal; its exponent is min_exponent.
 */
typedef struct zlgi_float_format {
    int precision; /* bits, the leading one included */
    int min_exponent, max_exponent;
} zlgi_float_format;
#define ZLGI_FORMAT_FLOAT64 ((zlgi_float_format){53, -1074, 971})
#define ZLGI_FORMAT_FLOAT32 ((zlgi_float_format){24, -149, 104})
#define ZLGI_FORMAT_FLOAT16 ((zlgi_float_format){11, -24, 5})
#define ZLGI_FORMAT_BFLOAT16 ((zlgi_float_format){8, -133, 120})

typedef struct zlgi_float_parts {
    enum { ZLGI_FINITE, ZLGI_INFINITE, ZLGI_NAN } kind;
    bool negative;
    /* When finite. ((exponent - min_exponent) << (precision - 1)) + significand are the
     * IEEE bits without the sign. */
    uint64_t significand;
    int exponent;
} zlgi_float_parts;
bool zlgi_parse_float_parts(const char *text, size_t n, zlgi_float_format format,
                            zlgi_float_parts *out);

/* Shortest text that reads back as the same value of the format ("1.0", "1e+300"); NaN
 * and infinities as "NaN", "Infinity", "-Infinity" with the quotes. */
zlg_status zlgi_json_write_double(zlgi_buf *out, double value, zlg_error *err);
zlg_status zlgi_json_write_float(zlgi_buf *out, float value, zlg_error *err);
zlg_status zlgi_json_write_float_parts(zlgi_buf *out, const zlgi_float_parts *value,
                                       zlgi_float_format format, zlg_error *err);

/* ------------------------------------------------------------------ text
 * base64 (RFC 4648, padded), appended to out. Decoding refuses anything else. */
zlg_status zlgi_base64_encode(zlgi_bytes in, zlgi_buf *out, zlg_error *err);
zlg_status zlgi_base64_decode(zlgi_bytes in, zlgi_buf *out, zlg_error *err);
/* Well-formed UTF-8 without surrogates. */
bool zlgi_utf8_valid(const uint8_t *text, size_t n);
/* Bytes of the character that text begins with (1 to 4); 0 when it is none. */
size_t zlgi_utf8_span(const uint8_t *text, size_t n);

/* ------------------------------------------------------------------ scratch (scratch.c)
 *
 * What one worker owns while it works: buffers and compressor contexts, kept from piece
 * to piece and from call to call. A scratch is used by one thread at a time.
 */
typedef struct zlgi_scratch zlgi_scratch;

/* What a call says of shards, for codecs that make one whole. */
typedef struct zlgi_shard_ways {
    const zlg_call *call; /* NULL: as by default */
    bool keep_empty;      /* inner chunks of only the fill value are stored */
} zlgi_shard_ways;
/* How inner chunks lie in a shard that so many others are around. */
static inline zlg_inner_order zlgi_inner_order(const zlg_call *call, int depth)
{
    return depth < call->n_inner_orders ? call->inner_orders[depth] : call->inner_order;
}

struct zlgi_scratch {
    const zlgi_alloc *alloc;
    const zlg_limits *limits;
    zlgi_buf spare[160]; /* a stack: zlgi_scratch_push/pop */
    int n_spare_used;
    struct zlgi_scratch_slot {
        const struct zlgi_context_type *type;
        void *context;
    } contexts[32];
    int n_contexts;
    zlgi_scratch *next;   /* free list of the pool */
    zlgi_shard_ways ways; /* of the chunk that is being encoded */
};

/* A kind of context that a codec keeps per worker (a zstd decompressor, say). */
typedef struct zlgi_context_type {
    void *(*make)(const zlgi_alloc *alloc);
    void (*destroy)(void *context, const zlgi_alloc *alloc);
} zlgi_context_type;
/* The worker's context of this type, made on first use; NULL when memory is short. */
void *zlgi_scratch_context(zlgi_scratch *scratch, const zlgi_context_type *type);
/* A buffer for use inside one call, empty; give back in reverse order. Never NULL: shards
 * and codecs nest far less deep than there are buffers (asserted). */
zlgi_buf *zlgi_scratch_push(zlgi_scratch *scratch);
void zlgi_scratch_pop(zlgi_scratch *scratch);
zlgi_scratch *zlgi_scratch_new(const zlgi_alloc *alloc, const zlg_limits *limits);
void zlgi_scratch_free(zlgi_scratch *scratch);

/* ------------------------------------------------------------------ pool (pool.c)
 *
 * One pool per context; threads start on the first call that wants them. The caller
 * works too. Many callers may run jobs at once and share the threads. After fork the
 * child's pool is empty again (a MADV_WIPEONFORK page tells) and touches no lock that a
 * vanished thread may hold.
 */
/* A thread that takes no signals. */
bool zlgi_thread_start(pthread_t *out, void *(*run)(void *user), void *user);

/* Takes a lock that is mostly held for some ten microseconds: tries for a while before it
 * sleeps, as being woken takes longer. */
void zlgi_lock_briefly(pthread_mutex_t *lock);

typedef struct zlgi_pool zlgi_pool;
typedef void (*zlgi_work_fn)(void *job, zlgi_scratch *scratch);

zlgi_pool *zlgi_pool_new(const zlgi_alloc *alloc, const zlg_limits *limits, int n_threads);
void zlgi_pool_free(zlgi_pool *pool);
int zlgi_pool_threads(const zlgi_pool *pool); /* the caller included */
/*
 * Runs work(job, scratch) on the calling thread and on up to n_workers - 1 threads of
 * the pool, each with its own scratch; returns when all of them have returned. `work`
 * takes pieces from the job until none are left, so it does not matter how many threads
 * come. While waiting for the others the caller calls idle(job) (may be NULL) about
 * every 20 ms. Fails only when no scratch can be had for the caller.
 */
zlg_status zlgi_pool_run(zlgi_pool *pool, int n_workers, zlgi_work_fn work,
                         void (*idle)(void *job), void *job, zlg_error *err);

/* Bytes in flight: one budget per context. reserve waits until the bytes fit, or until
 * nothing else is reserved: a need above the budget runs alone. Never waits while holding a
 * reservation: a caller holds at most one. */
typedef struct zlgi_budget zlgi_budget;
zlgi_budget *zlgi_budget_new(const zlgi_alloc *alloc, uint64_t n_bytes);
void zlgi_budget_free(zlgi_budget *budget);
uint64_t zlgi_budget_bytes(const zlgi_budget *budget); /* as it was made */
void zlgi_budget_reserve(zlgi_budget *budget, uint64_t n_bytes);
/* Reserves only what needs no waiting, so that those who hold some may ask for more. */
bool zlgi_budget_try(zlgi_budget *budget, uint64_t n_bytes);
/* Somebody waits: who can do without what it holds gives it back. Costs one load. */
bool zlgi_budget_is_wanted(const zlgi_budget *budget);
void zlgi_budget_release(zlgi_budget *budget, uint64_t n_bytes);

/* ------------------------------------------------------------------ system (os_posix.c) */
uint64_t zlgi_now_ns(void);  /* monotonic */
uint64_t zlgi_wall_ns(void); /* wall clock, for comparison with file times */
int zlgi_usable_cores(void); /* affinity mask and cgroup quota respected */

/*
 * Tells a forked child from the process that made the mark. Whoever holds locks and
 * threads asks on each entry:
 *
 *     if (zlgi_fork_enter(mark)) { make everything new; zlgi_fork_leave(mark); }
 *
 * enter is true in a child, once, for one thread; the others wait until it has left.
 * It touches no lock. In the process that made the mark it costs one load.
 */
typedef struct zlgi_fork_mark {
    _Atomic uint64_t *owner; /* on a page that the kernel zeroes in a child */
    bool is_wiped;           /* false: the kernel cannot; the process number tells */
} zlgi_fork_mark;
bool zlgi_fork_mark_init(zlgi_fork_mark *mark);
void zlgi_fork_mark_reset(zlgi_fork_mark *mark);
bool zlgi_fork_enter(const zlgi_fork_mark *mark);
void zlgi_fork_leave(const zlgi_fork_mark *mark);

/* A file without a name in a directory (os_file.c), for what memory does not hold. Where
 * the file system knows none, who dies may leave one with a name that begins so. */
#define ZLGI_NAMELESS ".zellige-side-"
zlg_status zlgi_file_open_nameless(const char *directory, int *out, zlg_error *err);
zlg_status zlgi_file_write_at(int file, const void *data, size_t n, uint64_t offset,
                              zlg_error *err);
zlg_status zlgi_file_read_at(int file, void *data, size_t n, uint64_t offset,
                             zlg_error *err);
void zlgi_file_close(int file);

/* ------------------------------------------------------------------ folders (os_folder.c)
 *
 * In which processes keep files, each its own. make: unless it is there; its whole path.
 * enter waits until nobody else is in it, and makes it anew if it is gone. */
enum { ZLGI_FOLDER_MAX = 3072, ZLGI_FILE_NAME_MAX = 32, ZLGI_BOOT_ID = 36 };
zlg_status zlgi_folder_make(const char *path, char out[ZLGI_FOLDER_MAX], zlg_error *err);
zlg_status zlgi_folder_enter(const char *path, int *out, zlg_error *err);
void zlgi_folder_leave(int entered);
typedef zlg_status (*zlgi_name_fn)(void *user, const char *name, zlg_error *err);
zlg_status zlgi_folder_list(const char *path, zlgi_name_fn each, void *user,
                            zlg_error *err);
zlg_status zlgi_folder_sync(const char *path, zlg_error *err); /* and what it lies in */
void zlgi_folder_remove(const char *path); /* by who is in it, when nothing else is */
/* A folder for one of those that ask for it, or for those who do not ask for it alone,
 * until it is let go or the process dies. False: somebody else has it. -1 where the system
 * cannot tell. */
bool zlgi_folder_hold(const char *path, bool alone, int *out);
void zlgi_folder_let(int held);
/* Which folder it is, whatever the path: device and inode while it is there; and when it
 * was made, and emptied, of all that had this inode. ZLG_NOT_FOUND: there is none. */
typedef struct zlgi_folder_id {
    uint64_t device, inode;
    uint64_t made_ns; /* 0 where the system cannot tell */
    uint64_t emptied; /* a random number; 0: never */
} zlgi_folder_id;
zlg_status zlgi_folder_identify(const char *path, zlgi_folder_id *out, zlg_error *err);
/* From now on it is another one, where the system can note that. */
void zlgi_folder_note_emptied(int folder);
/* A random name with an ending of a few letters. */
zlg_status zlgi_file_create(const char *folder, const char *ending,
                            char out_name[ZLGI_FILE_NAME_MAX], int *out, zlg_error *err);
/* NOT_FOUND: there is none, in rename too. */
zlg_status zlgi_file_open(const char *folder, const char *name, int *out, zlg_error *err);
zlg_status zlgi_file_rename(const char *folder, const char *from, const char *to,
                            zlg_error *err);
zlg_status zlgi_file_remove(const char *folder, const char *name, zlg_error *err);
/* False: somebody else who is alive has locked it. Until it is closed. */
zlg_status zlgi_file_lock(int file, bool *out, zlg_error *err);
zlg_status zlgi_file_size(int file, uint64_t *out, zlg_error *err);
zlg_status zlgi_file_sync(int file, zlg_error *err);
/* The same as long as the machine runs; or a random one each time. */
void zlgi_boot_id(char out[ZLGI_BOOT_ID]);

/* Features of this CPU, found once. */
typedef struct zlgi_cpu {
    bool sse42, avx2, avx512, pclmul, vpclmul, armv8_crc;
} zlgi_cpu;
const zlgi_cpu *zlgi_cpu_features(void);

#endif
