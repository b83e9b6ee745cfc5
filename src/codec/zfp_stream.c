/*
 * ZFP streams by way of libzfp (format.md §12.1, zfp; §16, zfpy). The only file that calls
 * it. Knows which types are promoted to the four that libzfp codes.
 *
 * libzfp reads without looking where its input ends, but never more than the most that its
 * parameters allow for each block. So a stream is decoded from a copy that is followed by
 * zeros up to that, and afterwards it is seen whether it was long enough. Libraries differ
 * in the words they write, of one byte or of eight: streams end after a multiple of eight.
 */
#include "codec/zfp_stream.h"

#if ZELLIGE_HAVE_ZFP
#include <zfp.h>

enum { WORD = sizeof(uint64_t), HEADER_BYTES = (ZFP_HEADER_MAX_BITS + 63) / 64 * WORD };

/* ---------------------------------------------------------------------- types */
static unsigned integer_bits(zlg_type type)
{
    if (type == ZLG_INT2 || type == ZLG_UINT2)
        return 2;
    if (type == ZLG_INT4 || type == ZLG_UINT4)
        return 4;
    return (unsigned)zlgi_type_bytes(type) * 8;
}

zlg_status zlgi_zfp_type(const zlgi_dtype *dtype, zlgi_zfp *zfp, zlg_error *err)
{
    ZLGI_TRY(zlgi_elements_of(dtype, true, &zfp->elements, err));
    zlg_type type = zfp->elements.type;
    bool is_small_float = zlgi_type_is_float(type) && zfp->elements.n_bytes == 1;
    if (type == ZLG_BOOL || zfp->elements.n_parts != 1 || is_small_float)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "it does not take %s",
                         zlgi_type_name(dtype->type));
    if (zlgi_type_is_float(type))
        zfp->coded = type == ZLG_FLOAT64 ? ZLG_FLOAT64 : ZLG_FLOAT32;
    else
        zfp->coded = zfp->elements.n_bytes == 8 ? ZLG_INT64 : ZLG_INT32;
    return ZLG_OK;
}

static zfp_type library_type(zlg_type coded)
{
    return coded == ZLG_INT32     ? zfp_type_int32
           : coded == ZLG_INT64   ? zfp_type_int64
           : coded == ZLG_FLOAT32 ? zfp_type_float
                                  : zfp_type_double;
}

/* Narrow integers fill the high bits of an int32, unsigned ones about zero; of the wide
 * unsigned ones those beyond the signed range are cut off, as zarrs does. */
static void promote(zlg_type type, zlgi_block *block, size_t n)
{
    unsigned n_bits = integer_bits(type);
    if (n_bits < 32) {
        int64_t zero = zlgi_type_is_signed(type) ? 0 : INT64_C(1) << (n_bits - 1);
        for (size_t i = 0; i < n; i++)
            block->i[i] = (block->i[i] - zero) * (INT64_C(1) << (31 - n_bits));
    } else if (!zlgi_type_is_signed(type)) {
        uint64_t most = UINT64_MAX >> (65 - n_bits);
        for (size_t i = 0; i < n; i++)
            block->u[i] = ZLGI_MIN(block->u[i], most);
    }
}

static void demote(zlg_type type, zlgi_block *block, size_t n)
{
    unsigned n_bits = integer_bits(type);
    bool is_signed = zlgi_type_is_signed(type);
    if (n_bits < 32) {
        int64_t half = INT64_C(1) << (n_bits - 1);
        int64_t least = is_signed ? -half : 0, most = least + 2 * half - 1;
        for (size_t i = 0; i < n; i++) {
            int64_t value = (block->i[i] >> (31 - n_bits)) + (is_signed ? 0 : half);
            block->i[i] = ZLGI_MIN(ZLGI_MAX(value, least), most);
        }
    } else if (!is_signed) {
        for (size_t i = 0; i < n; i++)
            block->i[i] = ZLGI_MAX(block->i[i], 0);
    }
}

