/*
 * packbits of the version 3 registry: the bits of each component that carry something,
 * packed without gaps, lowest bit first (format.md §12.1). Sub-byte types have their own
 * width; first_bit and last_bit cut any type. Names of the members as in the text, or as
 * in its schema (start_bit, end_byte, ...).
 *
 * zarrs writes no padding byte where components are whole bytes and nothing is cut: such
 * a chunk is read with and without it.
 */
#include "codec/bits.h"
#include "codec/elements.h"

typedef enum padding { PADDING_NONE, PADDING_FIRST, PADDING_LAST } padding;

typedef struct packbits {
    zlgi_elements elements;
    padding padding;
    unsigned first_bit, n_bits; /* of a component that are stored */
    bool is_signed;
    bool is_plain; /* whole bytes, nothing cut */
} packbits;

static unsigned type_bits(const zlgi_elements *elements)
{
    switch ((int)elements->type) {
    case ZLG_BOOL:
        return 1;
    case ZLG_INT2:
    case ZLG_UINT2:
        return 2;
    case ZLG_INT4:
    case ZLG_UINT4:
    case ZLG_FLOAT4_E2M1FN:
        return 4;
    case ZLG_FLOAT6_E2M3FN:
    case ZLG_FLOAT6_E3M2FN:
        return 6;
    default:
        return (unsigned)elements->n_bytes * 8;
    }
}

static zlg_status read_padding(const zlgi_json *configuration, padding *out, zlg_error *err)
{
    static const char *const choices[] = {"none",       "first_byte", "last_byte",
                                          "start_byte", "end_byte",   NULL};
    static const padding values[] = {PADDING_NONE, PADDING_FIRST, PADDING_LAST,
                                     PADDING_FIRST, PADDING_LAST};
    int choice;
    ZLGI_TRY(
        zlgi_config_choice(configuration, "padding_encoding", choices, 0, &choice, err));
    *out = values[choice];
    return ZLG_OK;
}

static zlg_status read_bit(const zlgi_json *configuration, const char *name,
                           const char *other, int64_t missing, int64_t *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_config_int(configuration, other, 0, 63, missing, out, err));
    return zlgi_config_int(configuration, name, 0, 63, *out, out, err);
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    packbits *self = zlgi_arena_get(env->arena, sizeof *self);
    if (self == NULL)
        return zlgi_no_memory(err, sizeof *self);
    step->config = self;
    ZLGI_TRY(zlgi_elements_of(step->from.dtype, true, &self->elements, err));
    ZLGI_TRY(read_padding(configuration, &self->padding, err));
    int64_t n_bits = (int64_t)type_bits(&self->elements), first, last;
    ZLGI_TRY(read_bit(configuration, "first_bit", "start_bit", 0, &first, err));
    ZLGI_TRY(read_bit(configuration, "last_bit", "end_bit", n_bits - 1, &last, err));
    if (first > last || last >= n_bits)
        return zlgi_fail(err, ZLG_METADATA,
                         "bits %lld to %lld of components that have %lld", (long long)first,
                         (long long)last, (long long)n_bits);
    self->first_bit = (unsigned)first;
    self->n_bits = (unsigned)(last - first) + 1;
    self->is_signed = zlgi_type_is_signed(self->elements.type) &&
                      zlgi_type_is_integer(self->elements.type);
    self->is_plain = self->n_bits == self->elements.n_bytes * 8;
    return ZLG_OK;
}

/* Eight elements are whole bytes, so nothing overflows that has not for the elements. */
static size_t packed_bytes(const packbits *self, size_t n)
{
    size_t n_bits = self->n_bits * self->elements.n_parts;
    return n / 8 * n_bits + (n % 8 * n_bits + 7) / 8;
}

static unsigned unused_bits(const packbits *self, size_t n)
{
    return (unsigned)(8 - n % 8 * self->n_bits * self->elements.n_parts % 8) % 8;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    const packbits *self = step->config;
    (void)err;
    to->n_bytes = packed_bytes(self, from->n_elements);
    if (self->padding != PADDING_NONE)
        to->n_bytes = self->is_plain ? ZLGI_UNKNOWN : to->n_bytes + 1;
    return ZLG_OK;
}

static uint64_t load_component(size_t n_bytes, const uint8_t *from)
{
    uint16_t half;
    uint32_t word;
    uint64_t value;
    switch (n_bytes) {
    case 1:
        return *from;
    case 2:
        memcpy(&half, from, sizeof half);
        return half;
    case 4:
        memcpy(&word, from, sizeof word);
        return word;
    default:
        memcpy(&value, from, sizeof value);
        return value;
    }
}

