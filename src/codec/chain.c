/*
 * Running a chain: the edges of a chunk shape, stored bytes to elements and back. Chains
 * are made in chain_parse.c. Knows no codec but by its table; order and byte order that
 * were folded away are the business of whoever places the elements.
 *
 * Decoding is a loop without allocation, copy or formatting of its own: a step writes
 * into the buffer that does not hold its input, or passes on a part of it.
 */
#include "codec/parts.h"

static const char *step_name(const zlgi_step *step)
{
    return step->codec->name ? step->codec->name : step->codec->id;
}

static zlg_status within_step(const zlgi_step *step, zlg_status status, zlg_error *err)
{
    return zlgi_within(err, status, "codec %s", step_name(step));
}

/* ------------------------------------------------------------------ layout */

/* Number of elements and bytes of a typed edge whose rank and shape are set. */
static zlg_status measure(const zlgi_edge_type *type, zlgi_edge *edge, zlg_error *err)
{
    int64_t n;
    if (!zlgi_product(edge->shape, edge->rank, &n) || (uint64_t)n > SIZE_MAX ||
        !zlgi_mul_size((size_t)n, zlgi_dtype_slot(type->dtype), &edge->n_bytes) ||
        edge->n_bytes > PTRDIFF_MAX)
        return zlgi_fail(err, ZLG_LIMIT, "a chunk of more than 2^63 bytes");
    edge->n_elements = (size_t)n;
    return ZLG_OK;
}

static zlg_status layout_step(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                              zlg_error *err)
{
    const bool typed = step->to.dtype != NULL;
    /* What holds unless the codec says otherwise. */
    if (typed) {
        memcpy(to->shape, from->shape, sizeof to->shape[0] * (size_t)from->rank);
        to->rank = step->to.rank < 0 ? from->rank : step->to.rank;
    }
    to->n_elements = 0;
    to->n_bytes = step->codec->kind == ZLGI_ARRAY_TO_ARRAY ? from->n_bytes : ZLGI_UNKNOWN;
    if (step->codec->resolve)
        ZLGI_TRY(step->codec->resolve(step, from, to, err));
    return typed ? measure(&step->to, to, err) : ZLG_OK;
}

/* All edges behind the first. */
static zlg_status layout_rest(const zlgi_chain *chain, zlgi_layout *out, zlg_error *err)
{
    for (int i = 0; i < chain->n_steps; i++) {
        const zlgi_step *step = &chain->step[i];
        zlg_status status = layout_step(step, &out->edge[i], &out->edge[i + 1], err);
        if (status != ZLG_OK)
            return within_step(step, status, err);
    }
    return ZLG_OK;
}

zlg_status zlgi_chain_layout(const zlgi_chain *chain, const int64_t *shape,
                             zlgi_layout *out, zlg_error *err)
{
    const zlgi_edge_type *from = &chain->step[0].from;
    out->edge[0].rank = from->rank;
    memcpy(out->edge[0].shape, shape, sizeof *shape * (size_t)from->rank);
    ZLGI_TRY(measure(from, &out->edge[0], err));
    return layout_rest(chain, out, err);
}

zlg_status zlgi_chain_layout_bytes(const zlgi_chain *chain, size_t n_bytes,
                                   zlgi_layout *out, zlg_error *err)
{
    out->edge[0].rank = 0;
    out->edge[0].n_elements = 0;
    out->edge[0].n_bytes = n_bytes;
    return layout_rest(chain, out, err);
}

/* ------------------------------------------------------------------ decode */

/*
 * Variable-length elements are views of bytes that lie in the buffer of `in` or beyond, so
 * a step from views to views (a transpose, say) must not write over the other buffer:
 * it writes elsewhere and the views are moved back.
 */
static zlg_status decode_views(const zlgi_step *step, zlgi_scratch *scratch,
                               const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                               zlg_error *err)
{
    if ((size_t)scratch->n_spare_used == ZLGI_COUNT(scratch->spare))
        return zlgi_fail(err, ZLG_LIMIT, "codecs are nested too deep");
    zlgi_out moved = {
        .expected = out->expected, .limit = out->limit, .buf = zlgi_scratch_push(scratch)};
    zlg_status status = step->codec->decode(step, scratch, from, in, &moved, err);
    if (status == ZLG_OK && moved.result.data != in.data && moved.result.n > 0)
        memcpy((uint8_t *)(uintptr_t)in.data, moved.result.data, moved.result.n);
    zlgi_scratch_pop(scratch);
    out->result = (zlgi_bytes){in.data, moved.result.n};
    return status;
}

static bool is_views(const zlgi_edge_type *type)
{
    return type->dtype && zlgi_dtype_is_varlen(type->dtype);
}

