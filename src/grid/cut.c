/*
 * cut.c: selections made ready, and restricted to boxes. Integer arithmetic only; no
 * element is read or written here.
 *
 * Ready means: every position checked, ranges rising (a falling one walks its memory
 * backwards instead), lists sorted with the place of each entry beside it, lists that are
 * arithmetic turned into ranges, and blocks too; masks counted.
 */
#include "grid/grid.h"

static zlg_status check_rank(const zlgi_grid *grid, const zlg_selection *selection,
                             zlg_error *err)
{
    if (selection->rank != grid->rank)
        return zlgi_fail(err, ZLG_USAGE, "selection has %d axes, the array has %d",
                         selection->rank, grid->rank);
    return ZLG_OK;
}

/* Elements of blocks start .. start + count - 1 of an axis, clipped to its length. */
static zlg_status block_range(const zlgi_grid_axis *grid, const zlg_axis *block, int i_axis,
                              zlg_axis *out, zlg_error *err)
{
    if (block->list || (block->step != 1 && block->count > 1))
        return zlgi_fail(err, ZLG_USAGE, "axis %d: blocks are a range of step 1", i_axis);
    if (block->count < 0 || block->start < 0 ||
        block->start > grid->n_chunks - block->count)
        return zlgi_fail(err, ZLG_RANGE,
                         "axis %d: %lld blocks from %lld are outside the %lld of the grid",
                         i_axis, (long long)block->count, (long long)block->start,
                         (long long)grid->n_chunks);
    *out = (zlg_axis){.step = 1};
    if (block->count == 0)
        return ZLG_OK;
    int64_t last = block->start + block->count - 1;
    int64_t end = zlgi_grid_start(grid, last);
    int64_t edge = zlgi_grid_edge(grid, last);
    end = edge > grid->length - end ? grid->length : end + edge;
    out->start = zlgi_grid_start(grid, block->start);
    out->count = end - out->start;
    return ZLG_OK;
}

static zlg_status outside(zlg_error *err, int i_axis, int64_t index, int64_t length)
{
    return zlgi_fail(err, ZLG_RANGE, "axis %d: index %lld is outside 0..%lld", i_axis,
                     (long long)index, (long long)length - 1);
}

/* A range inside the axis. Whoever makes memory for its elements first asks this. */
static zlg_status check_range(const zlg_axis *axis, int i_axis, int64_t length,
                              zlg_error *err)
{
    int64_t last;
    if (axis->count < 0)
        return zlgi_fail(err, ZLG_USAGE, "axis %d: negative count", i_axis);
    if (axis->count == 0 || axis->list)
        return ZLG_OK;
    if (axis->step == 0)
        return zlgi_fail(err, ZLG_USAGE, "axis %d: step 0", i_axis);
    if (!zlgi_mul_i64(axis->count - 1, axis->step, &last) ||
        !zlgi_add_i64(last, axis->start, &last))
        last = -1;
    if (axis->start < 0 || axis->start >= length)
        return outside(err, i_axis, axis->start, length);
    return last < 0 || last >= length ? outside(err, i_axis, last, length) : ZLG_OK;
}

static zlg_status get_axis(const zlgi_grid *grid, const zlg_selection *selection, int i,
                           zlg_axis *out, zlg_error *err)
{
    if (!selection->axes) {
        *out = (zlg_axis){.start = 0, .step = 1, .count = grid->axis[i].length};
        return ZLG_OK;
    }
    if (selection->kind == ZLG_BLOCKS)
        return block_range(&grid->axis[i], &selection->axes[i], i, out, err);
    *out = selection->axes[i];
    return check_range(out, i, grid->axis[i].length, err);
}

static zlg_status mask_elements(const zlgi_grid *grid, int64_t *out, zlg_error *err)
{
    int64_t shape[ZLG_MAX_RANK];
    for (int i = 0; i < grid->rank; i++)
        shape[i] = grid->axis[i].length;
    if (!zlgi_product(shape, grid->rank, out))
        return zlgi_fail(err, ZLG_LIMIT, "the array has more than 2^63 elements");
    return ZLG_OK;
}

