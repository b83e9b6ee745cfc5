/*
 * Faults that users of other readers have met, kind by kind: stored data. Each test makes
 * its stores byte by byte and states what they hold.
 */
#define _GNU_SOURCE
#include "../store/folder.h"
#include "../fault/fault.h"
#include "pick.h"

typedef struct fixture {
    zlg_ctx *ctx;
    fault_store *store;
} fixture;

static void open_fixture(fixture *f)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    options.chunk_cache = 1 << 20;
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    f->store = fault_store_open(f->ctx);
    f->store->trusted = true;
}

static void close_fixture(fixture *f)
{
    assert_int_equal(f->store->n_open, 0);
    zlg_store_close(&f->store->base);
    zlg_ctx_close(f->ctx);
}

static void put_bytes(fixture *f, const char *key, const void *data, size_t n)
{
    MUST(zlg_store_put(&f->store->base, key, data, n, err_));
}

static zlg_status read_range(zlg_array *array, int64_t start, int64_t count, void *out,
                             zlg_error *err)
{
    zlg_axis axis = {.start = start, .step = 1, .count = count};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    return zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, err);
}

/* ------------------------------------------------------------------ selections */

/* Ranges, single positions and lists on different axes, of shards as of plain chunks. */
static void test_mixed_axes(void **state)
{
    (void)state;
    enum { N = 14 * 9 * 10 };
    fixture f;
    uint16_t data[N], from_shards[N], from_chunks[N];
    open_fixture(&f);
    zlg_array *shards =
        put_array(&f.store->base, "s", "[14,9,10]", "\"uint16\"", REGULAR("[8,9,4]"), "0",
                  "[" SHARD("[2,3,4]", "[" LITTLE "]") "]");
    zlg_array *chunks = put_array(&f.store->base, "c", "[14,9,10]", "\"uint16\"",
                                  REGULAR("[14,9,10]"), "0", "[" LITTLE "]");
    for (int i = 0; i < N; i++)
        data[i] = (uint16_t)(i * 37 + 11);
    MUST(zlg_array_write(shards, NULL, &(zlg_source){.data = data}, NULL, err_));
    MUST(zlg_array_write(chunks, NULL, &(zlg_source){.data = data}, NULL, err_));
    static const int64_t repeated[] = {7, 2, 2}, ends[] = {0, 8}, one[] = {4};
    const zlg_axis kinds[] = {
        {.start = 1, .step = 1, .count = 6}, {.start = 8, .step = -3, .count = 3},
        {.start = 5, .step = 1, .count = 1}, {.count = 3, .list = repeated},
        {.count = 2, .list = ends},          {.count = 1, .list = one}};
    enum { KINDS = 6 };
    for (int k = 0; k < KINDS * KINDS * KINDS; k++) {
        zlg_axis axes[3] = {kinds[k % KINDS], kinds[k / KINDS % KINDS],
                            kinds[k / KINDS / KINDS]};
        zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
        int rank;
        int64_t shape[ZLG_MAX_RANK], n = 0;
        MUST(zlg_selection_shape(shards, &box, &rank, shape, err_));
        assert_int_equal(rank, 3);
        MUST(zlg_array_read(shards, &box, &(zlg_target){.data = from_shards}, NULL, err_));
        MUST(zlg_array_read(chunks, &box, &(zlg_target){.data = from_chunks}, NULL, err_));
        for (int64_t a = 0; a < shape[0]; a++)
            for (int64_t b = 0; b < shape[1]; b++)
                for (int64_t c = 0; c < shape[2]; c++, n++) {
                    int64_t at =
                        (pick_index(&axes[0], a) * 9 + pick_index(&axes[1], b)) * 10 +
                        pick_index(&axes[2], c);
                    assert_int_equal(from_shards[n], data[at]);
                    assert_int_equal(from_chunks[n], data[at]);
                }
    }
    zlg_array_close(shards);
    zlg_array_close(chunks);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ large numbers */

/* Positions, and numbers of chunks times their length, beyond 2^31, 2^32 and 2^40. */
static void test_positions_beyond_32_bits(void **state)
{
    (void)state;
    static const int64_t starts[] = {INT64_C(2147483648), INT64_C(4294967296),
                                     INT64_C(1099511627776)};
    fixture f;
    open_fixture(&f);
    zlg_array *array = put_array(&f.store->base, "", "[2199023255552]", "\"int16\"",
                                 REGULAR("[512]"), "-3", "[" BIG "]");
    uint8_t chunk[1024];
    for (int i = 0; i < 512; i++) {
        chunk[2 * i] = (uint8_t)(i >> 8);
        chunk[2 * i + 1] = (uint8_t)i;
    }
    for (size_t k = 0; k < ZLGI_COUNT(starts); k++) {
        char key[64];
        int16_t out[6];
        snprintf(key, sizeof key, "c/%lld", (long long)(starts[k] / 512));
        put_bytes(&f, key, chunk, sizeof chunk);
        MUST(read_range(array, starts[k] - 3, 6, out, err_));
        for (int i = 0; i < 6; i++)
            assert_int_equal(out[i], i < 3 ? -3 : i - 3);
        const int64_t at[2] = {starts[k] + 300, starts[k] + 512};
        const int64_t *const coordinates[] = {at};
        zlg_selection points = {
            .kind = ZLG_POINTS, .rank = 1, .coordinates = coordinates, .n_points = 2};
        MUST(zlg_array_read(array, &points, &(zlg_target){.data = out}, NULL, err_));
        assert_int_equal(out[0], 300);
        assert_int_equal(out[1], -3);
    }
    zlg_array_close(array);
    close_fixture(&f);
}

/* A file with holes, larger than what 32 bits count. */
static int open_hollow(const test_folder *folder, const char *name)
{
    int fd = open(test_folder_path(folder, name), O_RDWR | O_CREAT, 0666);
    assert_true(fd >= 0);
    return fd;
}

static void write_at(int fd, const void *data, size_t n, int64_t offset)
{
    assert_int_equal(pwrite(fd, data, n, (off_t)offset), n);
}

/* Inner chunks that lie beyond 2 and 4 GiB in their shard, and a chunk that is so long. */
static void test_offsets_beyond_32_bits(void **state)
{
    (void)state;
    enum { INDEX = 4 * 16 + 4 };
    const int64_t gib = 1 << 30;
    const int64_t offsets[4] = {6 * gib + 5, 3 * gib + 1, 4 * gib, 2 * gib - 1};
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *store;
    test_folder_make(&folder);
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_fs(ctx, folder.path, NULL, &store, err_));
    for (int at_start = 0; at_start < 2; at_start++) {
        uint8_t index[INDEX], chunk[4];
        uint32_t sum;
        int32_t out[4];
        zlg_array *array =
            put_array(store, "s", "[4]", "\"int32\"", REGULAR("[4]"), "0",
                      at_start ? "[" SHARD_AT("start", "[1]", "[" LITTLE "]") "]"
                               : "[" SHARD("[1]", "[" LITTLE "]") "]");
        (void)mkdir(test_folder_path(&folder, "s/c"), 0777);
        int fd = open_hollow(&folder, "s/c/0");
        for (uint32_t i = 0; i < 4; i++) {
            zlgi_store_u64le(index + 16 * i, (uint64_t)offsets[i]);
            zlgi_store_u64le(index + 16 * i + 8, 4);
            zlgi_store_u32le(chunk, 1000 + i);
            write_at(fd, chunk, 4, offsets[i]);
        }
        sum = zlgi_crc32c(0, index, INDEX - 4);
        zlgi_store_u32le(index + INDEX - 4, sum);
        write_at(fd, index, INDEX, at_start ? 0 : 7 * gib - INDEX);
        assert_int_equal(ftruncate(fd, (off_t)(7 * gib)), 0);
        close(fd);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        for (int i = 0; i < 4; i++)
            assert_int_equal(out[i], 1000 + i);
        MUST(read_range(array, 2, 1, out, err_));
        assert_int_equal(out[0], 1002);
        zlg_array_close(array);
        assert_int_equal(remove(test_folder_path(&folder, "s/c/0")), 0);
    }
    /* 6 GiB of elements, of which a few are read by range. */
    zlg_array *array = put_array(store, "r", "[6442450944]", "\"uint8\"",
                                 REGULAR("[6442450944]"), "0", "[{\"name\":\"bytes\"}]");
    (void)mkdir(test_folder_path(&folder, "r/c"), 0777);
    int fd = open_hollow(&folder, "r/c/0");
    assert_int_equal(ftruncate(fd, (off_t)(6 * gib)), 0);
    write_at(fd, "abcdef", 6, 5 * gib - 3);
    close(fd);
    uint8_t out[6];
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    zlg_axis axis = {.start = 5 * gib + 2, .step = -1, .count = 6};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    MUST(zlg_array_read(array, &box, &(zlg_target){.data = out}, &call, err_));
    assert_memory_equal(out, "fedcba", 6);
    assert_int_equal(stats.n_bytes_read, 6);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ shard indexes */

/* Four inner chunks of two int32, the first of them not there, in a shard whose index is in
 * either order, at either end, with some checksums. Returns its length. */
static size_t make_shard(uint8_t *out, bool big, bool at_start, int n_sums)
{
    size_t n_index = 64 + 4 * (size_t)n_sums, n = at_start ? n_index : 0;
    uint8_t index[64 + 12];
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t entry[2] = {i ? n : UINT64_MAX, i ? 8 : UINT64_MAX};
        for (int k = 0; k < 2; k++) {
            uint8_t *at = index + 16 * i + 8 * k;
            zlgi_store_u64le(at, big ? __builtin_bswap64(entry[k]) : entry[k]);
        }
        for (uint32_t k = 0; k < 2 && i > 0; k++, n += 4)
            zlgi_store_u32le(out + n, (uint32_t)(10 * i + k));
    }
    for (size_t k = 0; k < (size_t)n_sums; k++)
        zlgi_store_u32le(index + 64 + 4 * k, zlgi_crc32c(0, index, 64 + 4 * k));
    memcpy(at_start ? out : out + n, index, n_index);
    return at_start ? n : n + n_index;
}

