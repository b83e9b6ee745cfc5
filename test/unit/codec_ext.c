/*
 * Codecs of the caller: they stand in chains like built-in ones, what they give is held to
 * its size, and what they hold is given back. Label: engine
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"
#include "zellige_ext.h"

/* ------------------------------------------------------------------ bytes to bytes
 *
 * mask: each byte xor "key", and one byte more that says the key. Counts its states.
 */
typedef struct mask {
    unsigned char key;
    atomic_int *n_states;
} mask;

typedef struct counts {
    atomic_int n_states, n_closed;
} counts;

static zlg_status mask_parse(void *self, const char *configuration, int zarr_format,
                             const zlg_decoded *from, void **out_state, zlg_error *err)
{
    unsigned key;
    assert_true(zarr_format == 2 || zarr_format == 3);
    assert_int_equal(from->rank, 0);
    assert_null(from->shape);
    const char *at = strstr(configuration, "\"key\":");
    if (at == NULL || sscanf(at, "\"key\":%u", &key) != 1) {
        snprintf(err->message, sizeof err->message, "%s has no key", configuration);
        return ZLG_METADATA;
    }
    mask *m = malloc(sizeof *m);
    assert_non_null(m);
    *m = (mask){(unsigned char)key, &((counts *)self)->n_states};
    atomic_fetch_add(m->n_states, 1);
    *out_state = m;
    return ZLG_OK;
}

static void mask_free(void *state)
{
    mask *m = state;
    atomic_fetch_sub(m->n_states, 1);
    free(m);
}

static size_t mask_bytes(void *state, const zlg_decoded *from)
{
    (void)state;
    return from->n_bytes + 1;
}

static zlg_status mask_encode(void *state, const zlg_decoded *from, zlg_bytes in,
                              zlg_output *output, zlg_error *err)
{
    const mask *m = state;
    void *room;
    assert_int_equal(from->n_bytes, in.n_bytes);
    if (zlg_output_room(output, in.n_bytes + 1, &room, err))
        return err->status;
    unsigned char *to = room;
    for (size_t i = 0; i < in.n_bytes; i++)
        to[i] = ((const unsigned char *)in.data)[i] ^ m->key;
    to[in.n_bytes] = m->key;
    return zlg_output_done(output, in.n_bytes + 1, err);
}

static zlg_status mask_decode(void *state, const zlg_decoded *from, zlg_bytes in,
                              zlg_output *output, zlg_error *err)
{
    const mask *m = state;
    const unsigned char *data = in.data;
    (void)from;
    if (in.n_bytes == 0 || data[in.n_bytes - 1] != m->key) {
        snprintf(err->message, sizeof err->message, "another key");
        return ZLG_CORRUPT;
    }
    for (size_t i = 0; i + 1 < in.n_bytes; i++) { /* piece by piece */
        unsigned char byte = data[i] ^ m->key;
        if (zlg_output_append(output, &byte, 1, err))
            return err->status;
    }
    return ZLG_OK;
}

static void count_close(void *self)
{
    atomic_fetch_add(&((counts *)self)->n_closed, 1);
}

static const zlg_codec_methods mask_methods = {
    .n_bytes_struct = sizeof(zlg_codec_methods),
    .kind = ZLG_BYTES_TO_BYTES,
    .name = "example.mask",
    .id = "mask",
    .parse = mask_parse,
    .free = mask_free,
    .encoded_bytes = mask_bytes,
    .encode = mask_encode,
    .decode = mask_decode,
    .close = count_close,
};

/* ------------------------------------------------------------------ array to array
 *
 * low: int32 in rows and columns becomes int16 in columns and rows. Without configuration.
 */
static zlg_status low_type(void *state, const zlg_decoded *from, const char **data_type,
                           int *rank, zlg_error *err)
{
    (void)state;
    assert_int_equal(*rank, from->rank);
    if (from->dtype.type != ZLG_INT32 || from->rank != 2) {
        snprintf(err->message, sizeof err->message, "it takes int32 with two axes");
        return ZLG_UNSUPPORTED;
    }
    *data_type = "int16";
    return ZLG_OK;
}