zlg_status zlgi_selection_shape(const zlgi_grid *grid, const zlg_selection *selection,
                                int *out_rank, int64_t *out_shape, zlg_error *err)
{
    static const zlg_selection everything = {.kind = ZLG_BOX};
    zlg_selection all = everything;
    all.rank = grid->rank;
    if (!selection)
        selection = &all;
    ZLGI_TRY(check_rank(grid, selection, err));
    switch (selection->kind) {
    case ZLG_BOX:
    case ZLG_BLOCKS:
        *out_rank = grid->rank;
        for (int i = 0; i < grid->rank; i++) {
            zlg_axis axis = {0};
            ZLGI_TRY(get_axis(grid, selection, i, &axis, err));
            out_shape[i] = axis.count;
        }
        return ZLG_OK;
    case ZLG_POINTS:
        if (selection->n_points < 0)
            return zlgi_fail(err, ZLG_USAGE, "negative number of points");
        *out_rank = 1;
        out_shape[0] = selection->n_points;
        return ZLG_OK;
    case ZLG_MASK: {
        int64_t n;
        ZLGI_TRY(mask_elements(grid, &n, err));
        *out_rank = 1;
        out_shape[0] = zlgi_count_set(selection->mask, n);
        return ZLG_OK;
    }
    }
    return zlgi_fail(err, ZLG_USAGE, "unknown kind of selection %d", (int)selection->kind);
}

typedef struct list_entry {
    int64_t index, place;
} list_entry;

static inline bool entry_is_less(const list_entry *a, const list_entry *b,
                                 const void *context)
{
    (void)context;
    return a->index != b->index ? a->index < b->index : a->place < b->place;
}

static inline bool goes_on(const void *context)
{
    zlgi_look *const *look = context;
    return zlgi_look_up(*look, 64); /* a part of what is sorted is many steps */
}
ZLGI_SORT_WHILE(sort_entries, list_entry, entry_is_less, goes_on)

static zlg_status check_indices(const int64_t *list, int64_t count, int i_axis,
                                int64_t length, zlgi_look *look, zlg_error *err)
{
    size_t i = 0, n = (size_t)count, end;
    while (i < n && zlgi_look_span(look, i, n, &end))
        for (; i < end; i++)
            if (list[i] < 0 || list[i] >= length)
                return outside(err, i_axis, list[i], length);
    return i < n ? ZLG_CANCELLED : ZLG_OK;
}

/* A list with one constant positive difference is a range: no table, no search. */
static bool is_arithmetic(const int64_t *list, int64_t count)
{
    if (count < 2)
        return true;
    int64_t step;
    if (__builtin_sub_overflow(list[1], list[0], &step) || step <= 0)
        return false;
    for (int64_t i = 2; i < count; i++)
        if (list[i] - list[i - 1] != step)
            return false;
    return true;
}

static zlg_status sort_list(zlgi_arena *arena, const int64_t *list, int64_t count,
                            zlgi_look *look, zlgi_use_axis *out, zlg_error *err)
{
    size_t n = (size_t)count;
    int64_t *place = zlgi_arena_get(arena, n * sizeof *place);
    if (!place)
        return zlgi_no_memory(err, n * sizeof *place);
    out->place = place;
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++)
        sorted = list[i] >= list[i - 1];
    if (sorted) {
        for (size_t i = 0; i < n; i++)
            place[i] = (int64_t)i;
        out->list = list;
        return ZLG_OK;
    }
    int64_t *copy = zlgi_arena_get(arena, n * sizeof *copy);
    list_entry *entries = zlgi_arena_get(arena, n * sizeof *entries);
    if (!copy || !entries)
        return zlgi_no_memory(err, n * sizeof *entries);
    for (size_t i = 0; i < n; i++)
        entries[i] = (list_entry){.index = list[i], .place = (int64_t)i};
    sort_entries(entries, n, &look);
    if (!zlgi_look_up(look, 0))
        return ZLG_CANCELLED;
    for (size_t i = 0; i < n; i++) {
        copy[i] = entries[i].index;
        place[i] = entries[i].place;
    }
    out->list = copy;
    return ZLG_OK;
}

static zlg_status make_axis(zlgi_arena *arena, const zlgi_grid_axis *grid, int i_axis,
                            const zlg_axis *axis, ptrdiff_t stride, zlgi_look *look,
                            zlgi_use *use, zlg_error *err)
{
    zlgi_use_axis *out = &use->axis[i_axis];
    *out = (zlgi_use_axis){
        .start = axis->start, .step = axis->step, .count = axis->count, .stride = stride};
    if (axis->count == 0) {
        out->start = 0, out->step = 1;
        return ZLG_OK;
    }
    if (axis->list) {
        ZLGI_TRY(check_indices(axis->list, axis->count, i_axis, grid->length, look, err));
        if (!is_arithmetic(axis->list, axis->count))
            return sort_list(arena, axis->list, axis->count, look, out, err);
        out->start = axis->list[0];
        out->step = axis->count > 1 ? axis->list[1] - axis->list[0] : 1;
        return ZLG_OK;
    }
    if (axis->count == 1)
        out->step = 1;
    if (out->step < 0) {
        out->start += (axis->count - 1) * out->step;
        out->step = -out->step;
        use->memory += (axis->count - 1) * stride;
        out->stride = -stride;
    }
    return ZLG_OK;
}

