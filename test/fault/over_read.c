/*
 * Stored bytes are never read beyond their end: each chunk is lent by a store that keeps it
 * right before a page that may not be touched, and is decoded whole, cut short at every
 * length, and with bits flipped at random. Damage gives an error of the right kind, or
 * data.
 */
#define _GNU_SOURCE
#include "fault.h"

enum { SIDE = 12, ITEMS = SIDE * SIDE, MOST_CUTS = 400, FLIPS = 300 };

typedef struct kind_of_array {
    const char *type;  /* version 3 name, or version 2 data type */
    const char *chain; /* version 3 list; version 2: filters and compressor, as members */
    bool v2;
} kind_of_array;

#define V3(type, chain)                                                                    \
    {                                                                                      \
        type, "[" chain "]", false                                                         \
    }
#define V2(type, filters, compressor)                                                      \
    {                                                                                      \
        type, "\"filters\":" filters ",\"compressor\":" compressor, true                   \
    }
#define BLOSC(name, shuffle)                                                               \
    "{\"id\":\"blosc\",\"cname\":\"" name "\",\"clevel\":5,\"shuffle\":" shuffle           \
    ",\"blocksize\":0}"
#define PLAIN "{\"name\":\"bytes\"}"

static const kind_of_array kinds[] = {
    V3("uint16", LITTLE),
    V3("uint16", BIG "," ZSTD),
    V3("int32", LITTLE "," GZIP "," CRC),
    V3("float64", TRANSPOSE("[1,0]") "," BIG "," CRC),
    V3("uint16", SHARD("[3,4]", "[" LITTLE "," ZSTD "]")),
    V3("uint16", SHARD_AT("start", "[4,6]", "[" SHARD("[2,3]", "[" BIG "," CRC "]") "]")),
    V3("int32", SHARD("[6,6]", "[" BIG "]") "," CRC),
    V3("bool", "{\"name\":\"packbits\"}"),
    V3("int4",
       "{\"name\":\"packbits\",\"configuration\":{\"padding_encoding\":\"last_byte\"}}"),
    V3("float32",
       "{\"name\":\"bitround\",\"configuration\":{\"keepbits\":5}}," LITTLE "," ZSTD),
    V3("int32",
       "{\"name\":\"scale_offset\",\"configuration\":{\"offset\":1,\"scale\":2}}," BIG),
    V3("int32", "{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"int16\","
                "\"out_of_range\":\"wrap\"}}," LITTLE),
    V3("uint16", "{\"name\":\"reshape\",\"configuration\":{\"shape\":[[0,1]]}}," LITTLE),
    V3("uint16", "{\"name\":\"optional\",\"configuration\":{\"mask_codecs\":[{\"name\":"
                 "\"packbits\"}],\"data_codecs\":[" LITTLE "]}}"),
    V3("string", "{\"name\":\"vlen-utf8\"}"),
    V3("bytes", "{\"name\":\"vlen-bytes\"}," ZSTD),
    V3("string", SHARD("[3,4]", "[{\"name\":\"vlen-utf8\"}]")),
    V2("<u2", "null", "null"),
    V2(">i4", "null", "{\"id\":\"zlib\",\"level\":1}"),
    V2("<u2", "null", "{\"id\":\"bz2\",\"level\":1}"),
    V2("<u2", "null",
       "{\"id\":\"lzma\",\"format\":1,\"check\":-1,\"preset\":1,\"filters\":null}"),
    V2("<u2", "null", "{\"id\":\"lz4\",\"acceleration\":1}"),
    V2("<u2", "null", BLOSC("lz4", "1")),
    V2("<u2", "null", BLOSC("lz4", "2")),
    V2("<f8", "null", BLOSC("zstd", "1")),
    V2("<f8", "null", BLOSC("zlib", "2")),
    V2("<i4", "null", BLOSC("blosclz", "0")),
    V2("<i4", "null", BLOSC("snappy", "1")),
    V2("<i4", "null", BLOSC("lz4hc", "0")),
    V2("<i4", "[{\"id\":\"shuffle\",\"elementsize\":4}]", "null"),
    V2("<i4", "[{\"id\":\"delta\",\"dtype\":\"<i4\",\"astype\":\"<i2\"}]", "null"),
    V2("<f8",
       "[{\"id\":\"fixedscaleoffset\",\"scale\":10,\"offset\":1,\"dtype\":\"<f8\","
       "\"astype\":\"<i4\"}]",
       "null"),
    V2("<f8", "[{\"id\":\"quantize\",\"digits\":2,\"dtype\":\"<f8\"}]", "null"),
    V2("<f4", "[{\"id\":\"astype\",\"encode_dtype\":\"<f8\",\"decode_dtype\":\"<f4\"}]",
       "null"),
    V2("|b1", "[{\"id\":\"packbits\"}]", "null"),
    V2("<u2", "[{\"id\":\"base64\"}]", "null"),
    V2("<u2", "[{\"id\":\"crc32\"}]", "null"),
    V2("<u2", "[{\"id\":\"adler32\"}]", "null"),
    V2("<u2", "[{\"id\":\"fletcher32\"}]", "null"),
    V2("<u2", "[{\"id\":\"jenkins_lookup3\"}]", "null"),
    V2("|O", "[{\"id\":\"vlen-utf8\"}]", "null"),
    V2("|O", "[{\"id\":\"vlen-bytes\"}]", "null"),
    V2("|O", "[{\"id\":\"vlen-array\",\"dtype\":\"<i4\"}]", "null"),
    V2("|O", "[{\"id\":\"json2\"}]", "null"),
    V2("|O", "[{\"id\":\"msgpack2\"}]", "null"),
    V2("<f8", "null",
       "{\"id\":\"zfpy\",\"mode\":4,\"tolerance\":-1,\"rate\":-1,\"precision\":-1}"),
};