static zlg_status low_shape(void *state, const zlg_decoded *from, int64_t *shape,
                            zlg_error *err)
{
    (void)state, (void)err;
    shape[0] = from->shape[1];
    shape[1] = from->shape[0];
    return ZLG_OK;
}

static zlg_status low_encode(void *state, const zlg_decoded *from, zlg_bytes in,
                             zlg_output *output, zlg_error *err)
{
    void *room;
    const int64_t rows = from->shape[0], columns = from->shape[1];
    (void)state;
    assert_int_equal(in.n_bytes, from->n_elements * 4);
    if (zlg_output_room(output, in.n_bytes / 2, &room, err))
        return err->status;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            ((int16_t *)room)[k * rows + i] =
                (int16_t)((const int32_t *)in.data)[i * columns + k];
    return zlg_output_done(output, in.n_bytes / 2, err);
}

static zlg_status low_decode(void *state, const zlg_decoded *from, zlg_bytes in,
                             zlg_output *output, zlg_error *err)
{
    void *room;
    const int64_t rows = from->shape[0], columns = from->shape[1];
    (void)state;
    assert_int_equal(in.n_bytes, from->n_elements * 2);
    if (zlg_output_room(output, from->n_bytes, &room, err))
        return err->status;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            ((int32_t *)room)[i * columns + k] = ((const int16_t *)in.data)[k * rows + i];
    return zlg_output_done(output, from->n_bytes, err);
}

static const zlg_codec_methods low_methods = {
    .n_bytes_struct = sizeof(zlg_codec_methods),
    .kind = ZLG_ARRAY_TO_ARRAY,
    .name = "example.low",
    .id = "low",
    .type = low_type,
    .shape = low_shape,
    .encode = low_encode,
    .decode = low_decode,
};

/* ------------------------------------------------------------------ array to bytes
 *
 * text: each element as a decimal line.
 */
static int64_t number(const zlg_decoded *from, const void *data, size_t i)
{
    return from->dtype.type == ZLG_INT32 ? ((const int32_t *)data)[i]
                                         : ((const int16_t *)data)[i];
}

static zlg_status text_encode(void *state, const zlg_decoded *from, zlg_bytes in,
                              zlg_output *output, zlg_error *err)
{
    (void)state;
    for (size_t i = 0; i < from->n_elements; i++) {
        char line[32];
        int n = snprintf(line, sizeof line, "%lld\n", (long long)number(from, in.data, i));
        if (zlg_output_append(output, line, (size_t)n, err))
            return err->status;
    }
    return ZLG_OK;
}

static zlg_status text_decode(void *state, const zlg_decoded *from, zlg_bytes in,
                              zlg_output *output, zlg_error *err)
{
    const char *at = in.data, *end = at + in.n_bytes;
    (void)state;
    for (size_t i = 0; i < from->n_elements && at < end; i++) {
        long long value = strtoll(at, NULL, 10);
        int32_t wide = (int32_t)value;
        int16_t narrow = (int16_t)value;
        int is_wide = from->dtype.type == ZLG_INT32;
        if (zlg_output_append(output, is_wide ? (void *)&wide : (void *)&narrow,
                              from->dtype.n_bytes, err))
            return err->status;
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    }
    return ZLG_OK;
}

static const zlg_codec_methods text_methods = {
    .n_bytes_struct = sizeof(zlg_codec_methods),
    .kind = ZLG_ARRAY_TO_BYTES,
    .name = "example.text",
    .id = "text",
    .encode = text_encode,
    .decode = text_decode,
};

/* ------------------------------------------------------------------ in arrays */

enum { ROWS = 12, COLUMNS = 8 };

typedef struct fixture {
    zlg_ctx *ctx;
    zlg_store *store;
    counts counts;
} fixture;

