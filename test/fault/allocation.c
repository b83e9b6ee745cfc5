/*
 * Every allocation fails in turn: call n of the heap and all after it, or call n alone.
 * Each failure is ZLG_NO_MEMORY with a message, leaks nothing and spoils nothing: the same
 * calls succeed in the same context once there is memory.
 */
#define _GNU_SOURCE
#include "../store/folder.h"
#include "fault.h"

/* What a scenario is given, and where it puts what must be closed whatever happens. */
typedef struct stage {
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_group *group, *member;
    zlg_array *array, *other;
    zlg_text text;
    zlg_varlen varlen;
} stage;

typedef zlg_status (*scenario)(stage *s, zlg_error *err);

static test_folder folder; /* files that the scenarios read */

static void close_stage(stage *s)
{
    zlg_varlen_free(&s->varlen);
    zlg_text_free(&s->text);
    zlg_array_close(s->other);
    zlg_array_close(s->array);
    zlg_group_close(s->member);
    zlg_group_close(s->group);
    zlg_store_close(s->store);
    *s = (stage){.ctx = s->ctx};
}

/* ------------------------------------------------------------------ data */

enum { SIDE = 12 };
static uint16_t elements[SIDE * SIDE];
static const char *const words[SIDE] = {
    "north", "",   "south-west", "\xc3\xbc", "a longer word than the others",
    "x",     "",   "",           "seven",    "eight",
    "nine",  "ten"};

static const char *const nested_codecs = "[" TRANSPOSE("[1,0]") "," SHARD(
    "[6,6]", "[" SHARD_AT("start", "[3,2]", "[" BIG "," GZIP "]") "]") "]";
static const char *const wrapped_codecs =
    "[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":0,\"scale\":1}}," SHARD(
        "[3,4]", "[" LITTLE "," ZSTD "]") "," CRC "]";

static void write_array(zlg_store *store, const char *path, const zlg_array_spec *spec)
{
    zlg_array *array;
    MUST(zlg_array_create(store, path, spec, &array, err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    zlg_array_close(array);
}

static void write_by_hand(zlg_store *store, const char *path, const char *grid,
                          const char *codecs)
{
    zlg_array *array = put_array(store, path, "[12,12]", "\"uint16\"", grid, "0", codecs);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    zlg_array_close(array);
}

static void write_words(zlg_store *store, const char *path, const char *codecs)
{
    int64_t offsets[SIDE + 1] = {0};
    char bytes[256] = "";
    for (int i = 0; i < SIDE; i++) {
        memcpy(bytes + offsets[i], words[i], strlen(words[i]));
        offsets[i + 1] = offsets[i] + (int64_t)strlen(words[i]);
    }
    zlg_array *array =
        put_array(store, path, "[12]", "\"string\"", REGULAR("[6]"), "\"none\"", codecs);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = bytes, .offsets = offsets},
                         NULL, err_));
    zlg_array_close(array);
}

static const int64_t shape[2] = {SIDE, SIDE}, half[2] = {6, 5}, small[2] = {3, 2};

