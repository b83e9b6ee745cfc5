/*
 * Byte order: which words of an element are reversed on the way from the store, and the
 * loops that do it.
 *
 * In version 3 one endian holds for all of an element (the `bytes` codec), in version 2
 * each leaf of the dtype has its own. Complex parts are words of their own; bytes, raw
 * bits and what is one byte wide stay as they are.
 */
#include "dtype/internal.h"

/* Width and number of the words of a type that is no record; width 1 when it has none. */
static uint32_t word_width(const zlgi_dtype *dtype)
{
    switch (zlgi_type_family(dtype->type)) {
    case ZLGI_BOOLEANS:
    case ZLGI_SIGNED:
    case ZLGI_UNSIGNED:
    case ZLGI_FLOATS:
    case ZLGI_COMPLEXES:
    case ZLGI_TIMES:
        return (uint32_t)zlgi_type_bytes(dtype->part);
    case ZLGI_CODE_POINTS:
        return 4;
    case ZLGI_OCTETS:
    case ZLGI_RECORDS:
    case ZLGI_VARIABLE:
        break;
    }
    return 1;
}

bool zlgi_dtype_has_order(const zlgi_dtype *dtype)
{
    for (int i = 0; i < dtype->n_fields; i++)
        if (zlgi_dtype_has_order(dtype->fields[i].dtype))
            return true;
    return word_width(dtype) > 1;
}

/* ------------------------------------------------------------------ making */

/* Collects runs; merges one that goes on where the last ended. With runs NULL it counts. */
typedef struct collector {
    bool from_leaves, big_endian;
    zlgi_swap_run *runs;
    size_t n;
    zlgi_swap_run last;
} collector;

static bool is_swapped(const collector *c, const zlgi_dtype *leaf)
{
    bool big_endian = c->from_leaves ? leaf->big_endian : c->big_endian;
    return big_endian != ZLGI_HOST_BIG_ENDIAN;
}

static zlg_status collect_run(collector *c, uint32_t offset, uint32_t width, uint32_t count,
                              zlg_error *err)
{
    zlgi_swap_run *last = &c->last;
    if (c->n > 0 && last->width == width && last->offset + width * last->count == offset) {
        last->count += count;
    } else {
        if (c->n == ZLGI_SWAP_RUNS)
            return zlgi_fail(err, ZLG_LIMIT, "a record has more than %d runs of words",
                             ZLGI_SWAP_RUNS);
        *last = (zlgi_swap_run){offset, width, count};
        c->n++;
    }
    if (c->runs != NULL)
        c->runs[c->n - 1] = *last;
    return ZLG_OK;
}

/* Elements are at most ZLGI_ELEMENT_BYTES, so that 32 bits hold every offset. */
static zlg_status collect(collector *c, const zlgi_dtype *dtype, size_t offset,
                          size_t n_items, zlg_error *err)
{
    uint32_t width = word_width(dtype);
    size_t n_words = dtype->n_bytes / width * n_items;
    if (width > 1 && n_words > 0 && is_swapped(c, dtype))
        ZLGI_TRY(collect_run(c, (uint32_t)offset, width, (uint32_t)n_words, err));
    if (dtype->n_fields == 0 || !zlgi_dtype_has_order(dtype))
        return ZLG_OK;
    for (size_t i = 0; i < n_items; i++) {
        for (int k = 0; k < dtype->n_fields; k++) {
            const zlgi_field *field = &dtype->fields[k];
            size_t at = offset + i * dtype->n_bytes + field->offset;
            ZLGI_TRY(collect(c, field->dtype, at, (size_t)field->n_items, err));
        }
    }
    return ZLG_OK;
}