static void store_component(size_t n_bytes, uint64_t value, uint8_t *to)
{
    uint16_t half = (uint16_t)value;
    uint32_t word = (uint32_t)value;
    switch (n_bytes) {
    case 1:
        *to = (uint8_t)value;
        break;
    case 2:
        memcpy(to, &half, sizeof half);
        break;
    case 4:
        memcpy(to, &word, sizeof word);
        break;
    default:
        memcpy(to, &value, sizeof value);
    }
}

static void pack(const packbits *self, const uint8_t *in, size_t n, uint8_t *packed)
{
    const size_t item = self->elements.n_bytes;
    if (self->elements.type == ZLG_BOOL) {
        zlgi_bits_pack(in, n, false, packed);
        return;
    }
    memset(packed, 0, packed_bytes(self, n));
    size_t i_bit = 0;
    for (size_t i = 0; i < n * self->elements.n_parts; i++) {
        uint64_t value = load_component(item, in + i * item) >> self->first_bit;
        for (unsigned done = 0; done < self->n_bits;) {
            unsigned shift = i_bit % 8, n_taken = ZLGI_MIN(8 - shift, self->n_bits - done);
            uint64_t bits = value >> done & ((UINT64_C(1) << n_taken) - 1);
            packed[i_bit / 8] |= (uint8_t)(bits << shift);
            done += n_taken;
            i_bit += n_taken;
        }
    }
}

static void unpack(const packbits *self, const uint8_t *packed, size_t n, uint8_t *out)
{
    const size_t item = self->elements.n_bytes;
    const uint64_t sign = self->is_signed ? UINT64_C(1) << (self->n_bits - 1) : 0;
    if (self->elements.type == ZLG_BOOL) {
        zlgi_bits_unpack(packed, n, false, out);
        return;
    }
    size_t i_bit = 0;
    for (size_t i = 0; i < n * self->elements.n_parts; i++) {
        uint64_t value = 0;
        for (unsigned done = 0; done < self->n_bits;) {
            unsigned shift = i_bit % 8, n_taken = ZLGI_MIN(8 - shift, self->n_bits - done);
            uint64_t bits = packed[i_bit / 8] >> shift & ((UINT64_C(1) << n_taken) - 1);
            value |= bits << done;
            done += n_taken;
            i_bit += n_taken;
        }
        /* Sign-extends: what is above the sign bit becomes equal to it. */
        value = ((value ^ sign) - sign) << self->first_bit;
        store_component(item, value, out + i * item);
    }
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const packbits *self = step->config;
    const size_t n_packed = packed_bytes(self, from->n_elements);
    (void)scratch;
    ZLGI_TRY(zlgi_buf_reserve(out, n_packed + 1, false, err));
    pack(self, in.data, from->n_elements, out->data + (self->padding == PADDING_FIRST));
    if (self->padding != PADDING_NONE)
        out->data[self->padding == PADDING_FIRST ? 0 : n_packed] =
            (uint8_t)unused_bits(self, from->n_elements);
    out->n = n_packed + (self->padding != PADDING_NONE);
    return ZLG_OK;
}

/* Takes off the padding byte. */
static zlg_status unwrap(const packbits *self, size_t n, zlgi_bytes *in, zlg_error *err)
{
    const size_t n_packed = packed_bytes(self, n);
    const unsigned n_unused = unused_bits(self, n);
    bool has_byte = self->padding != PADDING_NONE && !(self->is_plain && in->n == n_packed);
    if (in->n != n_packed + has_byte)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes, %zu expected", in->n,
                         n_packed + has_byte);
    if (!has_byte)
        return ZLG_OK;
    bool first = self->padding == PADDING_FIRST;
    unsigned stated = in->data[first ? 0 : n_packed];
    if (stated != n_unused)
        return zlgi_fail(err, ZLG_CORRUPT, "%u bits of padding are stated, %u expected",
                         stated, n_unused);
    *in = (zlgi_bytes){in->data + first, n_packed};
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const packbits *self = step->config;
    uint8_t *memory;
    (void)scratch;
    ZLGI_TRY(unwrap(self, from->n_elements, &in, err));
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &memory, err));
    unpack(self, in.data, from->n_elements, memory);
    return zlgi_out_done(out, from->n_bytes, err);
}

const zlgi_codec zlgi_codec_packbits = {
    .name = "packbits",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
