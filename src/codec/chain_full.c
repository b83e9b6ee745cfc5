/*
 * Whole chunks: a chain run to its end, with what was folded away carried out here. For
 * codecs that hold chains, and for chunks that are wanted as they are.
 */
#include "codec/parts.h"

static bool is_ordered(const zlgi_chain *chain, int rank)
{
    for (int i = 0; i < rank; i++)
        if (chain->order[i] != i)
            return false;
    return true;
}

/* From a buffer of edge n_folded to edge 0. */
static void unfold(const zlgi_chain *chain, const zlgi_edge *edge, const uint8_t *folded,
                   uint8_t *into)
{
    const zlgi_dtype *dtype = chain->step[0].from.dtype;
    const int rank = chain->step[0].from.rank;
    const size_t item = zlgi_dtype_slot(dtype);
    if (is_ordered(chain, rank)) {
        if (folded != into && edge->n_bytes > 0)
            memcpy(into, folded, edge->n_bytes);
        zlgi_swap_apply(&chain->swap, into, edge->n_elements, item);
    } else {
        ptrdiff_t here[ZLG_MAX_RANK], there[ZLG_MAX_RANK];
        zlgi_use use;
        zlgi_box_strides(rank, edge->shape, item, here);
        zlgi_box_folded_strides(chain, rank, edge->shape, item, there);
        zlgi_box_use(rank, edge->shape, into, here, &use);
        zlgi_place(&use, folded, there, item, &chain->swap);
    }
    if (chain->normalize)
        zlgi_dtype_normalize(dtype, into, edge->n_elements);
}

/* Two buffers of the scratch for a chain; false when the nesting is too deep for them. */
static bool push_pair(zlgi_scratch *scratch, zlgi_buf **out)
{
    if ((size_t)scratch->n_spare_used + 2 > ZLGI_COUNT(scratch->spare))
        return false;
    *out = zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch);
    return true;
}

static void pop_pair(zlgi_scratch *scratch)
{
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
}

static zlg_status too_deep(zlg_error *err)
{
    return zlgi_fail(err, ZLG_LIMIT, "codecs are nested too deep");
}

zlg_status zlgi_chain_decode_full_in(const zlgi_chain *chain, const zlgi_layout *layout,
                                     zlgi_scratch *scratch, zlgi_bytes encoded,
                                     uint8_t *into, zlgi_buf pair[2], zlg_error *err)
{
    const bool direct = is_ordered(chain, chain->step[0].from.rank);
    zlgi_bytes folded;
    ZLGI_TRY(zlgi_chain_decode(chain, layout, scratch, encoded, direct ? into : NULL, pair,
                               &folded, err));
    unfold(chain, &layout->edge[0], folded.data, into);
    return ZLG_OK;
}

zlg_status zlgi_chain_decode_full(const zlgi_chain *chain, const zlgi_layout *layout,
                                  zlgi_scratch *scratch, zlgi_bytes encoded, uint8_t *into,
                                  zlg_error *err)
{
    zlgi_buf *pair;
    if (!push_pair(scratch, &pair))
        return too_deep(err);
    zlg_status status =
        zlgi_chain_decode_full_in(chain, layout, scratch, encoded, into, pair, err);
    pop_pair(scratch);
    return status;
}

/* Edge n_folded of elements in C order; the result may be `decoded` itself. */
static zlg_status fold(const zlgi_chain *chain, const zlgi_edge *edge, zlgi_bytes decoded,
                       zlgi_buf *buf, zlgi_bytes *out, zlg_error *err)
{
    const int rank = chain->step[0].from.rank;
    const size_t item = zlgi_dtype_slot(chain->step[0].from.dtype);
    *out = decoded;
    if (is_ordered(chain, rank) && chain->swap.width == 0)
        return ZLG_OK;
    ptrdiff_t here[ZLG_MAX_RANK], there[ZLG_MAX_RANK];
    zlgi_use use;
    ZLGI_TRY(zlgi_buf_reserve(buf, edge->n_bytes, false, err));
    zlgi_box_strides(rank, edge->shape, item, here);
    zlgi_box_folded_strides(chain, rank, edge->shape, item, there);
    zlgi_box_use(rank, edge->shape, (uint8_t *)(uintptr_t)decoded.data, here, &use);
    zlgi_gather(&use, buf->data, there, item, &chain->swap);
    buf->n = edge->n_bytes;
    *out = (zlgi_bytes){buf->data, buf->n};
    return ZLG_OK;
}

static zlg_status encode_with(const zlgi_chain *chain, const zlgi_layout *layout,
                              zlgi_scratch *scratch, zlgi_bytes decoded, zlgi_buf pair[2],
                              zlgi_buf *out, zlg_error *err)
{
    zlgi_bytes folded, encoded;
    ZLGI_TRY(fold(chain, &layout->edge[0], decoded, &pair[0], &folded, err));
    ZLGI_TRY(zlgi_chain_encode(chain, layout, scratch, folded, pair, &encoded, err));
    ZLGI_TRY(zlgi_buf_reserve(out, encoded.n, false, err));
    return zlgi_buf_append(out, encoded.data, encoded.n, err);
}

zlg_status zlgi_chain_encode_full(const zlgi_chain *chain, const zlgi_layout *layout,
                                  zlgi_scratch *scratch, zlgi_bytes decoded, zlgi_buf *out,
                                  zlg_error *err)
{
    zlgi_buf *pair;
    if (!push_pair(scratch, &pair))
        return too_deep(err);
    zlg_status status = encode_with(chain, layout, scratch, decoded, pair, out, err);
    pop_pair(scratch);
    return status;
}
