/*
 * What the checksum codecs have in common: four little-endian bytes before or behind the
 * data (numcodecs "location"; format.md §16). The data is passed on as a view, not copied.
 */
#include "codec/parts.h"

enum { SUM_BYTES = 4 };

zlg_status zlgi_sum_configure(zlgi_step *step, const zlgi_json *configuration,
                              const zlgi_codec_env *env, bool at_start, zlg_error *err)
{
    static const char *const choices[] = {"end", "start", NULL};
    int location;
    zlgi_sum *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    ZLGI_TRY(
        zlgi_config_choice(configuration, "location", choices, at_start, &location, err));
    config->at_start = location == 1;
    return ZLG_OK;
}

zlg_status zlgi_sum_resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                            zlg_error *err)
{
    (void)step;
    if (from->n_bytes != ZLGI_UNKNOWN &&
        !zlgi_add_size(from->n_bytes, SUM_BYTES, &to->n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "more than 2^64 bytes");
    return ZLG_OK;
}

zlg_status zlgi_sum_split(bool at_start, zlgi_bytes in, zlgi_bytes *out_data,
                          uint32_t *out_stored, zlg_error *err)
{
    if (ZLGI_UNLIKELY(in.n < SUM_BYTES))
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for a checksum", in.n);
    size_t n = in.n - SUM_BYTES;
    *out_data = (zlgi_bytes){at_start ? in.data + SUM_BYTES : in.data, n};
    *out_stored = zlgi_load_u32le(at_start ? in.data : in.data + n);
    return ZLG_OK;
}

zlg_status zlgi_sum_join(bool at_start, zlgi_bytes data, uint32_t sum, zlgi_buf *out,
                         zlg_error *err)
{
    uint8_t stored[SUM_BYTES];
    zlgi_store_u32le(stored, sum);
    size_t n;
    if (!zlgi_add_size(data.n, SUM_BYTES, &n))
        return zlgi_no_memory(err, data.n);
    ZLGI_TRY(zlgi_buf_reserve(out, n, false, err));
    if (at_start)
        ZLGI_TRY(zlgi_buf_append(out, stored, SUM_BYTES, err));
    ZLGI_TRY(zlgi_buf_append(out, data.data, data.n, err));
    return at_start ? ZLG_OK : zlgi_buf_append(out, stored, SUM_BYTES, err);
}

zlg_status zlgi_sum_check(zlgi_bytes data, uint32_t computed, uint32_t stored,
                          zlgi_out *out, zlg_error *err)
{
    if (ZLGI_UNLIKELY(computed != stored))
        return zlgi_fail(err, ZLG_CORRUPT,
                         "the checksum of %zu bytes is %08x, stored is %08x", data.n,
                         computed, stored);
    return zlgi_out_view(out, data.data, data.n, err);
}
