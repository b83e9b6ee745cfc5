/* One chunk alone: what it encodes to is what a write stores, whatever lies around it, and
 * decodes to what a read finds. */
#define _GNU_SOURCE
#include "change_test.h"

enum { ROWS = 9, COLUMNS = 5, MAX_ITEM = 64, MAX_CHUNK = 24 };

typedef struct subject {
    fixture f;
    zlg_array *array;
    const zlgi_source *source;
    zlgi_engine *engine;
    zlgi_scratch *scratch;
    zlgi_buf bufs[3];
    size_t item;
    int64_t chunk[2]; /* shape of one that is not at the end of a rectilinear grid */
    uint8_t *elements, *read;
} subject;

/* ------------------------------------------------------------------ arrays */

static void open_subject(subject *s, zlg_array *array, const int64_t *chunk)
{
    s->array = array;
    s->source = &array->source;
    s->engine = &s->f.ctx->engine;
    s->scratch = zlgi_scratch_new(&s->f.ctx->alloc, &s->f.ctx->limits);
    assert_non_null(s->scratch);
    for (int i = 0; i < 3; i++)
        zlgi_buf_init(&s->bufs[i], &s->f.ctx->alloc);
    s->item = s->source->item;
    assert_in_range(s->item, 1, MAX_ITEM);
    memcpy(s->chunk, chunk, sizeof s->chunk);
    s->elements = malloc(ROWS * COLUMNS * s->item);
    s->read = malloc(ROWS * COLUMNS * s->item);
}

static void close_subject(subject *s)
{
    free(s->elements);
    free(s->read);
    for (int i = 0; i < 3; i++)
        zlgi_buf_reset(&s->bufs[i]);
    zlgi_scratch_free(s->scratch);
    zlg_array_close(s->array);
}

/* Anything that the type can be, and the fill value in the first rows. */
static void fill_elements(subject *s)
{
    uint64_t random = 88172645463325252u + s->item;
    for (size_t i = 0; i < ROWS * COLUMNS * s->item; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        s->elements[i] = (uint8_t)(random >> 21);
    }
    for (size_t i = 0; i < 2 * COLUMNS; i++)
        memcpy(s->elements + i * s->item, s->source->fill.data, s->item);
    if (zlgi_dtype_needs_normal(s->source->dtype))
        zlgi_dtype_normalize(s->source->dtype, s->elements, ROWS * COLUMNS);
}

/* The elements of the chunk that begins there, and its fill value beyond the array. */
static void cut(const subject *s, const int64_t *start, const int64_t *shape, uint8_t *out)
{
    MUST(zlgi_chunk_decode(s->engine, s->scratch, s->source, shape, (zlgi_bytes){0}, out,
                           err_));
    for (int64_t i = start[0]; i < start[0] + shape[0]; i++)
        for (int64_t k = start[1]; k < start[1] + shape[1]; k++, out += s->item)
            if (i < ROWS && k < COLUMNS)
                memcpy(out, s->elements + (size_t)(i * COLUMNS + k) * s->item, s->item);
}

/* ------------------------------------------------------------------ encode */

/* NULL: it is not stored. */
static void check_encoded(subject *s, const int64_t *shape, const void *elements,
                          const ptrdiff_t *strides, bool swapped, const void *expected,
                          size_t n)
{
    zlgi_bytes out;
    bool empty;
    MUST(zlgi_chunk_encode(s->engine, s->scratch, s->source, shape, elements, strides,
                           swapped, NULL, s->bufs, &out, &empty, err_));
    assert_int_equal(empty, expected == NULL);
    assert_int_equal(s->scratch->n_spare_used, 0);
    if (empty)
        return;
    assert_int_equal(out.n, n);
    assert_memory_equal(out.data, expected, n);
}

/* From memory in C order, columns first and backwards, and in the other byte order. */
static void check_encode(subject *s, const int64_t *shape, const uint8_t *block,
                         const void *expected, size_t n)
{
    uint8_t other[MAX_CHUNK * MAX_ITEM];
    size_t n_elements = (size_t)(shape[0] * shape[1]);
    ptrdiff_t item = (ptrdiff_t)s->item;
    const ptrdiff_t strides[2] = {-item, -item * shape[0]};
    check_encoded(s, shape, block, NULL, false, expected, n);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t k = 0; k < shape[1]; k++)
            memcpy(other + (n_elements - 1) * s->item + i * strides[0] + k * strides[1],
                   block + (size_t)(i * shape[1] + k) * s->item, s->item);
    check_encoded(s, shape, other + (n_elements - 1) * s->item, strides, false, expected,
                  n);
    zlgi_arena arena;
    zlgi_swap swap;
    zlgi_arena_init(&arena, &s->f.ctx->alloc);
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    MUST(zlgi_swap_make(&arena, s->source->dtype, false, is_little, &swap, err_));
    memcpy(other, block, n_elements * s->item);
    zlgi_swap_apply(&swap, other, n_elements, s->item);
    check_encoded(s, shape, other, NULL, true, expected, n);
    zlgi_arena_reset(&arena);
}

