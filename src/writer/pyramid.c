/*
 * Arrays that are given the reduction of what another is given: zlg_writer_add_coarser.
 *
 * Each array has a list of coarser ones; each is in one list at most, and no list leads
 * back to its own array. So what one submit gives is a tree, with that array at its root.
 */
#include "writer/pyramid.h"

#include "writer/writer.h"

zlg_status zlgi_coarser_box(const zlgi_coarser *coarser, const int64_t *shape,
                            const int64_t *start, const int64_t *count, int64_t *out_start,
                            int64_t *out_count, zlg_error *err)
{
    for (int axis = 0; axis < coarser->rank; axis++) {
        int64_t factor = coarser->factors[axis], end = start[axis] + count[axis];
        if (start[axis] % factor != 0)
            return zlgi_fail(err, ZLG_USAGE,
                             "axis %d: what is given begins at %lld, no multiple of %lld, "
                             "the factor of the coarser array",
                             axis, (long long)start[axis], (long long)factor);
        if (end % factor != 0 && end != shape[axis])
            return zlgi_fail(err, ZLG_USAGE,
                             "axis %d: what is given ends at %lld, neither a multiple of "
                             "%lld, the factor of the coarser array, nor the end",
                             axis, (long long)end, (long long)factor);
        out_start[axis] = start[axis] / factor;
        out_count[axis] = (count[axis] + (factor - 1)) / factor;
    }
    return ZLG_OK;
}

void zlgi_coarser_reduce(const zlgi_coarser *coarser, const zlgi_dtype *dtype,
                         const int64_t *count, const zlg_source *source, void *out)
{
    zlgi_reduce(coarser->how, dtype, coarser->rank, coarser->factors, count, source, out);
}

/* Products that are too large are longer than any axis. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return zlgi_mul_i64(a, b, &product) ? product : INT64_MAX;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t divisor = a, rest = b;
    while (rest > 0) {
        int64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return times(a / divisor, b);
}

int64_t zlgi_coarser_unit(const zlg_writer *writer, int number, int axis)
{
    int64_t unit = 1;
    for (const zlgi_coarser *c = writer->fed[number]->coarser; c; c = c->next)
        unit = common_multiple(
            unit, times(c->factors[axis], zlgi_coarser_unit(writer, c->number, axis)));
    return unit;
}

void zlgi_coarser_free(const zlgi_alloc *alloc, zlgi_coarser *first)
{
    for (zlgi_coarser *next; first; first = next) {
        next = first->next;
        zlgi_free(alloc, first, sizeof *first);
    }
}

/* ------------------------------------------------------------------ adding */

/* The array that gives to another; -1: none. */
static int finer_of(const zlg_writer *writer, int number)
{
    for (int i = 0; i < writer->n_fed; i++)
        for (const zlgi_coarser *c = writer->fed[i]->coarser; c; c = c->next)
            if (c->number == number)
                return i;
    return -1;
}

static zlg_status check_place(const zlg_writer *writer, int fine, int coarse,
                              zlg_error *err)
{
    if (fine < 0 || fine >= writer->n_fed || coarse < 0 || coarse >= writer->n_fed)
        return zlgi_fail(err, ZLG_USAGE, "array %d of a writer with %d",
                         fine < 0 || fine >= writer->n_fed ? fine : coarse, writer->n_fed);
    if (finer_of(writer, coarse) >= 0)
        return zlgi_fail(err, ZLG_USAGE, "array %d is a coarser one of array %d already",
                         coarse, finer_of(writer, coarse));
    for (int above = fine; above >= 0; above = finer_of(writer, above))
        if (above == coarse)
            return zlgi_fail(err, ZLG_USAGE, "array %d would be coarser than itself",
                             coarse);
    if (writer->is_submitting)
        return zlgi_fail(err, ZLG_USAGE, "a submit is under way");
    return ZLG_OK;
}

static zlg_status check_shapes(const zlgi_fed *fine, const zlgi_fed *coarse,
                               const int64_t *factors, zlg_error *err)
{
    const zlgi_array_meta *of = &fine->array->meta, *to = &coarse->array->meta;
    int64_t n_window = 1;
    if (fine->growth.axis >= 0 || coarse->growth.axis >= 0)
        return zlgi_fail(err, ZLG_USAGE, "rows were appended before");
    if (of->rank != to->rank || !zlgi_same_type(of->dtype, to->dtype))
        return zlgi_fail(err, ZLG_USAGE, "a coarser array has the same axes and data type");
    for (int axis = 0; axis < of->rank; axis++) {
        int64_t factor = factors[axis];
        if (factor < 1 || !zlgi_mul_i64(n_window, factor, &n_window) ||
            n_window > ZLGI_REDUCE_WINDOW_MOST)
            return zlgi_fail(err, ZLG_USAGE,
                             "axis %d: a factor of %lld; windows have 1 to 2^31 elements",
                             axis, (long long)factor);
        int64_t length = of->shape[axis] / factor + (of->shape[axis] % factor != 0);
        if (to->shape[axis] != length)
            return zlgi_fail(err, ZLG_USAGE,
                             "axis %d: the coarser array is %lld long; %lld by a factor of "
                             "%lld makes %lld",
                             axis, (long long)to->shape[axis], (long long)of->shape[axis],
                             (long long)factor, (long long)length);
    }
    return ZLG_OK;
}

static zlg_status add_coarser(zlg_writer *writer, int fine, int coarse,
                              const int64_t *factors, zlg_reduce how, zlg_error *err)
{
    ZLGI_TRY(check_place(writer, fine, coarse, err));
    zlgi_fed *fed = writer->fed[fine];
    int rank = fed->array->meta.rank;
    ZLGI_TRY(check_shapes(fed, writer->fed[coarse], factors, err));
    ZLGI_TRY(zlgi_reduce_check(how, fed->array->meta.dtype, err));
    zlgi_coarser *added = zlgi_new(&writer->ctx->alloc, sizeof *added);
    if (!added)
        return zlgi_no_memory(err, sizeof *added);
    *added =
        (zlgi_coarser){.next = fed->coarser, .number = coarse, .rank = rank, .how = how};
    memcpy(added->factors, factors, (size_t)rank * sizeof *factors);
    fed->coarser = added;
    return ZLG_OK;
}

zlg_status zlg_writer_add_coarser(zlg_writer *writer, int fine, int coarse,
                                  const int64_t *factors, zlg_reduce how, zlg_error *err)
{
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    zlg_status status = add_coarser(writer, fine, coarse, factors, how, err);
    zlgi_writer_leave(writer);
    return status;
}