static void open_fixture(fixture *f)
{
    *f = (fixture){0};
    assert_int_equal(zlg_ctx_new(NULL, &f->ctx, NULL), ZLG_OK);
    assert_int_equal(zlg_store_open_memory(f->ctx, &f->store, NULL), ZLG_OK);
    assert_int_equal(zlg_ctx_register_codec(f->ctx, &mask_methods, &f->counts, NULL), 0);
    assert_int_equal(zlg_ctx_register_codec(f->ctx, &low_methods, NULL, NULL), 0);
    assert_int_equal(zlg_ctx_register_codec(f->ctx, &text_methods, NULL, NULL), 0);
}

static void close_fixture(fixture *f)
{
    zlg_ctx_close(f->ctx);
    assert_int_equal(f->counts.n_states, 0);
    assert_int_equal(f->counts.n_closed, 0);
    zlg_store_close(f->store);
    assert_int_equal(f->counts.n_closed, 1);
}

static void must(zlg_status status, const zlg_error *err)
{
    if (status != ZLG_OK)
        fail_msg("%s", err->message);
}

static zlg_array *make(fixture *f, int zarr_format, const char *codecs, int sharded)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunk[2] = {4, 4}, inner[2] = {2, 4};
    zlg_array *array;
    zlg_error err = {0};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.zarr_format = zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = chunk;
    spec.chunk_shape = sharded ? inner : NULL;
    spec.data_type = zarr_format == 2 ? "<i4" : "int32";
    spec.fill_value = "7";
    spec.codecs = codecs;
    spec.overwrite = 1;
    must(zlg_array_create(f->store, "a", &spec, &array, &err), &err);
    return array;
}

/* Writes all, then a box, and expects to read the same; the first chunk has no value but
 * the fill value, so it is not stored. */
static void check(zlg_array *array)
{
    int32_t data[ROWS][COLUMNS], back[ROWS][COLUMNS];
    zlg_error err = {0};
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            data[i][k] = i < 4 && k < 4 ? 7 : i * 100 - k;
    must(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, &err), &err);
    const zlg_axis axes[2] = {{.start = 5, .step = 2, .count = 3},
                              {.start = 1, .step = 1, .count = 5}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    int32_t some = -5;
    must(zlg_array_fill(array, &box, &some, sizeof some, NULL, &err), &err);
    for (int i = 5; i < 11; i += 2)
        for (int k = 1; k < 6; k++)
            data[i][k] = -5;
    must(zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err), &err);
    assert_memory_equal(back, data, sizeof data);
}

static zlg_text get(fixture *f, const char *key)
{
    zlg_text text;
    zlg_error err = {0};
    must(zlg_store_get(f->store, key, &text, &err), &err);
    return text;
}

static void test_each_kind_in_version_3(void **state)
{
    (void)state;
    static const char bytes[] = "{\"name\":\"bytes\",\"configuration\":"
                                "{\"endian\":\"little\"}}";
    static const char masked[] =
        "{\"name\":\"example.mask\",\"configuration\":{\"key\":9}}";
    static const char *const lists[] = {
        "[%s,%s]",
        "[\"example.low\",%s,%s]",
        "[\"example.text\",%.0s%s]",
        "[\"example.low\",\"example.text\",%.0s%s]",
        "[\"example.low\",%s,%s,\"zstd\",\"crc32c\"]",
        ("[%s,\"zstd\",%s,{\"name\":\"numcodecs.mask\",\"configuration\":{\"key\":1}},"
         "{\"name\":\"mask\",\"configuration\":{\"key\":2}}]"),
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int sharded = 0; sharded < 2; sharded++) {
            char codecs[512];
            snprintf(codecs, sizeof codecs, lists[i], bytes, masked);
            zlg_array *array = make(&f, 3, codecs, sharded);
            assert_true(f.counts.n_states > 0);
            check(array);
            zlg_array_close(array);
            assert_int_equal(f.counts.n_states, 0);
        }
    close_fixture(&f);
}

static void test_around_shards_and_in_their_index(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],"
        "\"codecs\":[\"example.text\"],\"index_codecs\":[{\"name\":\"bytes\","
        "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"example.mask\","
        "\"configuration\":{\"key\":3}}]}}]",
        "[\"example.low\",{\"name\":\"sharding_indexed\",\"configuration\":{"
        "\"chunk_shape\":[2,2],\"codecs\":[\"example.text\"],\"index_codecs\":[{\"name\":"
        "\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}},"
        "{\"name\":\"example.mask\",\"configuration\":{\"key\":3}}]",
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        zlg_array *array = make(&f, 3, lists[i], 0);
        check(array);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