/* ------------------------------------------------------------------ decode */

/* The part that the array has is what was read. */
static void check_decode(subject *s, const int64_t *start, const int64_t *shape,
                         zlgi_bytes encoded)
{
    uint8_t out[MAX_CHUNK * MAX_ITEM];
    memset(out, 0xa5, sizeof out);
    MUST(zlgi_chunk_decode(s->engine, s->scratch, s->source, shape, encoded, out, err_));
    assert_int_equal(s->scratch->n_spare_used, 0);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t k = 0; k < shape[1]; k++)
            if (start[0] + i < ROWS && start[1] + k < COLUMNS)
                assert_memory_equal(
                    out + (size_t)(i * shape[1] + k) * s->item,
                    s->read + (size_t)((start[0] + i) * COLUMNS + start[1] + k) * s->item,
                    s->item);
}

/* Bytes that no chunk has are refused, or decode to something. */
static void check_damaged(subject *s, const int64_t *shape, zlgi_bytes encoded)
{
    uint8_t out[MAX_CHUNK * MAX_ITEM];
    zlg_error err = {0};
    encoded.n -= encoded.n > 0;
    zlg_status status =
        zlgi_chunk_decode(s->engine, s->scratch, s->source, shape, encoded, out, &err);
    assert_true(status == ZLG_OK || err.message[0] != 0);
    assert_int_equal(s->scratch->n_spare_used, 0);
}

/* ------------------------------------------------------------------ all of an array */

/* What is stored of a chunk. Below codecs around a shard in a shard nobody else can tell:
 * there it is what the chunk encodes to, for the rest to agree with. */
static void get_stored(subject *s, const int64_t *at, const int64_t *shape,
                       const uint8_t *block, zlgi_buf *out, bool *out_missing)
{
    zlg_varlen stored = {0};
    zlg_text object = {0};
    uint8_t missing = 0;
    char key[ZLGI_KEY_MAX];
    zlgi_bytes bytes;
    const zlgi_level *level = s->source->level;
    if (level->wrapped) {
        zlgi_key_write(&s->source->keys, 2, at, key);
        missing = zlg_store_get(s->f.stores[0], key, &object, NULL) != ZLG_OK;
        bytes = (zlgi_bytes){(const uint8_t *)object.data, object.n_bytes};
    } else if (level->inner && level->inner->wrapped) {
        bool empty;
        MUST(zlgi_chunk_encode(s->engine, s->scratch, s->source, shape, block, NULL, false,
                               NULL, s->bufs, &bytes, &empty, err_));
        missing = empty;
    } else {
        MUST(zlg_array_read_encoded(s->array, at, 1, &stored, &missing, NULL, err_));
        bytes = (zlgi_bytes){stored.bytes, (size_t)stored.offsets[1]};
    }
    *out_missing = missing != 0;
    if (!missing)
        MUST(zlgi_buf_append(out, bytes.data, bytes.n, err_));
    zlg_text_free(&object);
    zlg_varlen_free(&stored);
}

static void check_chunk(subject *s, const int64_t *at, const int64_t *start,
                        const int64_t *shape)
{
    uint8_t block[MAX_CHUNK * MAX_ITEM];
    zlgi_buf stored;
    bool missing;
    assert_in_range(shape[0] * shape[1], 1, MAX_CHUNK);
    zlgi_buf_init(&stored, &s->f.ctx->alloc);
    cut(s, start, shape, block);
    get_stored(s, at, shape, block, &stored, &missing);
    check_encode(s, shape, block, missing ? NULL : stored.data, stored.n);
    zlgi_bytes encoded = {.data = missing ? NULL : stored.data, .n = stored.n};
    check_decode(s, start, shape, encoded);
    if (!missing)
        check_damaged(s, shape, encoded);
    zlgi_buf_reset(&stored);
}

static void check_array(subject *s)
{
    MUST(zlg_array_write(s->array, NULL, &(zlg_source){.data = s->elements}, NULL, err_));
    MUST(zlg_array_read(s->array, NULL, &(zlg_target){.data = s->read}, NULL, err_));
    for (int64_t i = 0; i * s->chunk[0] < ROWS; i++)
        for (int64_t k = 0; k * s->chunk[1] < COLUMNS; k++)
            check_chunk(s, (const int64_t[]){i, k},
                        (const int64_t[]){i * s->chunk[0], k * s->chunk[1]}, s->chunk);
}