typedef struct fixture {
    zlg_ctx *ctx;
    fault_store *store;
    zlg_array *array;
    bool varlen;
    size_t item;
    uint8_t *elements, *out;
    int64_t offsets[ITEMS + 1];
} fixture;

static void put_document(fixture *f, const kind_of_array *kind)
{
    char text[2048];
    bool is_text =
        strstr(kind->chain, "vlen-utf8") != NULL || strcmp(kind->type, "bytes") == 0;
    snprintf(
        text, sizeof text,
        kind->v2
            ? "{\"zarr_format\":2,\"shape\":[12,12],\"chunks\":[12,12],\"order\":\"C\","
              "\"dtype\":\"%s\",\"fill_value\":%s,%s}"
            : "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[12,12],"
              "\"data_type\":\"%s\",\"fill_value\":%s,\"codecs\":%s,\"chunk_"
              "grid\":" REGULAR(
                  "[12,12]") ",\"chunk_key_encoding\":{\"name\":\"default\"}}",
        kind->type,
        kind->v2                          ? "null"
        : is_text                         ? "\"\""
        : strcmp(kind->type, "bool") == 0 ? "false"
                                          : "0",
        kind->chain);
    put_text(&f->store->base, kind->v2 ? ".zarray" : "zarr.json", text);
}

/* Values that compress, and that every type of the list can hold. */
static void make_elements(fixture *f, const kind_of_array *kind)
{
    zlg_dtype dtype = zlg_array_dtype(f->array);
    f->varlen = dtype.n_bytes == 0;
    f->item = dtype.n_bytes;
    f->elements = calloc(ITEMS, 16);
    f->out = calloc(ITEMS, 16);
    for (int i = 0; i < ITEMS; i++) {
        uint8_t *at = f->elements + (size_t)i * f->item;
        int value = 1 + i % 7;
        if (f->varlen) {
            /* Lists of int32, JSON texts and words alike: digits, in fours. */
            size_t n = (size_t)(i % 3) * 4;
            memset(f->elements + f->offsets[i], '1' + i % 5, n);
            f->offsets[i + 1] = f->offsets[i] + (int64_t)n;
        } else if (dtype.type == ZLG_FLOAT64 || dtype.type == ZLG_FLOAT32) {
            double d = value;
            float s = (float)value;
            memcpy(at, f->item == 8 ? (void *)&d : (void *)&s, f->item);
        } else {
            at[0] = (uint8_t)(dtype.type == ZLG_BOOL ? value % 2 : value);
        }
    }
    (void)kind;
}

