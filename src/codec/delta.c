/*
 * delta: the first element, then the difference of each from the one before it (format.md
 * §16). Differences are taken in `dtype`, so those of integers wrap around, and are stored
 * as `astype`. Sums run strictly from left to right in the type that NumPy promotes the
 * two to: with floats another order would give other bits.
 */
#include "codec/filter.h"

typedef struct delta {
    zlgi_filter filter;
    zlg_type sum; /* a float type, or int64 for sums modulo 2^64 */
} delta;

/* NumPy's promotion, as far as the sum depends on it. */
static zlg_type promote(const zlgi_elements *a, const zlgi_elements *b)
{
    bool a_is_float = zlgi_type_is_float(a->type), b_is_float = zlgi_type_is_float(b->type);
    if (!a_is_float && !b_is_float) {
        bool same = zlgi_type_is_signed(a->type) == zlgi_type_is_signed(b->type);
        const zlgi_elements *u = zlgi_type_is_signed(a->type) ? b : a;
        return !same && u->n_bytes == 8 ? ZLG_FLOAT64 : ZLG_INT64;
    }
    /* An integer needs a float of twice its size, but for int64. */
    size_t a_bytes = a_is_float ? a->n_bytes : 2 * a->n_bytes;
    size_t b_bytes = b_is_float ? b->n_bytes : 2 * b->n_bytes;
    size_t n_bytes = ZLGI_MAX(a_bytes, b_bytes);
    return n_bytes == 2 ? ZLG_FLOAT16 : n_bytes == 4 ? ZLG_FLOAT32 : ZLG_FLOAT64;
}

static void encode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const delta *self = config;
    const zlgi_elements *decoded = &self->filter.decoded, *encoded = &self->filter.encoded;
    const zlgi_elements native = {.type = decoded->type, .n_bytes = decoded->n_bytes};
    zlgi_wide wide = zlgi_wide_of(decoded->type);
    zlgi_block block;
    uint8_t wrapped[sizeof block];
    uint64_t last = 0;
    double last_float = 0;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK), first = i == 0;
        zlgi_elements_load(decoded, in + i * decoded->n_bytes, n_block, &block);
        if (wide == ZLGI_WIDE_DOUBLE) {
            double next = block.d[n_block - 1];
            for (size_t k = n_block - 1; k > 0; k--)
                block.d[k] -= block.d[k - 1];
            if (!first)
                block.d[0] -= last_float;
            last_float = next;
        } else {
            uint64_t next = block.u[n_block - 1];
            for (size_t k = n_block - 1; k > 0; k--)
                block.u[k] -= block.u[k - 1];
            block.u[0] -= last;
            last = next;
        }
        /* By way of memory in dtype, which wraps and rounds. */
        zlgi_elements_store(&native, wide, &block, n_block, wrapped);
        zlgi_elements_convert(&native, wrapped, n_block, encoded,
                              out + i * encoded->n_bytes);
    }
}

/* Begins with the first element itself: 0 + -0 would lose its sign. */
static void sum_floats(zlg_type type, zlgi_block *block, size_t n, bool first,
                       double *carry)
{
    size_t k = 0;
    if (first)
        *carry = zlgi_round_to(type, block->d[0]), block->d[k++] = *carry;
    double sum = *carry;
    if (type == ZLG_FLOAT64)
        for (; k < n; k++)
            block->d[k] = sum += block->d[k];
    else if (type == ZLG_FLOAT32)
        for (; k < n; k++)
            block->d[k] = sum = (double)((float)sum + (float)block->d[k]);
    else
        for (; k < n; k++)
            block->d[k] = sum = zlgi_round_to(type, sum + block->d[k]);
    *carry = sum;
}

static void decode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const delta *self = config;
    const zlgi_elements *decoded = &self->filter.decoded, *encoded = &self->filter.encoded;
    zlgi_wide wide = zlgi_wide_of(encoded->type);
    zlgi_block block;
    uint64_t sum = 0;
    double carry = 0;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(encoded, in + i * encoded->n_bytes, n_block, &block);
        if (self->sum == ZLG_INT64) {
            for (size_t k = 0; k < n_block; k++)
                block.u[k] = sum += block.u[k];
            zlgi_elements_store(decoded, ZLGI_WIDE_UINT64, &block, n_block,
                                out + i * decoded->n_bytes);
        } else {
            zlgi_block_to_double(wide, &block, n_block);
            sum_floats(self->sum, &block, n_block, i == 0, &carry);
            zlgi_elements_store(decoded, ZLGI_WIDE_DOUBLE, &block, n_block,
                                out + i * decoded->n_bytes);
        }
    }
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    delta *self;
    ZLGI_TRY(zlgi_filter_configure(step, sizeof *self, configuration, "dtype", "astype",
                                   true, env, &self, err));
    const zlgi_elements *decoded = &self->filter.decoded, *encoded = &self->filter.encoded;
    if (decoded->type == ZLG_BOOL || encoded->type == ZLG_BOOL)
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "differences of bool do not decode to what "
                         "was encoded");
    self->sum = promote(decoded, encoded);
    return zlgi_filter_fill(step, encode_elements, env, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)scratch, (void)from;
    return zlgi_filter_encode(step, in, out, encode_elements, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)scratch, (void)from;
    return zlgi_filter_decode(step, in, out, decode_elements, err);
}

const zlgi_codec zlgi_codec_delta = {
    .id = "delta",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_ON_BYTES,
    .configure = configure,
    .resolve = zlgi_filter_resolve,
    .encode = encode,
    .decode = decode,
};
