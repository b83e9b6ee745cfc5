/*
 * bytes: elements in C order, each word in a stated byte order (version 3 core, "bytes"
 * codec; format.md §7.1). In version 2 it is the step that no document names: every field
 * in the order its own dtype gives.
 *
 * Nearly always folded into the copy to the caller's memory; decode and encode here serve
 * chains in which another codec stands between.
 */
#include "codec/parts.h"

static zlg_status configure_v3(const zlgi_dtype *dtype, const zlgi_json *configuration,
                               const zlgi_codec_env *env, zlgi_swap *out, zlg_error *err)
{
    static const char *const choices[] = {"little", "big", NULL};
    int endian;
    ZLGI_TRY(zlgi_config_choice(configuration, "endian", choices, -1, &endian, err));
    if (endian < 0 && zlgi_dtype_has_order(dtype)) {
        /* The legacy spelling of struct was written without, and means little. */
        bool structured = dtype->v3_name && strcmp(dtype->v3_name, "structured") == 0;
        if (!structured && !env->no_endian)
            return zlgi_fail(
                err, ZLG_METADATA,
                "\"endian\" is missing, and an element has more than one byte");
        endian = 0;
    }
    return zlgi_swap_make(env->arena, dtype, false, endian == 1, out, err);
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    const zlgi_dtype *dtype = step->from.dtype;
    zlgi_bytes_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    step->to.item = dtype->n_bytes;
    step->to.holds = env->v2 ? dtype : NULL;
    config->normalize = zlgi_dtype_needs_normal(dtype);
    if (env->v2)
        return zlgi_swap_make(env->arena, dtype, true, false, &config->swap, err);
    return configure_v3(dtype, configuration, env, &config->swap, err);
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    (void)step, (void)err;
    to->n_bytes = from->n_bytes;
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const zlgi_bytes_config *config = step->config;
    (void)scratch;
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    ZLGI_TRY(zlgi_buf_append(out, in.data, in.n, err));
    zlgi_swap_apply(&config->swap, out->data, from->n_elements, step->from.dtype->n_bytes);
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const zlgi_bytes_config *config = step->config;
    (void)scratch;
    if (config->swap.width == 0 && !config->normalize)
        return zlgi_out_view(out, in.data, in.n, err);
    ZLGI_TRY(zlgi_out_copy(out, in.data, in.n, err));
    uint8_t *elements = out->direct ? out->direct : out->buf->data;
    zlgi_swap_apply(&config->swap, elements, from->n_elements, step->from.dtype->n_bytes);
    if (config->normalize)
        zlgi_dtype_normalize(step->from.dtype, elements, from->n_elements);
    return ZLG_OK;
}

const zlgi_codec zlgi_codec_bytes = {
    .name = "bytes",
    .alias = "endian",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_BYTES,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
