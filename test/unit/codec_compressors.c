/* What holds for every bytes-to-bytes codec: round trips, sizes held against what is
 * expected, damage found, nothing read or written beyond the ends, failures of memory. */
#include "codec_test.h"

typedef struct subject {
    const char *configuration; /* as a v2 document has it */
    bool checked;              /* a checksum guards the data: damage never passes */
    size_t unit;               /* data is a multiple of this */
} subject;

static const subject SUBJECTS[] = {
    {"{\"id\": \"zstd\"}", false, 1},
    {"{\"id\": \"zstd\", \"level\": 9, \"checksum\": true}", true, 1},
    {"{\"id\": \"zstd\", \"level\": -7}", false, 1},
    {"{\"id\": \"gzip\", \"level\": 0}", true, 1},
    {"{\"id\": \"gzip\", \"level\": 9}", true, 1},
    {"{\"id\": \"zlib\", \"level\": -1}", true, 1},
    {"{\"id\": \"crc32c\"}", true, 1},
    {"{\"id\": \"crc32c\", \"location\": \"start\"}", true, 1},
    {"{\"id\": \"crc32\"}", true, 1},
    {"{\"id\": \"crc32\", \"location\": \"end\"}", true, 1},
    {"{\"id\": \"adler32\"}", true, 1},
    {"{\"id\": \"fletcher32\"}", false, 1},
    {"{\"id\": \"jenkins_lookup3\", \"initval\": 7}", true, 1},
    {"{\"id\": \"jenkins_lookup3\", \"prefix\": \"abc\"}", true, 1},
    {"{\"id\": \"base64\"}", false, 1},
    {"{\"id\": \"shuffle\", \"elementsize\": 0}", false, 1},
    {"{\"id\": \"shuffle\", \"elementsize\": 3}", false, 3},
    {"{\"id\": \"shuffle\", \"elementsize\": 8}", false, 8},
    {"{\"id\": \"shuffle\", \"elementsize\": 300}", false, 300},
#if ZELLIGE_HAVE_LZ4
    {"{\"id\": \"lz4\"}", false, 1},
#endif
#if ZELLIGE_HAVE_BZ2
    {"{\"id\": \"bz2\", \"level\": 9}", true, 1},
#endif
#if ZELLIGE_HAVE_LZMA
    {"{\"id\": \"lzma\"}", true, 1},
    {"{\"id\": \"lzma\", \"check\": 1, \"filters\": [{\"id\": 3, \"dist\": 2}, {\"id\": "
     "33}]}",
     true, 1},
    {"{\"id\": \"lzma\", \"format\": 2, \"preset\": 1}", false, 1},
    {"{\"id\": \"lzma\", \"format\": 3, \"filters\": [{\"id\": 33, \"preset\": 1}]}", false,
     1},
#endif
#if ZELLIGE_HAVE_BLOSC
    {"{\"id\": \"blosc\", \"cname\": \"lz4\", \"shuffle\": 1}", false, 1},
    {"{\"id\": \"blosc\", \"cname\": \"zstd\", \"shuffle\": 2, \"clevel\": 9}", false, 1},
    {"{\"id\": \"blosc\", \"cname\": \"blosclz\", \"shuffle\": 0}", false, 1},
    {"{\"id\": \"blosc\", \"cname\": \"zlib\", \"blocksize\": 512}", false, 1},
    {"{\"id\": \"blosc\", \"cname\": \"lz4hc\", \"clevel\": 0}", false, 1},
#endif
};

static const size_t SIZES[] = {0, 1, 3, 8, 63, 64, 65, 511, 512, 4096, 65537, 300000};

/* Smooth, noisy, or nothing but zeros. */
static zlgi_bytes make_data(size_t n, int kind)
{
    uint8_t *data = zlgi_arena_get(&arena, n + 1);
    uint64_t seed = 88172645463325252 + n;
    for (size_t i = 0; i < n; i++)
        data[i] = kind == 0   ? (uint8_t)(i / 7 + i % 4 * 50)
                  : kind == 1 ? (uint8_t)test_random(&seed)
                              : 0;
    return (zlgi_bytes){data, n};
}

/* The codec alone: the one step behind `bytes`. */
static const zlgi_step *step_of(const subject *s)
{
    zlgi_chain *chain = chain_v2("|u1", 1, "null", s->configuration, false);
    assert_int_equal(chain->n_steps, 2);
    return &chain->step[1];
}

