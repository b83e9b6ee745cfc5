/*
 * bitround: keeps the `keepbits` highest bits of each number, rounded (format.md §12.1).
 * Of floats these are bits of the mantissa, ties to even; of integers they begin with the
 * highest bit that is set, of times with that of their int64. Nothing is to be undone.
 *
 * NaN is left alone: rounding would turn some into infinities, and some into -0. An integer
 * that would be rounded beyond its type is cut off instead, as zarrs does; negative ones
 * are taken as the unsigned integer of the same bits.
 */
#include "codec/elements.h"

typedef struct bitround {
    bool known;         /* false: bytes of unknown contents, which can only be read */
    zlgi_elements bits; /* unsigned integers of the width of the numbers */
    size_t n_parts;
    int mantissa_bits; /* -1: integers */
    uint64_t infinity; /* as bits */
    int keepbits;
} bitround;

static void round_floats(const bitround *self, uint64_t *bits, size_t n)
{
    const int n_lost = self->mantissa_bits - self->keepbits;
    if (n_lost == 0)
        return;
    const uint64_t half = (UINT64_C(1) << (n_lost - 1)) - 1;
    const uint64_t kept = ~((UINT64_C(1) << n_lost) - 1);
    const uint64_t magnitude = (UINT64_C(1) << (self->bits.n_bytes * 8 - 1)) - 1;
    for (size_t i = 0; i < n; i++)
        if ((bits[i] & magnitude) <= self->infinity)
            bits[i] = (bits[i] + (bits[i] >> n_lost & 1) + half) & kept;
}

static void round_integers(const bitround *self, uint64_t *bits, size_t n)
{
    const uint64_t most = UINT64_MAX >> (64 - self->bits.n_bytes * 8);
    for (size_t i = 0; i < n; i++) {
        int n_bits = bits[i] == 0 ? 0 : 64 - __builtin_clzll(bits[i]);
        int n_lost = n_bits - self->keepbits;
        if (n_lost <= 0)
            continue;
        uint64_t up = (bits[i] >> n_lost & 1) + (UINT64_C(1) << (n_lost - 1)) - 1;
        bits[i] = up > most - bits[i] ? most : bits[i] + up;
        bits[i] &= ~((UINT64_C(1) << n_lost) - 1);
    }
}

static void encode_elements(const bitround *self, const uint8_t *in, size_t n, uint8_t *out)
{
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(&self->bits, in + i * self->bits.n_bytes, n_block, &block);
        if (self->mantissa_bits < 0)
            round_integers(self, block.u, n_block);
        else
            round_floats(self, block.u, n_block);
        zlgi_elements_store(&self->bits, ZLGI_WIDE_UINT64, &block, n_block,
                            out + i * self->bits.n_bytes);
    }
}

/* What of the numbers is rounded. */
static zlg_status look_at(bitround *self, const zlgi_elements *elements, zlg_error *err)
{
    static const zlg_type unsigned_types[9] = {
        [1] = ZLG_UINT8, [2] = ZLG_UINT16, [4] = ZLG_UINT32, [8] = ZLG_UINT64};
    const zlgi_float_layout *layout = zlgi_type_float_layout(elements->type);
    bool is_small = elements->type == ZLG_BOOL || elements->type == ZLG_INT2 ||
                    elements->type == ZLG_UINT2 || elements->type == ZLG_INT4 ||
                    elements->type == ZLG_UINT4;
    if (is_small || (layout != NULL && elements->n_bytes == 1))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "it does not take %s",
                         zlgi_type_name(elements->type));
    self->bits = *elements;
    self->bits.type = unsigned_types[elements->n_bytes];
    self->n_parts = elements->n_parts;
    self->mantissa_bits = layout ? layout->mantissa_bits : -1;
    int low = layout ? 0 : 1;
    int high = layout ? layout->mantissa_bits : (int)elements->n_bytes * 8;
    if (layout != NULL)
        self->infinity = ((UINT64_C(1) << layout->exponent_bits) - 1)
                         << layout->mantissa_bits;
    if (self->keepbits < low || self->keepbits > high)
        return zlgi_fail(err, ZLG_METADATA, "\"keepbits\" is %d, not from %d to %d",
                         self->keepbits, low, high);
    self->known = true;
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    bitround *self = zlgi_arena_get(env->arena, sizeof *self);
    if (self == NULL)
        return zlgi_no_memory(err, sizeof *self);
    memset(self, 0, sizeof *self);
    step->config = self;
    int64_t keepbits;
    ZLGI_TRY(zlgi_config_int(configuration, "keepbits", 0, 64, -1, &keepbits, err));
    if (keepbits < 0)
        return zlgi_fail(err, ZLG_METADATA, "\"keepbits\" is missing");
    self->keepbits = (int)keepbits;
    const bool typed = step->from.dtype != NULL;
    const zlgi_dtype *dtype = typed ? step->from.dtype : step->from.holds;
    zlgi_elements elements;
    if (!typed &&
        (dtype == NULL || zlgi_elements_of(dtype, false, &elements, NULL) != ZLG_OK))
        return ZLG_OK;
    if (typed)
        ZLGI_TRY(zlgi_elements_of(dtype, true, &elements, err));
    ZLGI_TRY(look_at(self, &elements, err));
    if (!typed)
        return ZLG_OK;
    uint8_t *fill = zlgi_arena_get(env->arena, dtype->n_bytes);
    if (fill == NULL)
        return zlgi_no_memory(err, dtype->n_bytes);
    encode_elements(self, step->from.fill.data, self->n_parts, fill);
    step->to.fill = (zlgi_fill){.data = fill, .n = dtype->n_bytes};
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const bitround *self = step->config;
    (void)scratch, (void)from;
    if (!self->known)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "it is not known what the bytes hold");
    if (in.n % self->bits.n_bytes != 0)
        return zlgi_fail(err, ZLG_USAGE, "%zu bytes are no whole number of elements of %zu",
                         in.n, self->bits.n_bytes);
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    encode_elements(self, in.data, in.n / self->bits.n_bytes, out->data);
    out->n = in.n;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    return zlgi_out_view(out, in.data, in.n, err);
}

const zlgi_codec zlgi_codec_bitround = {
    .name = "bitround",
    .id = "bitround",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_ELEMENTWISE,
    .flags = ZLGI_CODEC_ON_BYTES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