/* n elements to the coded type (or back, when `back` is set). */
static void convert(const zlgi_zfp *zfp, bool back, const uint8_t *in, size_t n,
                    uint8_t *out)
{
    const zlgi_elements coded = {.type = zfp->coded,
                                 .n_bytes = zlgi_type_bytes(zfp->coded)};
    const zlgi_elements *from = back ? &coded : &zfp->elements;
    const zlgi_elements *to = back ? &zfp->elements : &coded;
    zlgi_wide wide = zlgi_wide_of(from->type);
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(from, in + i * from->n_bytes, n_block, &block);
        if (wide != ZLGI_WIDE_DOUBLE && back)
            demote(zfp->elements.type, &block, n_block);
        else if (wide != ZLGI_WIDE_DOUBLE)
            promote(zfp->elements.type, &block, n_block);
        zlgi_elements_store(to, wide, &block, n_block, out + i * to->n_bytes);
    }
}

/* libzfp works on aligned numbers of the coded type: can it work right there? */
static bool is_ready(const zlgi_zfp *zfp, const uint8_t *memory)
{
    return zfp->elements.type == zfp->coded &&
           (uintptr_t)memory % zlgi_type_bytes(zfp->coded) == 0;
}

/* ---------------------------------------------------------------------- parameters */
/* The last axis is libzfp's first. */
static zlg_status set_field(const zlgi_zfp *zfp, const zlgi_edge *from, zfp_field *field,
                            zlg_error *err)
{
    if (from->rank > 4)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "%d axes, at most 4 are known", from->rank);
    *field = (zfp_field){.type = library_type(zfp->coded)};
    size_t *const lengths[] = {&field->nx, &field->ny, &field->nz, &field->nw};
    for (int i = 0; i < from->rank; i++)
        *lengths[i] = (size_t)from->shape[from->rank - 1 - i];
    if (from->rank == 0)
        field->nx = 1;
    return ZLG_OK;
}

static unsigned n_dims(const zfp_field *field)
{
    return field->nw ? 4 : field->nz ? 3 : field->ny ? 2 : 1;
}

static zlg_status set_mode(const zlgi_zfp *zfp, unsigned rate_dims, zfp_stream *stream,
                           zlg_error *err)
{
    bool is_integer = zfp->coded == ZLG_INT32 || zfp->coded == ZLG_INT64;
    switch (zfp->mode) {
    case ZLGI_ZFP_REVERSIBLE:
        zfp_stream_set_reversible(stream);
        return ZLG_OK;
    case ZLGI_ZFP_EXPERT:
        if (!zfp_stream_set_params(stream, zfp->min_bits, zfp->max_bits, zfp->max_precision,
                                   zfp->min_exponent))
            return zlgi_fail(err, ZLG_METADATA, "libzfp does not take these parameters");
        return ZLG_OK;
    case ZLGI_ZFP_ACCURACY:
        if (is_integer && !zfp->has_header)
            return zlgi_fail(err, ZLG_METADATA, "integers have no fixed accuracy");
        zfp_stream_set_accuracy(stream, zfp->value);
        return ZLG_OK;
    case ZLGI_ZFP_RATE:
        zfp_stream_set_rate(stream, zfp->value, library_type(zfp->coded), rate_dims,
                            zfp_false);
        return ZLG_OK;
    case ZLGI_ZFP_PRECISION:
        break;
    }
    zfp_stream_set_precision(stream, zfp->max_precision);
    return ZLG_OK;
}

static size_t count_blocks(const zfp_field *field)
{
    size_t n = (field->nx + 3) / 4;
    n *= field->ny ? (field->ny + 3) / 4 : 1;
    n *= field->nz ? (field->nz + 3) / 4 : 1;
    return n * (field->nw ? (field->nw + 3) / 4 : 1);
}

/* ---------------------------------------------------------------------- decode */
typedef struct decoder {
    const zlgi_zfp *zfp;
    zlgi_scratch *scratch;
    const zlgi_edge *from;
    zlgi_bytes in;
    zfp_stream *stream;
    zfp_field field;
    size_t n_header_bits;
    zlg_error *err;
} decoder;

