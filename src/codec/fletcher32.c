/*
 * fletcher32: HDF5's form of the Fletcher sum, behind the data (numcodecs "fletcher32";
 * format.md §16). Two sums modulo 65535 over big-endian words of 16 bits; an odd byte at
 * the end is the high byte of a word.
 */
#include "codec/parts.h"

/* So many words can be added before a sum of sums passes 32 bits. */
enum { WORDS_PER_FOLD = 360 };

static uint32_t folded(uint32_t sum)
{
    return (sum & 0xffff) + (sum >> 16);
}

uint32_t zlgi_fletcher32(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t a = 0, b = 0;
    for (size_t n_words = n / 2; n_words > 0;) {
        size_t n_now = ZLGI_MIN(n_words, WORDS_PER_FOLD);
        n_words -= n_now;
        for (; n_now > 0; n_now--, p += 2) {
            a += (uint32_t)p[0] << 8 | p[1];
            b += a;
        }
        a = folded(a);
        b = folded(b);
    }
    if (n % 2) {
        a = folded(a + ((uint32_t)*p << 8));
        b = folded(b + a);
    }
    return folded(b) << 16 | folded(a);
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    (void)step, (void)configuration, (void)env, (void)err;
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    return zlgi_sum_join(false, in, zlgi_fletcher32(in.data, in.n), out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    zlgi_bytes data;
    uint32_t stored;
    (void)step, (void)scratch, (void)from;
    ZLGI_TRY(zlgi_sum_split(false, in, &data, &stored, err));
    return zlgi_sum_check(data, zlgi_fletcher32(data.data, data.n), stored, out, err);
}

const zlgi_codec zlgi_codec_fletcher32 = {
    .id = "fletcher32",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .resolve = zlgi_sum_resolve,
    .encode = encode,
    .decode = decode,
};