static void test_index_codecs(void **state)
{
    (void)state;
    for (int turn = 0; turn < 16; turn++) {
        bool big = turn & 1, at_start = turn & 2;
        int n_sums = turn / 4;
        static const char *const sums[] = {"", "," CRC, "," CRC "," CRC,
                                           "," CRC "," CRC "," CRC};
        fixture f;
        char codecs[1024];
        uint8_t shard[256];
        int32_t out[8];
        open_fixture(&f);
        snprintf(codecs, sizeof codecs,
                 "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],"
                 "\"codecs\":[" LITTLE "],\"index_codecs\":[%s%s],\"index_location\":"
                 "\"%s\"}}]",
                 big ? BIG : LITTLE, sums[n_sums], at_start ? "start" : "end");
        zlg_array *array =
            put_array(&f.store->base, "", "[8]", "\"int32\"", REGULAR("[8]"), "-1", codecs);
        put_bytes(&f, "c/0", shard, make_shard(shard, big, at_start, n_sums));
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, ((const int32_t[]){-1, -1, 10, 11, 20, 21, 30, 31}),
                            sizeof out);
        MUST(read_range(array, 1, 4, out, err_));
        assert_memory_equal(out, ((const int32_t[]){-1, 10, 11, 20}), 4 * sizeof *out);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* Entries of shards at both levels, each read twice, since indexes are cached. */
static void test_broken_indexes(void **state)
{
    (void)state;
    const uint64_t entries[][4] = {
        {0, 16, 4096, 16},
        {0, 16, 16, 1 << 20},
        {0, 16, UINT64_MAX - 7, 16},
        {0, 16, UINT64_C(1) << 62, UINT64_C(1) << 62},
        {0, 16, UINT64_MAX, 16},
        {0, 16, 16, UINT64_MAX},
        {UINT64_MAX - 15, 16, 16, 16},
        {0, UINT64_MAX - 1, 16, 16},
        {0, 101, 16, 16},
    };
    for (size_t i = 0; i < ZLGI_COUNT(entries); i++)
        for (int turn = 0; turn < 4; turn++) {
            bool at_start = turn & 1, nested = turn & 2;
            fixture f;
            uint8_t bytes[256] = {0};
            size_t at = at_start ? 0 : 32;
            open_fixture(&f);
            for (size_t k = 0; k < 4; k++)
                zlgi_store_u64le(bytes + at + 8 * k, entries[i][k]);
            zlgi_store_u32le(bytes + at + 32, zlgi_crc32c(0, bytes + at, 32));
            size_t n = 32 + 36;
            if (nested) { /* as the only inner chunk of another shard */
                zlgi_store_u64le(bytes + n, 0);
                zlgi_store_u64le(bytes + n + 8, n);
                zlgi_store_u32le(bytes + n + 16, zlgi_crc32c(0, bytes + n, 16));
                n += 20;
            }
            char codecs[1024];
            const char *inner = at_start ? SHARD_AT("start", "[4]", "[" LITTLE "]")
                                         : SHARD("[4]", "[" LITTLE "]");
            snprintf(codecs, sizeof codecs, nested ? "[" SHARD("[8]", "[%s]") "]" : "[%s]",
                     inner);
            zlg_array *array = put_array(&f.store->base, "", "[8]", "\"int32\"",
                                         REGULAR("[8]"), "0", codecs);
            put_bytes(&f, "c/0", bytes, n);
            for (int again = 0; again < 2; again++)
                for (int64_t start = 0; start < 8; start += 4) {
                    int32_t out[4];
                    zlg_error err = {0};
                    assert_int_equal(read_range(array, start, 4, out, &err), ZLG_CORRUPT);
                    assert_non_null(strstr(err.message, "chunk c/0: "));
                    assert_non_null(strstr(err.message, "shard index: "));
                }
            zlg_array_close(array);
            close_fixture(&f);
        }
}

/* Shards too short for their index, and indexes that do not match their checksum. */
static void test_broken_shards(void **state)
{
    (void)state;
    for (size_t n = 0; n < 24 + 68; n++) {
        fixture f;
        uint8_t shard[256];
        int32_t out[8];
        zlg_error err = {0};
        open_fixture(&f);
        zlg_array *array = put_array(&f.store->base, "", "[8]", "\"int32\"", REGULAR("[8]"),
                                     "0", "[" SHARD("[2]", "[" LITTLE "]") "]");
        size_t n_all = make_shard(shard, false, false, 1);
        put_bytes(&f, "c/0", shard + n_all - n, n); /* only the end of it */
        zlg_status status =
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, &err);
        assert_int_equal(status, n >= 68 ? ZLG_OK : ZLG_CORRUPT);
        shard[n] ^= 4;
        put_bytes(&f, "c/0", shard, n_all);
        status = zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, &err);
        assert_int_equal(status, n < 24 ? ZLG_OK : ZLG_CORRUPT);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ fill values */

/* Inner chunks that are not there, behind codecs that change values: the fill value as the
 * codecs map it there and back, here exactly that of the array. */
static void test_fill_behind_codecs(void **state)
{
    (void)state;
#define SCALE(offset, scale)                                                               \
    "{\"name\":\"scale_offset\",\"configuration\":{\"offset\":" offset ",\"scale\":" scale \
    "}},"
#define CAST(type)                                                                         \
    "{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"" type "\"}},"
    static const struct {
        const char *front;
        int64_t stored; /* for the element 6 */
        const char *inner;
    } cases[] = {
        {SCALE("2", "3"), 12, SHARD("[2]", "[" LITTLE "]")},
        {SCALE("-4", "1") SCALE("0", "5"), 50, SHARD("[2]", "[" LITTLE "]")},
        {CAST("int64") SCALE("6", "2"), 0, SHARD("[2]", "[" CAST("int32") LITTLE "]")},
        {TRANSPOSE("[0]") "," SCALE("2", "3"), 12,
         SHARD("[4]", "[" SHARD("[2]", "[" LITTLE "]") "]")},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        fixture f;
        char codecs[2048];
        int32_t data[12] = {9, 9, 9, 9, 6, 9, 9, 9, 9, 9, 9, 9}, out[12];
        open_fixture(&f);
        snprintf(codecs, sizeof codecs, "[%s%s]", cases[i].front, cases[i].inner);
        zlg_array *array =
            put_array(&f.store->base, "", "[12]", "\"int32\"", REGULAR("[8]"), "9", codecs);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, data, sizeof out);
        zlg_text text; /* only the chunk of the element is stored, as the codecs have it */
        MUST(zlg_store_get(&f.store->base, "c/0", &text, err_));
        assert_int_equal((int32_t)zlgi_load_u32le(text.data), cases[i].stored);
        zlg_text_free(&text);
        assert_int_equal(zlg_store_get(&f.store->base, "c/1", &text, NULL), ZLG_NOT_FOUND);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ blosc */

static size_t blosc(uint8_t *out, uint8_t flags, uint32_t n_bytes, uint32_t block,
                    uint32_t stored, const void *body, size_t n_body)
{
    const uint8_t start[4] = {2, 1, flags, 4};
    memcpy(out, start, 4);
    zlgi_store_u32le(out + 4, n_bytes);
    zlgi_store_u32le(out + 8, block);
    zlgi_store_u32le(out + 12, stored);
    if (n_body > 0)
        memcpy(out + 16, body, n_body);
    return 16 + n_body;
}

static void test_broken_blosc(void **state)
{
    (void)state;
    const struct {
        uint8_t flags; /* 2: a copy; 0x30: LZ4 in one stream */
        uint32_t n_bytes, block, stored;
        uint32_t body[6];
        size_t n_body;
    } bad[] = {
        {2, 24, 24, 16 + 23, {1, 2, 3, 4, 5, 6}, 23},
        {2, 24, 24, 4000, {1, 2, 3, 4, 5, 6}, 24},
        {2, 24, 24, 7, {1, 2, 3, 4, 5, 6}, 24},
        {2, 12, 12, 16 + 12, {1, 2, 3}, 12},
        {2, 48, 48, 16 + 24, {1, 2, 3, 4, 5, 6}, 24},
        {2, 0x7fffffef, 1 << 20, 16 + 24, {1, 2, 3, 4, 5, 6}, 24},
        {0x30, 24, 0, 16 + 24, {20, 4, 0, 0, 0, 0}, 24},
        {0x30, 24, 24, 16 + 24, {0x40000000, 16, 0, 0, 0, 0}, 24},
        {0x30, 24, 24, 16 + 24, {0xfffffff0, 16, 0, 0, 0, 0}, 24},
        {0x30, 24, 24, 16 + 24, {20, 0xffffffff, 0, 0, 0, 0}, 24},
        {0x30, 24, 24, 16 + 24, {20, 99999, 0, 0, 0, 0}, 24},
        {0x30, 24, 0xffffffff, 16 + 24, {20, 4, 0, 0, 0, 0}, 24},
        {0x30, 24, 24, 16, {0}, 0},
        {2, 24, 24, 16, {0}, 0},
    };
    fixture f;
    open_fixture(&f);
    f.store->lends = true;
    put_text(&f.store->base, ".zarray",
             "{\"zarr_format\":2,\"shape\":[6],\"chunks\":[6],\"dtype\":\"<i4\",\"order\":"
             "\"C\",\"fill_value\":0,\"filters\":null,\"compressor\":{\"id\":\"blosc\","
             "\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":0,\"blocksize\":0}}");
    zlg_array *array;
    uint8_t bytes[64] = {0};
    int32_t out[6];
    zlg_status status = zlg_array_open(&f.store->base, "", NULL, &array, NULL);
    if (status == ZLG_UNSUPPORTED) { /* not built in */
        close_fixture(&f);
        return;
    }
    assert_int_equal(status, ZLG_OK);
    const uint32_t good[6] = {1, 2, 3, 4, 5, 6};
    put_bytes(&f, "0", bytes, blosc(bytes, 2, 24, 24, 40, good, 24));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out, good, sizeof out);
    for (size_t i = 0; i < ZLGI_COUNT(bad); i++) {
        zlg_error err = {0};
        size_t n = blosc(bytes, bad[i].flags, bad[i].n_bytes, bad[i].block, bad[i].stored,
                         bad[i].body, bad[i].n_body);
        put_bytes(&f, "0", bytes, n);
        status = zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, &err);
        if (status != ZLG_CORRUPT && status != ZLG_LIMIT)
            fail_msg("container %zu: status %d: %s", i, (int)status, err.message);
        assert_non_null(strstr(err.message, "codec blosc"));
    }
    for (size_t n = 0; n < 16; n++) { /* not even a header */
        put_bytes(&f, "0", bytes, n);
        assert_int_equal(
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, NULL),
            ZLG_CORRUPT);
    }
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ reading again */

