/*
 * packbits of numcodecs: eight bool to a byte, the first in the highest bit, behind one
 * byte with the number of unused bits at the end (format.md §16). The codec of that name in
 * the version 3 registry is another one: packbits.c.
 */
#include "codec/bits.h"
#include "codec/codec.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    static const uint8_t zero = 0;
    const zlgi_dtype *holds = step->from.holds;
    (void)configuration;
    if (env->writing && step->from.dtype == NULL && holds && holds->n_bytes != 1)
        return zlgi_fail(err, ZLG_METADATA,
                         "it takes bool, and would keep one bit of each byte of %s",
                         zlgi_type_name(holds->type));
    step->to.item = 1;
    step->to.holds = NULL;
    if (step->from.dtype == NULL)
        return ZLG_OK;
    if (step->from.dtype->type != ZLG_BOOL)
        return zlgi_fail(err, ZLG_METADATA, "it takes bool, not %s",
                         zlgi_type_name(step->from.dtype->type));
    step->to.dtype = zlgi_dtype_plain(ZLG_UINT8);
    step->to.rank = 1;
    step->to.fill = (zlgi_fill){.data = &zero, .n = 1};
    return ZLG_OK;
}

static size_t packed_bytes(size_t n)
{
    return 1 + n / 8 + (n % 8 != 0);
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    (void)err;
    if (step->from.dtype != NULL)
        to->shape[0] = (int64_t)packed_bytes(from->n_elements);
    else if (from->n_bytes != ZLGI_UNKNOWN)
        to->n_bytes = packed_bytes(from->n_bytes);
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    const size_t n_bytes = packed_bytes(in.n);
    ZLGI_TRY(zlgi_buf_reserve(out, n_bytes, false, err));
    out->data[0] = (uint8_t)((8 - in.n % 8) % 8);
    zlgi_bits_pack(in.data, in.n, true, out->data + 1);
    out->n = n_bytes;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    if (in.n == 0)
        return zlgi_fail(err, ZLG_CORRUPT,
                         "there is no byte with the number of unused bits");
    const size_t n_unused = in.data[0];
    if (n_unused > 7 || (in.n == 1 && n_unused > 0))
        return zlgi_fail(err, ZLG_CORRUPT, "%zu unused bits of %zu bytes", n_unused,
                         in.n - 1);
    const size_t n = (in.n - 1) * 8 - n_unused;
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, n, &memory, err));
    zlgi_bits_unpack(in.data + 1, n, true, memory);
    return zlgi_out_done(out, n, err);
}

const zlgi_codec zlgi_codec_numcodecs_packbits = {
    .id = "packbits",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_ON_BYTES,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