static zlg_status make_points(const zlgi_grid *grid, const int64_t *const *coordinates,
                              int64_t n_points, zlgi_look *look, zlgi_use *out,
                              zlg_error *err)
{
    out->kind = ZLGI_USE_POINTS;
    out->n_points = n_points;
    out->ids = NULL;
    for (int k = 0; k < grid->rank; k++) {
        ZLGI_TRY(
            check_indices(coordinates[k], n_points, k, grid->axis[k].length, look, err));
        out->axis[k] = (zlgi_use_axis){.list = coordinates[k]};
    }
    return ZLG_OK;
}

static zlg_status make_mask(zlgi_arena *arena, const zlgi_grid *grid, const uint8_t *bytes,
                            ptrdiff_t stride, zlgi_use *out, zlg_error *err)
{
    int64_t n;
    ZLGI_TRY(mask_elements(grid, &n, err));
    zlgi_mask *mask = zlgi_arena_get(arena, sizeof *mask);
    if (!mask)
        return zlgi_no_memory(err, sizeof *mask);
    ZLGI_TRY(zlgi_mask_make(arena, bytes, n, mask, err));
    mask->memory = out->memory;
    mask->stride = stride;
    out->kind = ZLGI_USE_MASK;
    out->mask = mask;
    out->memory = (uint8_t *)(uintptr_t)bytes; /* only read */
    ptrdiff_t step =
        n > 0; /* an array without elements may have any lengths beside the 0 */
    for (int k = grid->rank - 1; k >= 0; k--) {
        int64_t length = grid->axis[k].length;
        out->axis[k] = (zlgi_use_axis){.step = 1, .count = length, .stride = step};
        step *= n > 0 ? length : 0;
    }
    return ZLG_OK;
}

zlg_status zlgi_use_make(zlgi_arena *arena, const zlgi_grid *grid,
                         const zlg_selection *selection, void *memory,
                         const ptrdiff_t *strides, size_t item, zlgi_look *look,
                         zlgi_use *out, zlg_error *err)
{
    zlg_selection all = {.kind = ZLG_BOX, .rank = grid->rank};
    if (!selection)
        selection = &all;
    int rank;
    int64_t shape[ZLG_MAX_RANK], n;
    ZLGI_TRY(zlgi_selection_shape(grid, selection, &rank, shape, err));
    if (!zlgi_product(shape, rank, &n) || !zlgi_mul_i64(n, (int64_t)item, &n))
        return zlgi_fail(err, ZLG_LIMIT, "the selection has more than 2^63 bytes");
    if (!memory && n > 0)
        return zlgi_fail(err, ZLG_USAGE, "no memory is given for %lld bytes", (long long)n);
    ptrdiff_t own[ZLG_MAX_RANK];
    if (!strides && n > 0) {
        ptrdiff_t stride = (ptrdiff_t)item;
        for (int i = rank - 1; i >= 0; i--) {
            own[i] = stride;
            stride *= shape[i];
        }
    } else if (!strides) {
        memset(own, 0, sizeof own);
    }
    const ptrdiff_t *step = strides ? strides : own;
    out->rank = grid->rank;
    /* Nothing is placed where there are no bytes, but addresses are counted from it. */
    out->memory = memory ? memory : (uint8_t *)out;
    out->kind = ZLGI_USE_BOX;
    if (selection->kind == ZLG_MASK)
        return make_mask(arena, grid, selection->mask, step[0], out, err);
    if (selection->kind == ZLG_POINTS) {
        out->point_stride = step[0];
        return make_points(grid, selection->coordinates, shape[0], look, out, err);
    }
    for (int i = 0; i < rank; i++) {
        zlg_axis axis = {0};
        ZLGI_TRY(get_axis(grid, selection, i, &axis, err));
        ZLGI_TRY(make_axis(arena, &grid->axis[i], i, &axis, step[i], look, out, err));
    }
    return ZLG_OK;
}

void zlgi_use_halve(const zlgi_use *use, int i_axis, zlgi_use *low, zlgi_use *high)
{
    memcpy(low, use, zlgi_use_bytes(use->rank));
    memcpy(high, use, zlgi_use_bytes(use->rank));
    if (use->kind == ZLGI_USE_POINTS) {
        low->n_points /= 2;
        high->n_points -= low->n_points;
        high->ids += low->n_points;
        return;
    }
    zlgi_use_axis *a = &low->axis[i_axis], *b = &high->axis[i_axis];
    int64_t half = a->count / 2;
    b->count -= half;
    a->count = half;
    if (a->list) {
        b->list += half;
        b->place += half;
    } else {
        b->start += half * b->step;
        high->memory += half * b->stride;
    }
    zlgi_use_settle(low, i_axis);
    zlgi_use_settle(high, i_axis);
}