static void test_each_kind_in_version_2(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "{\"filters\":[{\"id\":\"mask\",\"key\":3}],\"compressor\":null}",
        "{\"filters\":[{\"id\":\"low\"}],\"compressor\":{\"id\":\"mask\",\"key\":3}}",
        "{\"filters\":[{\"id\":\"text\"}],\"compressor\":{\"id\":\"zlib\",\"level\":1}}",
        "{\"filters\":[{\"id\":\"low\"},{\"id\":\"text\"},{\"id\":\"mask\",\"key\":3}],"
        "\"compressor\":{\"id\":\"zstd\",\"level\":1}}",
        "{\"filters\":[{\"id\":\"delta\",\"dtype\":\"<i4\"},{\"id\":\"mask\",\"key\":3}],"
        "\"compressor\":null}",
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        zlg_array *array = make(&f, 2, lists[i], 0);
        check(array);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

static void test_stored_bytes_are_theirs(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array = make(&f, 3, "[\"example.low\",\"example.text\"]", 0);
    check(array);
    zlg_text text = get(&f, "a/c/0/1"); /* rows 0 to 3, columns 4 to 7, by columns */
    assert_string_equal(text.data, "-4\n96\n196\n296\n-5\n95\n195\n295\n"
                                   "-6\n94\n194\n294\n-7\n93\n193\n293\n");
    zlg_text_free(&text);
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ refused */

static void read_fails(fixture *f, zlg_array *array, const char *stored, size_t n,
                       zlg_status expected, const char *message)
{
    int32_t back[ROWS][COLUMNS];
    zlg_error err = {0};
    must(zlg_store_put(f->store, "a/c/0/1", stored, n, &err), &err);
    zlg_status status =
        zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err);
    assert_int_equal(status, expected);
    if (strstr(err.message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, err.message);
}

static void test_what_is_stored_is_checked(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array = make(&f, 3, "[\"example.text\"]", 0);
    check(array);
    read_fails(&f, array, "1\n2\n", 4, ZLG_CORRUPT,
               "chunk c/0/1: codec example.text: 8 bytes come out, 64 expected");
    zlg_array_close(array);
    array = make(&f, 3,
                 "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
                 "{\"name\":\"example.mask\",\"configuration\":{\"key\":1}}]",
                 0);
    check(array);
    char stored[65] = {0};
    read_fails(&f, array, stored, 64, ZLG_CORRUPT, "64 bytes are stored, 65 expected");
    read_fails(&f, array, stored, 65, ZLG_CORRUPT, "codec example.mask: another key");
    zlg_array_close(array);
    close_fixture(&f);
}

static void create_fails(fixture *f, const char *data_type, const char *codecs,
                         zlg_status expected, const char *message)
{
    const int64_t shape[2] = {4, 4};
    zlg_array *array;
    zlg_error err = {0};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = spec.object_shape = shape;
    spec.data_type = data_type;
    spec.codecs = codecs;
    assert_int_equal(zlg_array_create(f->store, "b", &spec, &array, &err), expected);
    if (strstr(err.message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, err.message);
    assert_int_equal(f->counts.n_states, 0);
}

static void test_what_documents_say_is_checked(void **state)
{
    (void)state;
    static const char little[] =
        "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},%s]";
    char codecs[256];
    fixture f;
    open_fixture(&f);
    snprintf(codecs, sizeof codecs, little, "\"example.mask\"");
    create_fails(&f, "int32", codecs, ZLG_METADATA, "codec example.mask: {} has no key");
    create_fails(&f, "int32", "[{\"name\":\"example.text\",\"configuration\":{\"x\":1}}]",
                 ZLG_METADATA, "codec example.text: \"x\" is not known");
    create_fails(&f, "int16", "[\"example.low\",\"example.text\"]", ZLG_UNSUPPORTED,
                 "codec example.low: it takes int32 with two axes");
    create_fails(&f, "string", "[\"example.text\"]", ZLG_METADATA, "variable-length");
    snprintf(codecs, sizeof codecs, little, "\"example.text\"");
    create_fails(&f, "int32", codecs, ZLG_METADATA, "bytes already");
    create_fails(&f, "int32", "[\"example.mask\"]", ZLG_METADATA, "not bytes yet");
    create_fails(&f, "int32", "[\"example.none\"]", ZLG_UNSUPPORTED, "not known");
    close_fixture(&f);
}

static zlg_status too_long(void *state, const zlg_decoded *from, zlg_bytes in,
                           zlg_output *output, zlg_error *err)
{
    (void)state;
    char zero = 0;
    for (size_t i = 0; i <= from->n_bytes; i++)
        if (zlg_output_append(output, i < in.n_bytes ? in.data : &zero, 1, err))
            return err->status;
    return ZLG_OK;
}

static zlg_status says_missing(void *state, const zlg_decoded *from, zlg_bytes in,
                               zlg_output *output, zlg_error *err)
{
    (void)state, (void)from, (void)in, (void)output, (void)err;
    return ZLG_NOT_FOUND;
}

/* What tells workers that a job has failed already must not end one silently. */
static zlg_status says_cancelled(void *state, const zlg_decoded *from, zlg_bytes in,
                                 zlg_output *output, zlg_error *err)
{
    (void)state, (void)from, (void)in, (void)output, (void)err;
    return ZLG_CANCELLED;
}

static zlg_status does_more(void *state, const zlg_decoded *from, zlg_bytes in,
                            zlg_output *output, zlg_error *err)
{
    void *room;
    (void)state, (void)from, (void)in;
    if (zlg_output_room(output, 3, &room, err))
        return err->status;
    return zlg_output_done(output, 4, err);
}

static void test_methods_that_misbehave(void **state)
{
    (void)state;
    static const struct {
        zlg_status (*decode)(void *state, const zlg_decoded *from, zlg_bytes in,
                             zlg_output *output, zlg_error *err);
        zlg_status expected;
        const char *message;
    } cases[] = {
        {too_long, ZLG_CORRUPT, "65 bytes come out, 64 expected"},
        {says_missing, ZLG_CORRUPT, "did not say why"},
        {says_cancelled, ZLG_CORRUPT, "did not say why"},
        {does_more, ZLG_USAGE, "4 bytes are done, there is room for 3"},
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zlg_codec_methods methods = text_methods;
        methods.decode = cases[i].decode;
        methods.name = "example.broken";
        methods.id = NULL;
        assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, NULL), ZLG_OK);
        zlg_array *array = make(&f, 3, "[\"example.broken\"]", 0);
        read_fails(&f, array, "1\n", 2, cases[i].expected, cases[i].message);
        zlg_array_close(array);
    }
    zlg_codec_methods methods = low_methods;
    methods.name = "example.broken";
    methods.encode = too_long;
    assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, NULL), ZLG_OK);
    create_fails(&f, "int32", "[\"example.broken\",\"example.text\"]", ZLG_USAGE,
                 "codec example.broken: the fill value: 3 bytes come out, 2 expected");
    methods.encode = NULL; /* can only be read: an array of it cannot be written */
    assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, NULL), ZLG_OK);
    create_fails(&f, "int32", "[\"example.broken\",\"example.text\"]", ZLG_UNSUPPORTED,
                 "it is read, not written");
    close_fixture(&f);
}