static zlgi_bytes encoded_by(const zlgi_step *step, zlgi_bytes data)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    const zlgi_edge from = {.n_bytes = data.n};
    if (step->codec->encode(step, scratch, &from, data, &out, &error) != ZLG_OK)
        fail_msg("%s: %s", step->codec->id, error.message);
    uint8_t *kept = zlgi_arena_get(&arena, out.n + 1);
    if (out.n > 0)
        memcpy(kept, out.data, out.n);
    const zlgi_bytes result = {kept, out.n};
    zlgi_buf_reset(&out);
    return result;
}

/* Decodes from the end of a page, into the end of another when the size is known. */
static zlg_status decode(const zlgi_step *step, zlgi_bytes encoded, size_t expected,
                         zlgi_bytes data, bool *out_equal)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    const bool known = expected != ZLGI_UNKNOWN;
    guarded in = guard(encoded);
    guarded room = guard((zlgi_bytes){NULL, 0});
    if (known) {
        unguard(&room);
        room = guard((zlgi_bytes){make_data(expected, 2).data, expected});
    }
    zlgi_out out = {.direct = known ? (uint8_t *)(uintptr_t)room.bytes.data : NULL,
                    .expected = expected,
                    .limit = 1 << 20,
                    .buf = &buf};
    const zlgi_edge from = {.n_bytes = expected};
    zlg_status status = step->codec->decode(step, scratch, &from, in.bytes, &out, &error);
    *out_equal = status == ZLG_OK && out.result.n == data.n &&
                 (data.n == 0 || memcmp(out.result.data, data.data, data.n) == 0);
    unguard(&in);
    unguard(&room);
    zlgi_buf_reset(&buf);
    return status;
}

static void test_round_trips(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        for (size_t k = 0; k < ZLGI_COUNT(SIZES); k++) {
            for (int kind = 0; kind < 3; kind++) {
                bool equal;
                const zlgi_bytes data = make_data(SIZES[k] / s->unit * s->unit, kind);
                const zlgi_bytes encoded = encoded_by(step, data);
                zlg_status status = decode(step, encoded, data.n, data, &equal);
                if (status != ZLG_OK || !equal)
                    fail_msg("%s, %zu bytes: %s", s->configuration, data.n, error.message);
                status = decode(step, encoded, ZLGI_UNKNOWN, data, &equal);
                if (status != ZLG_OK || !equal)
                    fail_msg("%s, %zu bytes, size unknown: %s", s->configuration, data.n,
                             error.message);
            }
        }
    }
}

static void test_results_of_another_size_are_corrupt(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        for (int kind = 0; kind < 3; kind++) {
            bool equal;
            const zlgi_bytes data = make_data(600, kind);
            const zlgi_bytes encoded = encoded_by(step, data);
            const size_t others[] = {0, 1, 599, 601, 1200, 100000};
            for (size_t k = 0; k < ZLGI_COUNT(others); k++) {
                zlg_status status = decode(step, encoded, others[k], data, &equal);
                if (status != ZLG_CORRUPT)
                    fail_msg("%s: %s where %zu bytes are expected", s->configuration,
                             zlg_status_name(status), others[k]);
            }
        }
    }
}

/* Two rare ones work on a copy of all they are given. */
static bool copies_its_input(const subject *s)
{
    return strstr(s->configuration, "base64") || strstr(s->configuration, "prefix");
}

static void test_the_limit_stops_an_unknown_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        bool equal;
        const zlgi_bytes data = make_data(3 << 20, 2);
        const zlgi_bytes encoded =
            encoded_by(step, make_data(data.n / s->unit * s->unit, 2));
        const size_t peak = heap.n_bytes;
        heap.peak_bytes = heap.n_bytes;
        assert_int_equal(decode(step, encoded, ZLGI_UNKNOWN, data, &equal), ZLG_LIMIT);
        if (!copies_its_input(s))
            assert_true(heap.peak_bytes - peak <= (1 << 20) + (1 << 16));
    }
}