int64_t zlgi_use_count(const zlgi_use *use)
{
    if (use->kind == ZLGI_USE_POINTS)
        return use->n_points;
    if (use->kind == ZLGI_USE_MASK)
        return zlgi_mask_count(use);
    int64_t n = 1;
    for (int i = 0; i < use->rank; i++)
        n *= use->axis[i].count;
    return n;
}

/* ------------------------------------------------------------------ touched chunks */

/* Both positive. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return b == 1 ? a : (a - 1) / b + 1;
}

static int64_t element_at(const zlgi_use_axis *axis, int64_t k)
{
    return axis->list ? axis->list[k] - axis->base : axis->start + k * axis->step;
}

/* True when arithmetic tells the touched chunks, and no table is needed. */
static bool is_computed(const zlgi_use_axis *axis, const zlgi_grid_axis *grid)
{
    return !axis->list && (grid->chunk || axis->step == 1);
}

size_t zlgi_touched_room(const zlgi_use_axis *axis, const zlgi_grid_axis *grid)
{
    return is_computed(axis, grid) ? 0 : (size_t)ZLGI_MIN(axis->count, grid->n_chunks);
}

zlgi_touched zlgi_touched_make(const zlgi_use_axis *axis, const zlgi_grid_axis *grid,
                               int64_t *room)
{
    zlgi_touched touched = {.start = axis->start, .step = axis->step};
    if (axis->count == 0)
        return touched;
    if (is_computed(axis, grid)) {
        if (grid->chunk && axis->step > grid->chunk && axis->count > 1) {
            touched.chunk = grid->chunk;
            touched.n = axis->count;
            return touched;
        }
        int64_t last = element_at(axis, axis->count - 1);
        touched.first = zlgi_grid_find(grid, axis->start);
        touched.n = zlgi_grid_find(grid, last) - touched.first + 1;
        return touched;
    }
    for (int64_t k = 0; k < axis->count;) {
        int64_t chunk = zlgi_grid_find(grid, element_at(axis, k));
        int64_t end = zlgi_grid_start(grid, chunk) + zlgi_grid_edge(grid, chunk);
        room[touched.n++] = chunk;
        if (!axis->list)
            k += ceil_div(end - element_at(axis, k), axis->step);
        else
            while (k < axis->count && element_at(axis, k) < end)
                k++;
    }
    touched.table = room;
    return touched;
}

/* ------------------------------------------------------------------ restricting */

static int64_t lower_bound(const int64_t *list, int64_t n, int64_t value)
{
    int64_t low = 0;
    while (low < n) {
        int64_t middle = low + (n - low) / 2;
        if (list[middle] < value)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Field by field into out: a struct on its way through the stack would stall the store
 * buffer, and this runs once per axis of every inner chunk. */
static inline ptrdiff_t cut_axis(const zlgi_use_axis *axis, int64_t start, int64_t length,
                                 zlgi_use_axis *out)
{
    out->step = axis->step;
    out->stride = axis->stride;
    if (axis->list) {
        int64_t first = lower_bound(axis->list, axis->count, axis->base + start);
        int64_t end = first + lower_bound(axis->list + first, axis->count - first,
                                          axis->base + start + length);
        out->start = 0;
        out->list = axis->list + first;
        out->place = axis->place + first;
        out->count = end - first;
        out->base = axis->base + start;
        return 0;
    }
    int64_t first = start > axis->start ? ceil_div(start - axis->start, axis->step) : 0;
    int64_t end = start + length > axis->start
                      ? ceil_div(start + length - axis->start, axis->step)
                      : 0;
    end = ZLGI_MIN(end, axis->count);
    out->list = out->place = NULL;
    out->base = 0;
    out->count = end > first ? end - first : 0;
    if (out->count == 0)
        return 0;
    out->start = axis->start + first * axis->step - start;
    return first * axis->stride;
}

bool zlgi_use_cut(const zlgi_use *use, const int64_t *start, const int64_t *shape,
                  zlgi_use *out)
{
    out->rank = use->rank;
    out->kind = use->kind;
    out->memory = use->memory;
    out->swap = use->swap;
    for (int i = 0; i < use->rank; i++) {
        out->memory += cut_axis(&use->axis[i], start[i], shape[i], &out->axis[i]);
        if (out->axis[i].count == 0)
            return false;
        zlgi_use_settle(out, i);
    }
    if (use->kind != ZLGI_USE_MASK)
        return true;
    out->mask = use->mask;
    return zlgi_mask_any(out);
}

void zlgi_use_permute(zlgi_use *use, const int *order)
{
    zlgi_use_axis axis[ZLG_MAX_RANK];
    memcpy(axis, use->axis, (size_t)use->rank * sizeof *axis);
    for (int i = 0; i < use->rank; i++)
        use->axis[i] = axis[order[i]];
}