zlg_status zlgi_swap_make(zlgi_arena *arena, const zlgi_dtype *dtype, bool from_leaves,
                          bool big_endian, zlgi_swap *out, zlg_error *err)
{
    *out = (zlgi_swap){.width = 0};
    collector count = {.from_leaves = from_leaves, .big_endian = big_endian};
    ZLGI_TRY(collect(&count, dtype, 0, 1, err));
    if (count.n == 0)
        return ZLG_OK;
    if (count.n == 1 && (size_t)count.last.width * count.last.count == dtype->n_bytes) {
        out->width = count.last.width;
        return ZLG_OK;
    }
    collector store = {.from_leaves = from_leaves, .big_endian = big_endian};
    store.runs = zlgi_arena_get(arena, count.n * sizeof(*store.runs));
    if (store.runs == NULL)
        return zlgi_no_memory(err, count.n * sizeof(*store.runs));
    ZLGI_TRY(collect(&store, dtype, 0, 1, err));
    out->width = 1;
    out->n_runs = (uint32_t)count.n;
    out->runs = store.runs;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ applying */

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* `width` is a constant wherever this is inlined, and the switch is gone. */
static ALWAYS_INLINE void reverse_words(uint8_t *word, size_t n, uint32_t width)
{
    for (size_t i = 0; i < n; i++, word += width) {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        switch (width) {
        case 2:
            memcpy(&u16, word, sizeof(u16));
            u16 = __builtin_bswap16(u16);
            memcpy(word, &u16, sizeof(u16));
            break;
        case 4:
            memcpy(&u32, word, sizeof(u32));
            u32 = __builtin_bswap32(u32);
            memcpy(word, &u32, sizeof(u32));
            break;
        default:
            memcpy(&u64, word, sizeof(u64));
            u64 = __builtin_bswap64(u64);
            memcpy(word, &u64, sizeof(u64));
            break;
        }
    }
}

/* n groups of `count` neighbouring words, `stride` bytes from one group to the next. */
static ALWAYS_INLINE void reverse(uint8_t *words, size_t n, size_t stride, uint32_t width,
                                  size_t count)
{
    for (size_t i = 0; i < n; i++, words += stride) {
        if (width == 2)
            reverse_words(words, count, 2);
        else if (width == 4)
            reverse_words(words, count, 4);
        else
            reverse_words(words, count, 8);
    }
}

typedef void (*reverse_fn)(uint8_t *words, size_t n, size_t stride, uint32_t width,
                           size_t count);

static void reverse_portable(uint8_t *words, size_t n, size_t stride, uint32_t width,
                             size_t count)
{
    reverse(words, n, stride, width, count);
}

#ifdef __x86_64__
/* The same loops, compiled to byte shuffles of 32 bytes. */
__attribute__((target("avx2"))) static void reverse_avx2(uint8_t *words, size_t n,
                                                         size_t stride, uint32_t width,
                                                         size_t count)
{
    reverse(words, n, stride, width, count);
}
#endif

static reverse_fn choose_reverse(void)
{
#ifdef __x86_64__
    if (zlgi_cpu_features()->avx2)
        return reverse_avx2;
#endif
    return reverse_portable;
}

void zlgi_swap_apply(const zlgi_swap *swap, uint8_t *elements, size_t n, size_t n_bytes)
{
    /* Elements that the runs pass over one by one, while they are in the first cache. */
    enum { BLOCK_BYTES = 16384 };
    if (swap->width == 0 || n == 0)
        return;
    reverse_fn reverse_groups = choose_reverse();
    if (swap->width > 1) {
        reverse_groups(elements, 1, 0, swap->width, n * n_bytes / swap->width);
        return;
    }
    size_t n_most = ZLGI_MAX(BLOCK_BYTES / n_bytes, 1);
    for (size_t first = 0; first < n; first += n_most) {
        uint8_t *block = elements + first * n_bytes;
        size_t n_block = ZLGI_MIN(n - first, n_most);
        for (uint32_t i = 0; i < swap->n_runs; i++) {
            const zlgi_swap_run *run = &swap->runs[i];
            reverse_groups(block + run->offset, n_block, n_bytes, run->width, run->count);
        }
    }
}

void zlgi_dtype_swap_leaves(const zlgi_dtype *dtype, uint8_t *element)
{
    if (dtype->n_bytes == 0)
        return;
    uint32_t width = word_width(dtype);
    if (width > 1 && dtype->big_endian != ZLGI_HOST_BIG_ENDIAN)
        reverse_portable(element, 1, 0, width, dtype->n_bytes / width);
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        for (int64_t k = 0; k < field->n_items; k++)
            zlgi_dtype_swap_leaves(field->dtype, element + field->offset +
                                                     (size_t)k * field->dtype->n_bytes);
    }
}