#define STRUCT                                                                             \
    "{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":"   \
    "\"int16\"},{\"name\":\"b\",\"data_type\":\"float64\"},{\"name\":\"c\",\"data_type\":" \
    "\"uint8\"}]}}"

static const struct {
    const char *name, *fill;
} types[] = {
    {"\"bool\"", "false"},   {"\"uint8\"", "0"},
    {"\"int4\"", "-3"},      {"\"uint2\"", "1"},
    {"\"int16\"", "7"},      {"\"float16\"", "\"NaN\""},
    {"\"uint32\"", "0"},     {"\"int64\"", "-1"},
    {"\"float64\"", "-0.0"}, {"\"complex64\"", "[1,2]"},
    {"\"r24\"", "[1,2,3]"},  {STRUCT, "{\"a\":1,\"b\":0.5,\"c\":2}"},
};

#define CHUNK_T TRANSPOSE("[1,0]")
static const struct {
    int64_t chunk[2];
    const char *object, *codecs;
} layouts[] = {
    {{2, 3}, "[2,3]", "[%s]"},
    {{2, 3}, "[2,3]", "[%s," ZSTD "]"},
    {{2, 3}, "[2,3]", "[" CHUNK_T ",%s," GZIP "," CRC "]"},
    {{2, 3}, "[4,6]", "[" SHARD("[2,3]", "[%s]") "]"},
    {{2, 3}, "[4,6]", "[" SHARD_AT("start", "[2,3]", "[" CHUNK_T ",%s," ZSTD "]") "]"},
    {{2, 3}, "[4,6]", "[" CHUNK_T "," SHARD("[3,2]", "[%s," CRC "]") "]"},
    {{1, 3}, "[4,6]", "[" SHARD("[2,3]", "[" CHUNK_T "," SHARD("[3,1]", "[%s]") "]") "]"},
    {{4, 6}, "[4,6]", "[" SHARD("[2,3]", "[%s," ZSTD "]") "," CRC "]"},
    {{4, 6}, "[4,6]", "[" CHUNK_T "," SHARD("[3,2]", "[%s]") "," GZIP "]"},
    {{2, 6}, "[4,6]", "[" SHARD("[2,6]", "[" SHARD("[2,3]", "[%s]") "," CRC "]") "]"},
};

static void test_types_and_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(types) * ZLGI_COUNT(layouts) * 2; i++) {
        subject s;
        char codecs[2048], grid[256];
        size_t l = i / 2 % ZLGI_COUNT(layouts), t = i / 2 / ZLGI_COUNT(layouts);
        open_fixture(&s.f);
        snprintf(codecs, sizeof codecs, layouts[l].codecs, i % 2 ? LITTLE : BIG);
        snprintf(grid, sizeof grid, REGULAR("%s"), layouts[l].object);
        open_subject(&s,
                     put_array(s.f.stores[0], "", "[9,5]", types[t].name, grid,
                               types[t].fill, codecs),
                     layouts[l].chunk);
        fill_elements(&s);
        check_array(&s);
        close_subject(&s);
        close_fixture(&s.f);
    }
}

static void test_version_2(void **state)
{
    (void)state;
    static const struct {
        const char *name, *fill;
    } v2_types[] = {{"\"<i4\"", "5"},
                    {"\">f8\"", "\"NaN\""},
                    {"\"|u1\"", "0"},
                    {"\"|b1\"", "true"},
                    {"[[\"a\",\">i2\"],[\"b\",\"<f4\"]]", "\"AQIDBAUG\""}};
    static const char *const compressors[] = {
        "null", "{\"id\":\"zlib\",\"level\":1}",
        "{\"id\":\"blosc\",\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":1,\"blocksize\":0}"};
    for (size_t i = 0; i < ZLGI_COUNT(v2_types) * ZLGI_COUNT(compressors) * 2; i++) {
        subject s;
        char text[1024];
        zlg_array *array;
        size_t t = i / 2 / ZLGI_COUNT(compressors);
        open_fixture(&s.f);
        snprintf(text, sizeof text,
                 "{\"zarr_format\":2,\"shape\":[9,5],\"chunks\":[2,3],\"dtype\":%s,"
                 "\"fill_value\":%s,\"order\":\"%s\",\"compressor\":%s,\"filters\":null}",
                 v2_types[t].name, v2_types[t].fill, i % 2 ? "F" : "C",
                 compressors[i / 2 % ZLGI_COUNT(compressors)]);
        put_text(s.f.stores[0], ".zarray", text);
        MUST(zlg_array_open(s.f.stores[0], "", NULL, &array, err_));
        open_subject(&s, array, (const int64_t[]){2, 3});
        fill_elements(&s);
        check_array(&s);
        close_subject(&s);
        close_fixture(&s.f);
    }
}