static int write_files(void **state)
{
    zlg_ctx *ctx;
    zlg_store *store;
    (void)state;
    for (size_t i = 0; i < SIDE * SIDE; i++)
        elements[i] = (uint16_t)(i * 77 + 5);
    test_folder_make(&folder);
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_fs(ctx, folder.path, NULL, &store, err_));
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = half;
    spec.data_type = "uint16";
    spec.attributes = "{\"title\":\"numbers\",\"levels\":[1,2.5,-3]}";
    write_array(store, "plain", &spec);
    spec.object_shape = (const int64_t[]){6, 6};
    spec.chunk_shape = small;
    write_array(store, "shards", &spec);
    spec.zarr_format = 2;
    spec.object_shape = half;
    spec.chunk_shape = NULL;
    spec.data_type = ">u2";
    spec.order = "F";
    spec.codecs = "{\"filters\":[{\"id\":\"delta\",\"dtype\":\">u2\"}],"
                  "\"compressor\":{\"id\":\"zlib\",\"level\":1}}";
    write_array(store, "old/array", &spec);
    write_by_hand(store, "nested", REGULAR("[12,12]"), nested_codecs);
    write_by_hand(store, "wrapped", REGULAR("[6,8]"), wrapped_codecs);
    write_by_hand(store, "uneven",
                  "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                  "\"chunk_shapes\":[[5,7],[1,[2,5],1]]}}",
                  "[" LITTLE "," ZSTD "]");
    write_words(store, "words", "[{\"name\":\"vlen-utf8\"}," ZSTD "]");
    write_words(store, "sharded_words", "[" SHARD("[2]", "[{\"name\":\"vlen-utf8\"}]") "]");
    put_text(store, "whole/zarr.json",
             "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"a\":1},"
             "\"consolidated_metadata\":{\"kind\":\"inline\",\"must_understand\":false,"
             "\"metadata\":{\"g\":{\"zarr_format\":3,\"node_type\":\"group\"},\"g/a\":"
             "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[3],\"data_type\":"
             "\"int8\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"
             "{\"chunk_shape\":[2]}},\"fill_value\":9,\"codecs\":[{\"name\":\"bytes\"}],"
             "\"chunk_key_encoding\":{\"name\":\"default\"}}}}}");
    zlg_store_close(store);
    char path[128];
    snprintf(path, sizeof path, "%s/v2", folder.path);
    zlg_fs_options make = ZLG_FS_OPTIONS_INIT;
    make.create = 1;
    MUST(zlg_store_open_fs(ctx, path, &make, &store, err_));
    put_text(store, ".zgroup", "{\"zarr_format\":2}");
    put_text(
        store, ".zmetadata",
        "{\"zarr_consolidated_format\":1,\"metadata\":{\".zgroup\":{\"zarr_format\":2},"
        "\"a/.zarray\":{\"zarr_format\":2,\"shape\":[3],\"chunks\":[3],\"dtype\":\"|i1\","
        "\"compressor\":null,\"fill_value\":9,\"order\":\"C\",\"filters\":null},"
        "\"a/.zattrs\":{\"unit\":\"m\"}}}");
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    test_folder_remove(&folder);
    return 0;
}

/* ------------------------------------------------------------------ scenarios */

static zlg_status open_files(stage *s, const char *name, zlg_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    return zlg_store_open_fs(s->ctx, path, NULL, &s->store, err);
}

static zlg_status read_all(stage *s, const char *path, zlg_error *err)
{
    uint16_t out[SIDE * SIDE];
    memset(out, 0xA5, sizeof out);
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, path, NULL, &s->array, err));
    ZLGI_TRY(zlg_array_read(s->array, NULL, &(zlg_target){.data = out}, NULL, err));
    assert_memory_equal(out, elements, sizeof out);
    return ZLG_OK;
}

static zlg_status read_plain(stage *s, zlg_error *err)
{
    return read_all(s, "plain", err);
}

static zlg_status read_shards(stage *s, zlg_error *err)
{
    return read_all(s, "shards", err);
}

static zlg_status read_v2(stage *s, zlg_error *err)
{
    return read_all(s, "old/array", err);
}

static zlg_status read_nested(stage *s, zlg_error *err)
{
    return read_all(s, "nested", err);
}

static zlg_status read_wrapped(stage *s, zlg_error *err)
{
    return read_all(s, "wrapped", err);
}

static zlg_status read_uneven(stage *s, zlg_error *err)
{
    return read_all(s, "uneven", err);
}

/* Lists, points, a mask and a range backwards, over two arrays in one call. */
static zlg_status read_batch(stage *s, zlg_error *err)
{
    static const int64_t list[] = {11, 0, 7, 7}, rows[] = {3, 0, 11},
                         columns[] = {1, 10, 11};
    static const int64_t *const coordinates[] = {rows, columns};
    uint8_t mask[SIDE * SIDE] = {0};
    mask[0] = mask[77] = mask[SIDE * SIDE - 1] = 1;
    zlg_axis axes[2] = {{.count = 4, .list = list}, {.start = 9, .step = -4, .count = 3}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = 3};
    zlg_selection masked = {.kind = ZLG_MASK, .rank = 2, .mask = mask};
    uint16_t a[12], b[3], c[3], d[3];
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "nested", NULL, &s->array, err));
    ZLGI_TRY(zlg_array_open(s->store, "shards", NULL, &s->other, err));
    zlg_read reads[] = {{s->array, &box, {.data = a}},
                        {s->other, &points, {.data = b}},
                        {s->array, &points, {.data = c}},
                        {s->other, &masked, {.data = d}}};
    ZLGI_TRY(zlg_read_many(reads, ZLGI_COUNT(reads), NULL, err));
    for (int i = 0; i < 12; i++)
        assert_int_equal(a[i], elements[list[i / 3] * SIDE + 9 - 4 * (i % 3)]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(b[i], elements[rows[i] * SIDE + columns[i]]);
        assert_int_equal(c[i], b[i]);
    }
    assert_int_equal(d[1], elements[77]);
    return ZLG_OK;
}

