/*
 * vlen-array: lists of numbers of any length, each behind its number of bytes (format.md
 * §16). In memory the numbers are native; where they are stored so, items are not copied.
 */
#include "codec/elements.h"
#include "codec/vlen.h"

static const zlgi_context_type kept_items = {zlgi_kept_make, zlgi_kept_destroy};

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    zlgi_elements *item = zlgi_arena_get(env->arena, sizeof *item);
    if (item == NULL)
        return zlgi_no_memory(err, sizeof *item);
    step->config = item;
    ZLGI_TRY(zlgi_elements_member(configuration, "dtype", false, NULL, env, item, err));
    const zlgi_dtype *dtype = step->from.dtype;
    if (dtype->type != ZLG_VLEN_ARRAY || dtype->part != item->dtype->type)
        return zlgi_fail(err, ZLG_METADATA, "it is for lists of %s, the elements are %s",
                         zlgi_type_name(item->dtype->type), zlgi_type_name(dtype->type));
    return ZLG_OK;
}

static zlg_status check_items(const zlgi_elements *item, zlg_status status,
                              const uint8_t *views, size_t n, zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        zlgi_view view;
        memcpy(&view, views + i * sizeof view, sizeof view);
        if (view.n % zlgi_elements_bytes(item) != 0)
            return zlgi_fail(err, status, "item %zu has %zu bytes, no whole number of %zu",
                             i, view.n, zlgi_elements_bytes(item));
    }
    return ZLG_OK;
}

/* Copies of the items into `memory`, bytes the other way round. */
static void swap_items(const zlgi_elements *item, const uint8_t *views, size_t n,
                       uint8_t *memory, uint8_t *out_views)
{
    const zlgi_elements plain = {.type = item->type, .n_bytes = item->n_bytes};
    for (size_t i = 0; i < n; i++) {
        zlgi_view view;
        memcpy(&view, views + i * sizeof view, sizeof view);
        zlgi_elements_convert(item, view.data, view.n / item->n_bytes, &plain, memory);
        view.data = memory;
        memory += view.n;
        memcpy(out_views + i * sizeof view, &view, sizeof view);
    }
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const zlgi_elements *item = step->config;
    const size_t n = from->n_elements;
    ZLGI_TRY(check_items(item, ZLG_USAGE, in.data, n, err));
    if (!item->swap)
        return zlgi_vlen_encode(from, in, out, err);
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        zlgi_view view;
        memcpy(&view, in.data + i * sizeof view, sizeof view);
        n_bytes += view.n;
    }
    zlgi_arena *arena = zlgi_kept(scratch, &kept_items);
    uint8_t *views = arena ? zlgi_arena_get(arena, in.n + n_bytes) : NULL;
    if (views == NULL)
        return zlgi_no_memory(err, in.n + n_bytes);
    swap_items(item, in.data, n, views + in.n, views);
    return zlgi_vlen_encode(from, (zlgi_bytes){views, in.n}, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const zlgi_elements *item = step->config;
    const size_t n = from->n_elements;
    ZLGI_TRY(zlgi_vlen_decode(from, in, out, err));
    ZLGI_TRY(check_items(item, ZLG_CORRUPT, out->result.data, n, err));
    if (!item->swap)
        return ZLG_OK;
    zlgi_arena *arena = zlgi_kept(scratch, &kept_items);
    uint8_t *memory = arena ? zlgi_arena_get(arena, in.n) : NULL;
    if (memory == NULL)
        return zlgi_no_memory(err, in.n);
    uint8_t *views = out->direct ? out->direct : out->buf->data;
    swap_items(item, views, n, memory, views);
    return ZLG_OK;
}

const zlgi_codec zlgi_codec_vlen_array = {
    .id = "vlen-array",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