/* ------------------------------------------------------------------ names */

static void test_names(void **state)
{
    (void)state;
    fixture f;
    zlg_error err;
    open_fixture(&f);
    static const struct {
        const char *name, *id;
        zlg_status expected;
    } cases[] = {
        {"zstd", NULL, ZLG_EXISTS},
        {NULL, "zlib", ZLG_EXISTS},
        {"zlib", NULL, ZLG_EXISTS},
        {"numcodecs.zlib", NULL, ZLG_EXISTS},
        {"endian", "example", ZLG_EXISTS},
        {"", NULL, ZLG_USAGE},
        {NULL, NULL, ZLG_USAGE},
        {"\xff", NULL, ZLG_USAGE},
        {"example.x", NULL, ZLG_OK},
        {NULL, "bytes", ZLG_OK},
        {"numcodecs.pcodec", NULL, ZLG_OK},
        {NULL, "pcodec", ZLG_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zlg_codec_methods methods = text_methods;
        methods.name = cases[i].name;
        methods.id = cases[i].id;
        assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, &err),
                         cases[i].expected);
    }
    zlg_codec_methods methods = text_methods;
    methods.kind = (zlg_codec_kind)0;
    assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, &err), ZLG_USAGE);
    methods = text_methods;
    methods.decode = NULL;
    assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, &err), ZLG_USAGE);
    methods = text_methods;
    methods.n_bytes_struct = 0;
    assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, &err), ZLG_USAGE);
    close_fixture(&f);
}