/* Chunks of other shapes than their neighbours. */
static void test_rectilinear(void **state)
{
    (void)state;
    static const int64_t rows[] = {3, 1, 5}, columns[] = {2, 3};
    static const char grid[] = "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":"
                               "\"inline\",\"chunk_shapes\":[[3,1,5],[2,3]]}}";
    static const char *const chains[] = {"[" LITTLE "]", "[" CHUNK_T "," BIG "," ZSTD "]"};
    for (size_t c = 0; c < ZLGI_COUNT(chains); c++) {
        subject s;
        open_fixture(&s.f);
        open_subject(
            &s, put_array(s.f.stores[0], "", "[9,5]", "\"int32\"", grid, "0", chains[c]),
            (const int64_t[]){ROWS, COLUMNS});
        fill_elements(&s);
        MUST(zlg_array_write(s.array, NULL, &(zlg_source){.data = s.elements}, NULL, err_));
        MUST(zlg_array_read(s.array, NULL, &(zlg_target){.data = s.read}, NULL, err_));
        for (int64_t i = 0, row = 0; i < 3; row += rows[i++])
            for (int64_t k = 0, column = 0; k < 2; column += columns[k++])
                check_chunk(&s, (const int64_t[]){i, k}, (const int64_t[]){row, column},
                            (const int64_t[]){rows[i], columns[k]});
        close_subject(&s);
        close_fixture(&s.f);
    }
}

/* Codecs in front of a shard are those of its chunks, and change the fill value. */
static void test_codecs_in_front(void **state)
{
    (void)state;
    static const char codecs[] =
        "[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"int16\"}}," SHARD(
            "[2,3]", "[" BIG "," ZSTD "]") "]";
    subject s;
    open_fixture(&s.f);
    open_subject(&s,
                 put_array(s.f.stores[0], "", "[9,5]", "\"float32\"", REGULAR("[4,6]"),
                           "2.25", codecs),
                 (const int64_t[]){2, 3});
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        float value = i < 2 * COLUMNS ? 2.25f : i < 4 * COLUMNS ? 2.0f : (float)i + 0.25f;
        memcpy(s.elements + (size_t)i * s.item, &value, sizeof value);
    }
    check_array(&s);
    close_subject(&s);
    close_fixture(&s.f);
}

/* What a caller's memory holds in the form that is stored is not copied; a chunk of nothing
 * but the fill value is encoded when that is asked for; and no axes are fine. */
static void test_no_copy(void **state)
{
    (void)state;
    subject s;
    zlgi_bytes out;
    bool empty;
    const int64_t chunk[2] = {2, 3};
    const int16_t zeros[6] = {0};
    open_fixture(&s.f);
    open_subject(&s,
                 put_array(s.f.stores[0], "", "[9,5]", "\"int16\"", REGULAR("[4,6]"), "0",
                           "[" SHARD("[2,3]", "[" LITTLE "]") "]"),
                 chunk);
    zlg_call call = ZLG_CALL_INIT;
    MUST(zlgi_chunk_encode(s.engine, s.scratch, s.source, chunk, zeros, NULL, false, &call,
                           s.bufs, &out, &empty, err_));
    assert_true(empty);
    call.keep_empty = 1;
    MUST(zlgi_chunk_encode(s.engine, s.scratch, s.source, chunk, zeros, NULL, false, &call,
                           s.bufs, &out, &empty, err_));
    assert_false(empty);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        assert_ptr_equal(out.data, zeros);
    assert_int_equal(out.n, sizeof zeros);
    close_subject(&s);
    open_subject(
        &s,
        put_array(s.f.stores[0], "", "[]", "\"int16\"", REGULAR("[]"), "0", "[" BIG "]"),
        chunk);
    const int16_t one = 0x1234;
    int16_t back = 0;
    MUST(zlgi_chunk_encode(s.engine, s.scratch, s.source, NULL, &one, NULL, false, NULL,
                           s.bufs, &out, &empty, err_));
    assert_int_equal(out.n, 2);
    assert_memory_equal(out.data, "\x12\x34", 2);
    MUST(zlgi_chunk_decode(s.engine, s.scratch, s.source, NULL, out, &back, err_));
    assert_int_equal(back, one);
    close_subject(&s);
    close_fixture(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_and_layouts), cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_rectilinear),       cmocka_unit_test(test_codecs_in_front),
        cmocka_unit_test(test_no_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