/* Type, shape and mode from a copy of the first bytes. */
static zlg_status read_header(decoder *self)
{
    uint64_t first[HEADER_BYTES / WORD] = {0};
    memcpy(first, self->in.data, ZLGI_MIN(self->in.n, sizeof first));
    bitstream *bits = stream_open(first, sizeof first);
    if (bits == NULL)
        return zlgi_no_memory(self->err, sizeof first);
    zfp_stream_set_bit_stream(self->stream, bits);
    self->field = (zfp_field){0};
    self->n_header_bits = zfp_read_header(self->stream, &self->field, ZFP_HEADER_FULL);
    stream_close(bits);
    zfp_stream_set_bit_stream(self->stream, NULL);
    if (self->n_header_bits == 0 || self->n_header_bits > self->in.n * 8)
        return zlgi_fail(self->err, ZLG_CORRUPT, "there is no header of ZFP");
    if (self->field.type != library_type(self->zfp->coded))
        return zlgi_fail(self->err, ZLG_CORRUPT, "the header names another type than %s",
                         zlgi_type_name(self->zfp->coded));
    size_t n = self->field.nx;
    const size_t others[] = {self->field.ny, self->field.nz, self->field.nw};
    for (size_t i = 0; i < ZLGI_COUNT(others); i++)
        if (others[i] > 0 && !zlgi_mul_size(n, others[i], &n))
            n = SIZE_MAX;
    if (n != self->from->n_elements)
        return zlgi_fail(self->err, ZLG_CORRUPT,
                         "the header announces %zu elements, %zu expected", n,
                         self->from->n_elements);
    return ZLG_OK;
}

/*
 * Without a header, shape and mode are those of the configuration. The rate is per element,
 * but zarrs sets it as if every chunk had three axes: the length tells which is the case.
 */
static zlg_status use_configuration(decoder *self)
{
    ZLGI_TRY(set_field(self->zfp, self->from, &self->field, self->err));
    unsigned dims = n_dims(&self->field);
    ZLGI_TRY(set_mode(self->zfp, dims, self->stream, self->err));
    if (self->zfp->mode != ZLGI_ZFP_RATE || dims == 3)
        return ZLG_OK;
    const size_t n_blocks = count_blocks(&self->field);
    size_t n_words = (n_blocks * self->stream->maxbits + 63) / 64;
    if (self->in.n == n_words * WORD)
        return ZLG_OK;
    return set_mode(self->zfp, 3, self->stream, self->err);
}

static zlg_status decode_stream(decoder *self, zlgi_buf *copy, uint8_t *memory)
{
    const size_t n_words = (self->in.n + WORD - 1) / WORD;
    size_t n_least;
    /* Checked first: nothing large is made for a short stream of long blocks. */
    if (!zlgi_mul_size(count_blocks(&self->field), self->stream->minbits, &n_least) ||
        n_least / 64 > n_words)
        return zlgi_fail(self->err, ZLG_CORRUPT, "the stream ends after %zu bytes",
                         self->in.n);
    self->field.data = memory;
    size_t n_most = zfp_stream_maximum_size(self->stream, &self->field);
    if (n_most == 0)
        return zlgi_fail(self->err, ZLG_CORRUPT, "libzfp does not take the parameters");
    size_t n_bytes = ZLGI_MAX(n_most, n_words * WORD) + 2 * WORD;
    ZLGI_TRY(zlgi_buf_reserve(copy, n_bytes, false, self->err));
    if (self->in.n > 0)
        memcpy(copy->data, self->in.data, self->in.n);
    memset(copy->data + self->in.n, 0, n_bytes - self->in.n);
    bitstream *bits = stream_open(copy->data, n_bytes);
    if (bits == NULL)
        return zlgi_no_memory(self->err, WORD);
    zfp_stream_set_bit_stream(self->stream, bits);
    stream_rseek(bits, (bitstream_offset)self->n_header_bits);
    size_t n_read = zfp_decompress(self->stream, &self->field);
    stream_close(bits);
    zfp_stream_set_bit_stream(self->stream, NULL);
    if (n_read == 0)
        return zlgi_fail(self->err, ZLG_CORRUPT, "libzfp does not decode the stream");
    const size_t n_word = stream_word_bits / 8;
    if (n_read > (self->in.n + n_word - 1) / n_word * n_word || n_read + WORD <= self->in.n)
        return zlgi_fail(self->err, ZLG_CORRUPT, "%zu bytes are stored, the stream has %zu",
                         self->in.n, n_read);
    return ZLG_OK;
}