static zlg_status read_words(stage *s, const char *path, zlg_error *err)
{
    static const int64_t at[] = {4, 0, 2, 4, 11};
    static const int64_t *const coordinates[] = {at};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 1, .coordinates = coordinates, .n_points = 5};
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, path, NULL, &s->array, err));
    ZLGI_TRY(zlg_array_read_varlen(s->array, &points, &s->varlen, NULL, err));
    for (int i = 0; i < 5; i++) {
        size_t n = (size_t)(s->varlen.offsets[i + 1] - s->varlen.offsets[i]);
        assert_int_equal(n, strlen(words[at[i]]));
        assert_memory_equal(s->varlen.bytes + s->varlen.offsets[i], words[at[i]], n);
    }
    return ZLG_OK;
}

/* A mask alone: every third number of the shards, and every third word. */
static zlg_status read_masked(stage *s, zlg_error *err)
{
    uint8_t mask[SIDE * SIDE];
    uint16_t out[SIDE * SIDE / 3];
    zlg_selection masked = {.kind = ZLG_MASK, .rank = 2, .mask = mask};
    for (int i = 0; i < SIDE * SIDE; i++)
        mask[i] = i % 3 == 1;
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "shards", NULL, &s->array, err));
    ZLGI_TRY(zlg_array_read(s->array, &masked, &(zlg_target){.data = out}, NULL, err));
    for (int i = 0; i < SIDE * SIDE / 3; i++)
        assert_int_equal(out[i], elements[3 * i + 1]);
    masked.rank = 1;
    ZLGI_TRY(zlg_array_open(s->store, "words", NULL, &s->other, err));
    ZLGI_TRY(zlg_array_read_varlen(s->other, &masked, &s->varlen, NULL, err));
    assert_int_equal(s->varlen.n, SIDE / 3);
    for (int i = 0; i < SIDE / 3; i++) {
        size_t n = (size_t)(s->varlen.offsets[i + 1] - s->varlen.offsets[i]);
        assert_int_equal(n, strlen(words[3 * i + 1]));
        assert_memory_equal(s->varlen.bytes + s->varlen.offsets[i], words[3 * i + 1], n);
    }
    return ZLG_OK;
}

static zlg_status read_whole_words(stage *s, zlg_error *err)
{
    return read_words(s, "words", err);
}

static zlg_status read_sharded_words(stage *s, zlg_error *err)
{
    return read_words(s, "sharded_words", err);
}

static int count_member(void *user, const char *path, zlg_node kind)
{
    (void)path, (void)kind;
    ++*(int *)user;
    return 0;
}

static zlg_status list_members(stage *s, zlg_error *err)
{
    int n = 0;
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_group_open(s->store, "", NULL, &s->group, err));
    ZLGI_TRY(zlg_group_members(s->group, 1, count_member, &n, err));
    assert_int_equal(n, 8); /* those of version 3 */
    ZLGI_TRY(zlg_group_open_array(s->group, "plain", &s->array, err));
    return zlg_group_attributes(s->group, &s->text, err);
}

static zlg_status open_consolidated(stage *s, zlg_error *err)
{
    int n = 0;
    int8_t out[3];
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_group_open(s->store, "whole", NULL, &s->group, err));
    assert_true(zlg_group_is_consolidated(s->group));
    ZLGI_TRY(zlg_group_members(s->group, 1, count_member, &n, err));
    assert_int_equal(n, 2);
    ZLGI_TRY(zlg_group_open_group(s->group, "g", &s->member, err));
    ZLGI_TRY(zlg_group_open_array(s->member, "a", &s->array, err));
    ZLGI_TRY(zlg_array_read(s->array, NULL, &(zlg_target){.data = out}, NULL, err));
    assert_int_equal(out[2], 9);
    return ZLG_OK;
}

static zlg_status open_consolidated_v2(stage *s, zlg_error *err)
{
    int n = 0;
    ZLGI_TRY(open_files(s, "v2", err));
    ZLGI_TRY(zlg_group_open(s->store, "", NULL, &s->group, err));
    assert_true(zlg_group_is_consolidated(s->group));
    ZLGI_TRY(zlg_group_members(s->group, 0, count_member, &n, err));
    assert_int_equal(n, 1);
    ZLGI_TRY(zlg_group_open_array(s->group, "a", &s->array, err));
    ZLGI_TRY(zlg_array_attributes(s->array, &s->text, err));
    assert_string_equal(s->text.data, "{\"unit\":\"m\"}");
    return ZLG_OK;
}

static zlg_status explain(stage *s, zlg_error *err)
{
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "nested", NULL, &s->array, err));
    return zlg_array_explain(s->array, NULL, 1, -1, &s->text, err);
}