/* Whole chunks of fixed size are refused here when they are too short or too long, so
 * that an uncompressed one is checked too. */
static zlg_status wrong_stored_size(const zlgi_chain *chain, size_t n, size_t expected,
                                    zlg_error *err)
{
    zlg_status status =
        zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are stored, %zu expected", n, expected);
    return within_step(&chain->step[chain->n_steps - 1], status, err);
}

/* Steps n_steps - 1 down to i_last. */
static zlg_status decode_to(const zlgi_chain *chain, const zlgi_layout *layout,
                            zlgi_scratch *scratch, zlgi_bytes encoded, int i_last,
                            uint8_t *direct, zlgi_buf pair[2], zlgi_bytes *out,
                            zlg_error *err)
{
    const size_t limit = (size_t)scratch->limits->chunk_bytes;
    const size_t stored = layout->edge[chain->n_steps].n_bytes;
    if (ZLGI_UNLIKELY(stored != ZLGI_UNKNOWN && encoded.n != stored))
        return wrong_stored_size(chain, encoded.n, stored, err);
    zlgi_bytes in = encoded;
    int i_free = 0; /* the buffer that `in` does not lie in */
    for (int i = chain->n_steps - 1; i >= i_last; i--) {
        const zlgi_step *step = &chain->step[i];
        const zlgi_edge *edge = &layout->edge[i];
        zlgi_out result = {
            .direct = i == i_last ? direct : NULL,
            .expected = edge->n_bytes,
            .limit = limit,
            .buf = &pair[i_free],
        };
        zlg_status status;
        if (ZLGI_UNLIKELY(is_views(&step->to)))
            status = decode_views(step, scratch, edge, in, &result, err);
        else
            status = step->codec->decode(step, scratch, edge, in, &result, err);
        if (ZLGI_UNLIKELY(status != ZLG_OK))
            return within_step(step, status, err);
        in = result.result;
        if (in.data == pair[i_free].data)
            i_free ^= 1;
    }
    *out = in;
    return ZLG_OK;
}

zlg_status zlgi_chain_decode(const zlgi_chain *chain, const zlgi_layout *layout,
                             zlgi_scratch *scratch, zlgi_bytes encoded, uint8_t *direct,
                             zlgi_buf pair[2], zlgi_bytes *out, zlg_error *err)
{
    return decode_to(chain, layout, scratch, encoded, chain->n_folded, direct, pair, out,
                     err);
}

zlg_status zlgi_chain_unwrap(const zlgi_chain *chain, const zlgi_layout *layout,
                             zlgi_scratch *scratch, zlgi_bytes encoded, zlgi_buf pair[2],
                             zlgi_bytes *out, zlg_error *err)
{
    return decode_to(chain, layout, scratch, encoded, chain->i_bytes + 1, NULL, pair, out,
                     err);
}

size_t zlgi_chain_block_bytes(const zlgi_chain *chain, const zlgi_layout *layout,
                              zlgi_bytes encoded)
{
    const zlgi_step *step = &chain->step[chain->n_folded];
    if (chain->n_steps != chain->n_folded + 1 || !step->codec->block_bytes)
        return 0;
    return step->codec->block_bytes(step, &layout->edge[chain->n_folded], encoded);
}

zlg_status zlgi_chain_decode_blocks(const zlgi_chain *chain, zlgi_scratch *scratch,
                                    zlgi_bytes encoded, size_t offset, size_t n,
                                    uint8_t *out, zlg_error *err)
{
    const zlgi_step *step = &chain->step[chain->n_folded];
    zlg_status status =
        step->codec->decode_blocks(step, scratch, encoded, offset, n, out, err);
    return status == ZLG_OK ? ZLG_OK : within_step(step, status, err);
}

/* ------------------------------------------------------------------ encode */

zlg_status zlgi_chain_encode(const zlgi_chain *chain, const zlgi_layout *layout,
                             zlgi_scratch *scratch, zlgi_bytes decoded, zlgi_buf pair[2],
                             zlgi_bytes *out, zlg_error *err)
{
    zlgi_bytes in = decoded;
    int i_free = in.data == pair[0].data;
    for (int i = chain->n_folded; i < chain->n_steps; i++) {
        const zlgi_step *step = &chain->step[i];
        zlgi_buf *buf = &pair[i_free];
        if (!step->codec->encode) {
            zlg_status status = zlgi_fail(err, ZLG_UNSUPPORTED, "it can only be read");
            return within_step(step, status, err);
        }
        zlg_status status =
            step->codec->encode(step, scratch, &layout->edge[i], in, buf, err);
        if (status != ZLG_OK)
            return within_step(step, status, err);
        in = (zlgi_bytes){buf->data, buf->n};
        i_free ^= 1;
    }
    *out = in;
    return ZLG_OK;
}