/* Big-endian data, time and again, with the results scribbled over: what is stored, lent or
 * cached stays as it is. */
static void test_reading_again(void **state)
{
    (void)state;
    static const char *const codecs[] = {
        "[" BIG "]", "[" BIG "," ZSTD "]", "[" TRANSPOSE("[1,0]") "," BIG "," CRC "]",
        "[" SHARD("[2,3]", "[" BIG "]") "]",
        "[" SHARD("[4,3]", "[" BIG "," GZIP "]") "," CRC "]"};
    float data[20], out[20];
    for (int i = 0; i < 20; i++)
        data[i] = (float)i * 1.5f - 4;
    for (size_t i = 0; i < ZLGI_COUNT(codecs) * 2; i++) {
        fixture f;
        open_fixture(&f);
        f.store->lends = i % 2;
        zlg_array *array = put_array(&f.store->base, "", "[4,5]", "\"float32\"",
                                     REGULAR("[4,6]"), "2.5", codecs[i / 2]);
        for (int again = 0; again < 3; again++) {
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
            for (int k = 0; k < 20; k++)
                assert_true(out[k] == 2.5f);
            memset(out, 0x5A, sizeof out);
        }
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        for (int again = 0; again < 4; again++) {
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
            assert_memory_equal(out, data, sizeof out);
            memset(out, 0x5A, sizeof out);
        }
        zlg_array_close(array);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed_axes),
        cmocka_unit_test(test_positions_beyond_32_bits),
        cmocka_unit_test(test_offsets_beyond_32_bits),
        cmocka_unit_test(test_index_codecs),
        cmocka_unit_test(test_broken_indexes),
        cmocka_unit_test(test_broken_shards),
        cmocka_unit_test(test_fill_behind_codecs),
        cmocka_unit_test(test_broken_blosc),
        cmocka_unit_test(test_reading_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