typedef zlg_status (*text_fn)(zlg_array *array, zlg_text *out, zlg_error *err);

static zlg_status key_text(zlg_array *array, zlg_text *out, zlg_error *err)
{
    return zlg_array_key(array, (const int64_t[]){1, 2}, out, err);
}

static zlg_status format_text(zlg_array *array, zlg_text *out, zlg_error *err)
{
    return zlg_array_format(array, elements, 100, 1, out, err);
}

static zlg_status write_texts(stage *s, zlg_error *err)
{
    static const text_fn texts[] = {zlg_array_attributes, zlg_array_metadata,
                                    zlg_array_codecs, key_text, format_text};
    uint64_t n_objects, n_bytes;
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "plain", NULL, &s->array, err));
    for (size_t i = 0; i < ZLGI_COUNT(texts); i++) {
        ZLGI_TRY(texts[i](s->array, &s->text, err));
        zlg_text_free(&s->text);
    }
    ZLGI_TRY(zlg_array_stored(s->array, &n_objects, &n_bytes, err));
    assert_int_equal(n_objects, 6);
    return zlg_node_metadata(s->store, "old/array", NULL, NULL, &s->text, err);
}

/* The array that is read comes of one that was opened by way of its text. */
static zlg_status read_over(stage *s, zlg_error *err)
{
    uint16_t out[SIDE * SIDE];
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "old/array", NULL, &s->array, err));
    ZLGI_TRY(zlg_array_metadata(s->array, &s->text, err));
    ZLGI_TRY(
        zlg_array_from_metadata(s->store, "old/array", s->text.data, NULL, &s->other, err));
    zlg_array_close(s->array);
    s->array = NULL;
    ZLGI_TRY(zlg_array_over(s->other, s->store, &s->array, err));
    ZLGI_TRY(zlg_array_read(s->array, NULL, &(zlg_target){.data = out}, NULL, err));
    assert_memory_equal(out, elements, sizeof out);
    return ZLG_OK;
}

static zlg_status show_chunk(void *user, zlg_read_chunk *chunk, zlg_error *err)
{
    (void)user, (void)err;
    assert_int_equal(chunk->n_bytes, 12);
    return ZLG_OK;
}

static zlg_status read_shown(stage *s, zlg_error *err)
{
    uint16_t out[SIDE * SIDE];
    zlg_call call = ZLG_CALL_INIT;
    call.transform = show_chunk;
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "nested", NULL, &s->array, err));
    ZLGI_TRY(zlg_array_read(s->array, NULL, &(zlg_target){.data = out}, &call, err));
    assert_memory_equal(out, elements, sizeof out);
    return ZLG_OK;
}

/* Of the shards into shards in memory. */
static zlg_status move_encoded(stage *s, zlg_error *err)
{
    enum { N = 24 };
    int64_t at[N][2];
    zlg_encoded chunks[N];
    uint16_t out[SIDE * SIDE];
    for (int i = 0; i < N; i++)
        memcpy(at[i], (const int64_t[]){i / 6, i % 6}, sizeof at[i]);
    ZLGI_TRY(open_files(s, "", err));
    ZLGI_TRY(zlg_array_open(s->store, "shards", NULL, &s->array, err));
    ZLGI_TRY(zlg_array_read_encoded(s->array, at[0], N, &s->varlen, NULL, NULL, err));
    for (int i = 0; i < N; i++)
        chunks[i] = (zlg_encoded){
            .coordinates = at[i],
            .data = s->varlen.bytes + s->varlen.offsets[i],
            .n_bytes = (size_t)(s->varlen.offsets[i + 1] - s->varlen.offsets[i])};
    zlg_store_close(s->store);
    s->store = NULL;
    ZLGI_TRY(zlg_store_open_memory(s->ctx, &s->store, err));
    ZLGI_TRY(zlg_array_over(s->array, s->store, &s->other, err));
    ZLGI_TRY(zlg_array_write_encoded(s->other, chunks, N / 2 + 1, NULL, err));
    ZLGI_TRY(zlg_array_write_encoded(s->other, chunks + N / 2, N / 2, NULL, err));
    ZLGI_TRY(zlg_array_read(s->other, NULL, &(zlg_target){.data = out}, NULL, err));
    assert_memory_equal(out, elements, sizeof out);
    return ZLG_OK;
}