/* Arrays that are open keep what they were opened with; others get the last one. */
static void test_registered_anew(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array = make(&f, 3, "[\"example.text\"]", 0), *again;
    check(array);
    zlg_codec_methods methods = text_methods;
    methods.decode = says_missing;
    assert_int_equal(zlg_ctx_register_codec(f.ctx, &methods, NULL, NULL), ZLG_OK);
    check(array);
    zlg_error err;
    int32_t back[ROWS][COLUMNS];
    assert_int_equal(zlg_array_refresh(array, &again, &err), ZLG_OK);
    assert_int_equal(zlg_array_read(again, NULL, &(zlg_target){.data = back}, NULL, &err),
                     ZLG_CORRUPT);
    zlg_array_close(array);
    zlg_array_close(again);
    close_fixture(&f);
}

static void test_short_memory(void **state)
{
    (void)state;
    const int64_t shape[2] = {4, 4};
    for (size_t fail_at = 1;; fail_at++) {
        test_heap heap;
        test_heap_init(&heap);
        zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
        options.allocator = heap.alloc;
        options.n_threads = 1;
        zlg_ctx *ctx = NULL;
        zlg_store *store = NULL;
        zlg_array *array = NULL;
        counts own = {0};
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        spec.rank = 2;
        spec.shape = spec.object_shape = shape;
        spec.data_type = "int32";
        spec.codecs = "[\"example.low\",\"example.text\",{\"name\":\"example.mask\","
                      "\"configuration\":{\"key\":1}}]";
        zlg_status status = zlg_ctx_new(&options, &ctx, NULL);
        if (status == ZLG_OK)
            status = zlg_store_open_memory(ctx, &store, NULL);
        heap.fail_at = heap.n_calls + fail_at;
        int n_registered = 0;
        if (status == ZLG_OK)
            status = zlg_ctx_register_codec(ctx, &mask_methods, &own, NULL);
        n_registered = status == ZLG_OK;
        if (status == ZLG_OK)
            status = zlg_ctx_register_codec(ctx, &low_methods, NULL, NULL);
        if (status == ZLG_OK)
            status = zlg_ctx_register_codec(ctx, &text_methods, NULL, NULL);
        if (status == ZLG_OK)
            status = zlg_array_create(store, "a", &spec, &array, NULL);
        zlg_array_close(array);
        zlg_store_close(store);
        zlg_ctx_close(ctx);
        assert_int_equal(own.n_states, 0);
        assert_int_equal(own.n_closed, n_registered);
        assert_int_equal(heap.n_blocks, 0);
        if (status == ZLG_OK) {
            assert_true(fail_at > 10);
            return;
        }
        assert_int_equal(status, ZLG_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_in_version_3),
        cmocka_unit_test(test_around_shards_and_in_their_index),
        cmocka_unit_test(test_each_kind_in_version_2),
        cmocka_unit_test(test_stored_bytes_are_theirs),
        cmocka_unit_test(test_what_is_stored_is_checked),
        cmocka_unit_test(test_what_documents_say_is_checked),
        cmocka_unit_test(test_methods_that_misbehave),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_registered_anew),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