static void test_cut_off_inputs_are_corrupt(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        for (int kind = 0; kind < 2; kind++) {
            const zlgi_bytes data = make_data(600, kind);
            const zlgi_bytes encoded = encoded_by(step, data);
            for (size_t n = 0; n < encoded.n; n += 1 + n / 40) {
                bool equal;
                zlg_status status =
                    decode(step, (zlgi_bytes){encoded.data, n}, data.n, data, &equal);
                if (status == ZLG_OK || status == ZLG_NO_MEMORY)
                    fail_msg("%s: %s after %zu of %zu bytes", s->configuration,
                             zlg_status_name(status), n, encoded.n);
                decode(step, (zlgi_bytes){encoded.data, n}, ZLGI_UNKNOWN, data, &equal);
            }
        }
    }
}

static void test_flipped_bits_never_pass_a_checksum(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        const zlgi_bytes data = make_data(600, 0);
        const zlgi_bytes encoded = encoded_by(step, data);
        uint8_t *damaged = zlgi_arena_get(&arena, encoded.n + 1);
        for (size_t bit = 0; bit < encoded.n * 8; bit += 1 + bit / 200) {
            bool equal;
            memcpy(damaged, encoded.data, encoded.n);
            damaged[bit / 8] ^= (uint8_t)(1 << bit % 8);
            const zlgi_bytes in = {damaged, encoded.n};
            zlg_status status = decode(step, in, data.n, data, &equal);
            if (status == ZLG_OK && s->checked && !equal)
                fail_msg("%s: bit %zu does not matter", s->configuration, bit);
            assert_int_not_equal(status, ZLG_USAGE);
            assert_int_not_equal(status, ZLG_METADATA);
            decode(step, in, ZLGI_UNKNOWN, data, &equal);
        }
    }
}

static void test_noise_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        for (size_t n = 0; n < 200; n += 1 + n / 20) {
            bool equal;
            const zlgi_bytes noise = make_data(n, 1);
            if (decode(step, noise, 600, noise, &equal) == ZLG_OK)
                fail_msg("%s: %zu bytes of noise", s->configuration, n);
            decode(step, noise, ZLGI_UNKNOWN, noise, &equal);
        }
    }
}

static void test_missing_memory_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_bytes data = make_data(5000 / s->unit * s->unit, 0);
        const zlgi_bytes encoded = encoded_by(step_of(s), data);
        const zlgi_step *step = step_of(s);
        zlg_status status = ZLG_NO_MEMORY;
        for (size_t k = 1; status != ZLG_OK; k++) {
            zlgi_scratch *fresh = zlgi_scratch_new(&heap.alloc, &LIMITS);
            zlgi_buf buf;
            zlgi_buf_init(&buf, &heap.alloc);
            zlgi_out out = {.expected = data.n, .limit = 1 << 20, .buf = &buf};
            const zlgi_edge from = {.n_bytes = data.n};
            heap.fail_at = heap.n_calls + k;
            status = step->codec->decode(step, fresh, &from, encoded, &out, &error);
            heap.fail_at = 0;
            assert_true(status == ZLG_OK || status == ZLG_NO_MEMORY);
            zlgi_buf_reset(&buf);
            zlgi_scratch_free(fresh);
        }
    }
}

static void test_decoding_again_asks_for_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(SUBJECTS); i++) {
        const subject *s = &SUBJECTS[i];
        const zlgi_step *step = step_of(s);
        if (copies_its_input(s))
            continue;
        const zlgi_bytes data = make_data(4800, 0);
        const zlgi_bytes encoded = encoded_by(step, data);
        uint8_t *memory = zlgi_arena_get(&arena, data.n);
        const zlgi_edge from = {.n_bytes = data.n};
        size_t n_calls = 0;
        for (int round = 0; round < 3; round++) {
            zlgi_out out = {.direct = memory, .expected = data.n, .limit = 1 << 20};
            n_calls = heap.n_calls;
            assert_int_equal(
                step->codec->decode(step, scratch, &from, encoded, &out, &error), ZLG_OK);
        }
        assert_int_equal(heap.n_calls, n_calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_round_trips),
        codec_test(test_results_of_another_size_are_corrupt),
        codec_test(test_the_limit_stops_an_unknown_size),
        codec_test(test_cut_off_inputs_are_corrupt),
        codec_test(test_flipped_bits_never_pass_a_checksum),
        codec_test(test_noise_is_refused),
        codec_test(test_missing_memory_is_reported),
        codec_test(test_decoding_again_asks_for_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