static zlg_status write_elements(fixture *f, zlg_error *err)
{
    if (f->varlen)
        return zlg_array_write(f->array, NULL,
                               &(zlg_source){.data = f->elements, .offsets = f->offsets},
                               NULL, err);
    return zlg_array_write(f->array, NULL, &(zlg_source){.data = f->elements}, NULL, err);
}

static zlg_status read_elements(fixture *f, zlg_error *err)
{
    if (!f->varlen)
        return zlg_array_read(f->array, NULL, &(zlg_target){.data = f->out}, NULL, err);
    zlg_varlen out;
    ZLGI_TRY(zlg_array_read_varlen(f->array, NULL, &out, NULL, err));
    assert_int_equal(out.n, ITEMS);
    zlg_varlen_free(&out);
    return ZLG_OK;
}

/* Damaged bytes are corrupt; what they say may also be too much, or not known. */
static void read_damaged(fixture *f, const kind_of_array *kind, const char *key,
                         const uint8_t *bytes, size_t n)
{
    zlg_error err = {0};
    MUST(zlg_store_put(&f->store->base, key, bytes, n, err_));
    zlg_status status = read_elements(f, &err);
    assert_int_equal(f->store->n_open, 0);
    if (status != ZLG_OK && status != ZLG_CORRUPT && status != ZLG_LIMIT &&
        status != ZLG_UNSUPPORTED)
        fail_msg("%s %s: status %d: %s", kind->type, kind->chain, (int)status, err.message);
    if (status != ZLG_OK && strstr(err.message, key) == NULL)
        fail_msg("%s %s: \"%s\" names no chunk", kind->type, kind->chain, err.message);
}

static void check_kind(const kind_of_array *kind)
{
    fixture f = {.ctx = NULL};
    zlg_error err = {0};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    uint64_t seed = 88172645463325252;
    const char *key = kind->v2 ? "0.0" : "c/0/0";
    options.n_threads = 1;
    zlg_limits limits = ZLG_LIMITS_INIT;
    limits.chunk_bytes = 1 << 20;
    options.limits = &limits;
    MUST(zlg_ctx_new(&options, &f.ctx, err_));
    f.store = fault_store_open(f.ctx);
    f.store->lends = true;
    put_document(&f, kind);
    zlg_status status = zlg_array_open(&f.store->base, "", NULL, &f.array, &err);
    if (status == ZLG_UNSUPPORTED && strstr(err.message, "not built in") != NULL) {
        zlg_store_close(&f.store->base);
        zlg_ctx_close(f.ctx);
        return;
    }
    if (status != ZLG_OK)
        fail_msg("%s %s: %s", kind->type, kind->chain, err.message);
    make_elements(&f, kind);
    status = write_elements(&f, &err);
    if (status != ZLG_OK)
        fail_msg("%s %s: %s", kind->type, kind->chain, err.message);
    zlg_text text;
    MUST(zlg_store_get(&f.store->base, key, &text, err_));
    MUST(read_elements(&f, err_));
    uint8_t *bytes = (uint8_t *)text.data;
    size_t n = text.n_bytes, step = n / MOST_CUTS + 1;
    for (size_t cut = 0; cut < n; cut += step)
        read_damaged(&f, kind, key, bytes, cut);
    for (int i = 0; i < FLIPS; i++) {
        size_t at = (size_t)(test_random(&seed) % n);
        uint8_t before = bytes[at];
        bytes[at] ^= (uint8_t)(1 + test_random(&seed) % 255);
        read_damaged(&f, kind, key, bytes, n);
        if (i % 4)
            bytes[at] = before; /* else damage adds up */
    }
    zlg_text_free(&text);
    free(f.elements);
    free(f.out);
    zlg_array_close(f.array);
    zlg_store_close(&f.store->base);
    zlg_ctx_close(f.ctx);
}

static void test_kind(void **state)
{
    check_kind(*state);
}

int main(void)
{
    struct CMUnitTest tests[ZLGI_COUNT(kinds)];
    for (size_t i = 0; i < ZLGI_COUNT(kinds); i++)
        tests[i] = (struct CMUnitTest){.name = kinds[i].chain,
                                       .test_func = test_kind,
                                       .initial_state = (void *)(uintptr_t)&kinds[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