static zlg_status create(stage *s, int zarr_format, bool sharded, zlg_error *err)
{
    uint16_t out[SIDE * SIDE];
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.zarr_format = zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = sharded ? (const int64_t[]){6, 6} : half;
    spec.chunk_shape = sharded ? small : NULL;
    spec.data_type = zarr_format == 2 ? "<u2" : "uint16";
    spec.attributes = "{\"k\":\"v\"}";
    spec.overwrite = 1;
    zlg_group_spec root = ZLG_GROUP_SPEC_INIT;
    root.zarr_format = zarr_format;
    root.attributes = "{\"g\":1}";
    root.overwrite = 1;
    ZLGI_TRY(zlg_store_open_memory(s->ctx, &s->store, err));
    ZLGI_TRY(zlg_group_create(s->store, "", &root, &s->group, err));
    ZLGI_TRY(zlg_array_create(s->store, "deep/down/array", &spec, &s->array, err));
    ZLGI_TRY(zlg_array_write(s->array, NULL, &(zlg_source){.data = elements}, NULL, err));
    ZLGI_TRY(zlg_array_read(s->array, NULL, &(zlg_target){.data = out}, NULL, err));
    assert_memory_equal(out, elements, sizeof out);
    return zlg_store_get(s->store, zarr_format == 2 ? ".zattrs" : "zarr.json", &s->text,
                         err);
}

static zlg_status create_v3(stage *s, zlg_error *err)
{
    return create(s, 3, false, err);
}

static zlg_status create_shards(stage *s, zlg_error *err)
{
    return create(s, 3, true, err);
}

static zlg_status create_v2(stage *s, zlg_error *err)
{
    return create(s, 2, false, err);
}

/* ------------------------------------------------------------------ turns */

static zlg_ctx_options options_of(fault_heap *heap, int n_threads)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.allocator = heap->alloc;
    options.n_threads = n_threads;
    options.chunk_cache = 1 << 20;
    return options;
}

/* False when the run asked for fewer than n blocks: nothing was refused. */
static bool take_turn(scenario run, size_t n, bool once, int n_threads)
{
    fault_heap heap;
    stage s = {.ctx = NULL};
    zlg_error err = {0};
    fault_heap_init(&heap, n, once);
    zlg_ctx_options options = options_of(&heap, n_threads);
    zlg_status status = zlg_ctx_new(&options, &s.ctx, &err);
    if (status == ZLG_OK)
        status = run(&s, &err);
    else
        assert_null(s.ctx);
    bool refused = heap.n_refused > 0;
    /* A block that can be done without: the call goes on, and is right. */
    if (status != ZLG_OK) {
        if (status != ZLG_NO_MEMORY || err.status != ZLG_NO_MEMORY ||
            strstr(err.message, "memory") == NULL)
            fail_msg("call %zu: status %d: %s", n, (int)status, err.message);
        assert_true(refused);
    } else if (refused && !once && n_threads == 1) {
        fail_msg("call %zu was refused, and nobody noticed", n);
    }
    close_stage(&s);
    if (s.ctx != NULL) {
        heap.fail_at = 0;
        if (run(&s, &err) != ZLG_OK)
            fail_msg("after call %zu failed: %s", n, err.message);
        close_stage(&s);
        zlg_ctx_close(s.ctx);
    }
    fault_heap_check_empty(&heap);
    return refused;
}

static void test_scenario(void **state)
{
    scenario run = *(scenario *)*state;
    size_t n = 1;
    while (take_turn(run, n, false, 1))
        n++;
    assert_true(n > 10); /* the heap was asked at all */
    for (n = 1; take_turn(run, n, true, 1); n++)
        ;
    for (n = 1; take_turn(run, n, false, 4); n++)
        ;
}

int main(void)
{
#define SCENARIO(name)                                                                     \
    {                                                                                      \
#name, test_scenario, NULL, NULL, &(scenario)                                      \
        {                                                                                  \
            name                                                                           \
        }                                                                                  \
    }
    const struct CMUnitTest tests[] = {
        SCENARIO(read_plain),
        SCENARIO(read_v2),
        SCENARIO(read_shards),
        SCENARIO(read_nested),
        SCENARIO(read_wrapped),
        SCENARIO(read_uneven),
        SCENARIO(read_batch),
        SCENARIO(read_masked),
        SCENARIO(read_whole_words),
        SCENARIO(read_sharded_words),
        SCENARIO(list_members),
        SCENARIO(open_consolidated),
        SCENARIO(open_consolidated_v2),
        SCENARIO(explain),
        SCENARIO(write_texts),
        SCENARIO(create_v3),
        SCENARIO(create_shards),
        SCENARIO(create_v2),
        SCENARIO(read_over),
        SCENARIO(read_shown),
        SCENARIO(move_encoded),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