static zlg_status decode_with(decoder *self, zlgi_buf *copy, zlgi_buf *coded, zlgi_out *out)
{
    uint8_t *memory;
    ZLGI_TRY(self->zfp->has_header ? read_header(self) : use_configuration(self));
    ZLGI_TRY(zlgi_out_memory(out, self->from->n_bytes, &memory, self->err));
    if (is_ready(self->zfp, memory)) {
        ZLGI_TRY(decode_stream(self, copy, memory));
        return zlgi_out_done(out, self->from->n_bytes, self->err);
    }
    const size_t n = self->from->n_elements;
    ZLGI_TRY(
        zlgi_buf_reserve(coded, n * zlgi_type_bytes(self->zfp->coded), false, self->err));
    ZLGI_TRY(decode_stream(self, copy, coded->data));
    convert(self->zfp, true, coded->data, n, memory);
    return zlgi_out_done(out, self->from->n_bytes, self->err);
}

zlg_status zlgi_zfp_decode(const zlgi_zfp *zfp, zlgi_scratch *scratch,
                           const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                           zlg_error *err)
{
    if (from->n_elements == 0)
        return zlgi_out_done(out, 0, err);
    decoder self = {.zfp = zfp, .scratch = scratch, .from = from, .in = in, .err = err};
    self.stream = zfp_stream_open(NULL);
    if (self.stream == NULL)
        return zlgi_no_memory(err, sizeof *self.stream);
    zlgi_buf *copy = zlgi_scratch_push(scratch), *coded = zlgi_scratch_push(scratch);
    zlg_status status = decode_with(&self, copy, coded, out);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
    zfp_stream_close(self.stream);
    return status;
}

/* ---------------------------------------------------------------------- encode */
static zlg_status encode_with(const zlgi_zfp *zfp, zfp_stream *stream, zlgi_buf *coded,
                              const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                              zlg_error *err)
{
    zfp_field field;
    ZLGI_TRY(set_field(zfp, from, &field, err));
    ZLGI_TRY(set_mode(zfp, n_dims(&field), stream, err));
    field.data = (void *)(uintptr_t)in.data;
    if (!is_ready(zfp, in.data)) {
        size_t n_bytes = from->n_elements * zlgi_type_bytes(zfp->coded);
        ZLGI_TRY(zlgi_buf_reserve(coded, n_bytes, false, err));
        convert(zfp, false, in.data, from->n_elements, coded->data);
        field.data = coded->data;
    }
    size_t n_most = zfp_stream_maximum_size(stream, &field) + 2 * WORD;
    ZLGI_TRY(zlgi_buf_reserve(out, n_most, false, err));
    bitstream *bits = stream_open(out->data, n_most);
    if (bits == NULL)
        return zlgi_no_memory(err, WORD);
    zfp_stream_set_bit_stream(stream, bits);
    if (zfp->has_header)
        zfp_write_header(stream, &field, ZFP_HEADER_FULL);
    size_t n = zfp_compress(stream, &field);
    stream_close(bits);
    if (n == 0)
        return zlgi_fail(err, ZLG_USAGE, "libzfp does not encode the chunk");
    out->n = (n + WORD - 1) / WORD * WORD;
    memset(out->data + n, 0, out->n - n);
    return ZLG_OK;
}

zlg_status zlgi_zfp_encode(const zlgi_zfp *zfp, zlgi_scratch *scratch,
                           const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                           zlg_error *err)
{
    out->n = 0;
    if (from->n_elements == 0)
        return ZLG_OK;
    zfp_stream *stream = zfp_stream_open(NULL);
    if (stream == NULL)
        return zlgi_no_memory(err, sizeof *stream);
    zlgi_buf *coded = zlgi_scratch_push(scratch);
    zlg_status status = encode_with(zfp, stream, coded, from, in, out, err);
    zlgi_scratch_pop(scratch);
    zfp_stream_close(stream);
    return status;
}

#endif
