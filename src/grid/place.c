/*
 * place.c: the strided copy between a unit (the decoded box of a chunk) and the caller's
 * memory, in both directions, with the byte order changed on the way.
 *
 * A use becomes a short list of loops. Axes of one element disappear; neighbours that
 * continue each other on both sides become one; the loop whose destination steps are
 * smallest goes innermost. The two innermost loops are a kernel chosen by what an element
 * and a row look like; everything above is an odometer.
 */
#include "grid/grid.h"

typedef struct loop {
    int64_t n;
    ptrdiff_t to, from;                 /* bytes per step */
    const int64_t *to_list, *from_list; /* not NULL: step k is at list[k] * to (or from) */
} loop;

typedef struct copy {
    uint8_t *to;
    const uint8_t *from;
    int n_loops;
    loop loops[ZLG_MAX_RANK];
} copy;

/* Copies n elements; to and from are bytes per step. */
typedef void (*row_fn)(uint8_t *to, const uint8_t *from, int64_t n, ptrdiff_t to_step,
                       ptrdiff_t from_step, const void *context);

/* ------------------------------------------------------------------ rows */

/* The size is a constant in each instance, so memcpy becomes one load and one store. */
#define STRIDED_ROW(name, type, convert)                                                   \
    static void name(uint8_t *to, const uint8_t *from, int64_t n, ptrdiff_t to_step,       \
                     ptrdiff_t from_step, const void *context)                             \
    {                                                                                      \
        (void)context;                                                                     \
        if (to_step == (ptrdiff_t)sizeof(type) && from_step == (ptrdiff_t)sizeof(type)) {  \
            for (int64_t i = 0; i < n; i++) {                                              \
                type v;                                                                    \
                memcpy(&v, from + i * (ptrdiff_t)sizeof v, sizeof v);                      \
                v = convert(v);                                                            \
                memcpy(to + i * (ptrdiff_t)sizeof v, &v, sizeof v);                        \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        if (to_step == (ptrdiff_t)sizeof(type)) {                                          \
            for (int64_t i = 0; i < n; i++) {                                              \
                type v;                                                                    \
                memcpy(&v, from + i * from_step, sizeof v);                                \
                v = convert(v);                                                            \
                memcpy(to + i * (ptrdiff_t)sizeof v, &v, sizeof v);                        \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                  \
            type v;                                                                        \
            memcpy(&v, from + i * from_step, sizeof v);                                    \
            v = convert(v);                                                                \
            memcpy(to + i * to_step, &v, sizeof v);                                        \
        }                                                                                  \
    }

typedef struct pair16 {
    uint64_t low, high;
} pair16;
#define KEEP(v) (v)
STRIDED_ROW(row_1, uint8_t, KEEP)
STRIDED_ROW(row_2, uint16_t, KEEP)
STRIDED_ROW(row_4, uint32_t, KEEP)
STRIDED_ROW(row_8, uint64_t, KEEP)
STRIDED_ROW(row_16, pair16, KEEP)
STRIDED_ROW(row_swap_2, uint16_t, __builtin_bswap16)
STRIDED_ROW(row_swap_4, uint32_t, __builtin_bswap32)
STRIDED_ROW(row_swap_8, uint64_t, __builtin_bswap64)

typedef struct any_element {
    size_t item;
    const zlgi_swap *swap; /* NULL: none */
} any_element;

static void row_any(uint8_t *to, const uint8_t *from, int64_t n, ptrdiff_t to_step,
                    ptrdiff_t from_step, const void *context)
{
    const any_element *element = context;
    size_t item = element->item;
    if (to_step == (ptrdiff_t)item && from_step == (ptrdiff_t)item) {
        memcpy(to, from, (size_t)n * item);
        if (element->swap)
            zlgi_swap_apply(element->swap, to, (size_t)n, item);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(to + i * to_step, from + i * from_step, item);
        if (element->swap)
            zlgi_swap_apply(element->swap, to + i * to_step, 1, item);
    }
}

typedef struct view_copier {
    zlgi_arena *arena;
    bool *failed;
} view_copier;

static void row_views(uint8_t *to, const uint8_t *from, int64_t n, ptrdiff_t to_step,
                      ptrdiff_t from_step, const void *context)
{
    const view_copier *copier = context;
    for (int64_t i = 0; i < n && !*copier->failed; i++) {
        zlgi_view view;
        memcpy(&view, from + i * from_step, sizeof view);
        if (view.n > 0) {
            uint8_t *bytes = zlgi_arena_get(copier->arena, view.n);
            *copier->failed = !bytes;
            if (!bytes)
                return;
            memcpy(bytes, view.data, view.n);
            view.data = bytes;
        }
        memcpy(to + i * to_step, &view, sizeof view);
    }
}

/* ------------------------------------------------------------------ planes
 *
 * Rows of equal, contiguous bytes are the usual case. A call of memcpy per 64-byte row
 * costs more than the copy, hence the constant sizes.
 */
#define FIXED_ROWS(bytes)                                                                  \
    case bytes:                                                                            \
        for (int64_t i = 0; i < rows->n; i++)                                              \
            memcpy(to + i * rows->to, from + i * rows->from, bytes);                       \
        return

static void copy_rows(uint8_t *to, const uint8_t *from, const loop *rows, size_t n_bytes)
{
    switch (n_bytes) {
        FIXED_ROWS(4);
        FIXED_ROWS(8);
        FIXED_ROWS(16);
        FIXED_ROWS(32);
        FIXED_ROWS(64);
        FIXED_ROWS(128);
        FIXED_ROWS(256);
    default:
        for (int64_t i = 0; i < rows->n; i++)
            memcpy(to + i * rows->to, from + i * rows->from, n_bytes);
    }
}

static inline uint8_t *step_to(uint8_t *to, const loop *l, int64_t k)
{
    return to + (l->to_list ? l->to_list[k] : k) * l->to;
}

static inline const uint8_t *step_from(const uint8_t *from, const loop *l, int64_t k)
{
    return from + (l->from_list ? l->from_list[k] : k) * l->from;
}

/* Runs loops[0..n_loops) with a row kernel for the last one. */
static void run_loops(const copy *c, row_fn row, const void *context, size_t contiguous)
{
    const loop *last = &c->loops[c->n_loops - 1];
    int n_outer = c->n_loops - 1;
    bool lists = last->to_list || last->from_list;
    const loop *rows = NULL;
    if (contiguous && n_outer > 0 && !c->loops[n_outer - 1].to_list &&
        !c->loops[n_outer - 1].from_list)
        rows = &c->loops[--n_outer];
    int64_t at[ZLG_MAX_RANK] = {0};
    for (;;) {
        uint8_t *to = c->to;
        const uint8_t *from = c->from;
        for (int i = 0; i < n_outer; i++) {
            to = step_to(to, &c->loops[i], at[i]);
            from = step_from(from, &c->loops[i], at[i]);
        }
        if (rows)
            copy_rows(to, from, rows, contiguous);
        else if (!lists)
            row(to, from, last->n, last->to, last->from, context);
        else
            for (int64_t k = 0; k < last->n; k++)
                row(step_to(to, last, k), step_from(from, last, k), 1, last->to, last->from,
                    context);
        int i = n_outer - 1;
        while (i >= 0 && ++at[i] == c->loops[i].n)
            at[i--] = 0;
        if (i < 0)
            return;
    }
}

/* ------------------------------------------------------------------ loops */

static ptrdiff_t magnitude(const loop *l)
{
    return l->to < 0 ? -l->to : l->to;
}

/* Destination steps fall from the outside in; lists keep their order among themselves. */
static void order_loops(copy *c)
{
    for (int i = 1; i < c->n_loops; i++)
        for (int k = i; k > 0 && magnitude(&c->loops[k - 1]) < magnitude(&c->loops[k]);
             k--) {
            loop swapped = c->loops[k];
            c->loops[k] = c->loops[k - 1];
            c->loops[k - 1] = swapped;
        }
}

static void merge_loops(copy *c)
{
    int n = 0;
    for (int i = 0; i < c->n_loops; i++) {
        loop *inner = &c->loops[i], *outer = n > 0 ? &c->loops[n - 1] : NULL;
        if (outer && !outer->to_list && !inner->to_list && !outer->from_list &&
            !inner->from_list && outer->to == inner->n * inner->to &&
            outer->from == inner->n * inner->from) {
            inner->n *= outer->n;
            *outer = *inner;
        } else {
            c->loops[n++] = *inner;
        }
    }
    c->n_loops = n;
}

static row_fn choose_row(size_t item, const zlgi_swap *swap)
{
    if (swap && swap->width) {
        if (swap->width == item && item == 2)
            return row_swap_2;
        if (swap->width == item && item == 4)
            return row_swap_4;
        if (swap->width == item && item == 8)
            return row_swap_8;
        return row_any;
    }
    switch (item) {
    case 1:
        return row_1;
    case 2:
        return row_2;
    case 4:
        return row_4;
    case 8:
        return row_8;
    case 16:
        return row_16;
    default:
        return row_any;
    }
}

static void run_copy(copy *c, size_t item, const zlgi_swap *swap)
{
    bool swapped = swap && swap->width;
    order_loops(c);
    merge_loops(c);
    if (c->n_loops == 0)
        c->loops[c->n_loops++] =
            (loop){.n = 1, .to = (ptrdiff_t)item, .from = (ptrdiff_t)item};
    const loop *last = &c->loops[c->n_loops - 1];
    any_element element = {.item = item, .swap = swapped ? swap : NULL};
    row_fn row = choose_row(item, swap);
    size_t contiguous = 0;
    if (!last->to_list && !last->from_list && last->to == (ptrdiff_t)item &&
        last->from == (ptrdiff_t)item) {
        row = swapped ? row : row_any;
        contiguous = swapped ? 0 : (size_t)last->n * item;
    }
    run_loops(c, row, &element, contiguous);
}

/* The loops of a box; `to_memory` tells which side is the unit. */
static void make_loops(const zlgi_use *use, const uint8_t *unit, const ptrdiff_t *strides,
                       bool to_memory, copy *c)
{
    ptrdiff_t start = 0;
    c->n_loops = 0;
    for (int i = 0; i < use->rank; i++) {
        const zlgi_use_axis *axis = &use->axis[i];
        loop l = {.n = axis->count, .to = axis->stride, .from = axis->step * strides[i]};
        if (axis->list) {
            start -= axis->base * strides[i];
            l.from = strides[i];
            l.to_list = axis->place;
            l.from_list = axis->list;
        } else {
            start += axis->start * strides[i];
        }
        if (axis->count == 1)
            continue;
        if (!to_memory)
            l = (loop){.n = l.n,
                       .to = l.from,
                       .from = l.to,
                       .to_list = l.from_list,
                       .from_list = l.to_list};
        c->loops[c->n_loops++] = l;
    }
    c->to = to_memory ? use->memory : (uint8_t *)(uintptr_t)(unit + start);
    c->from = to_memory ? unit + start : use->memory;
}

/* ------------------------------------------------------------------ gathers */

/* Elements one by one, or in runs, in either direction. */
typedef struct gather {
    row_fn row;
    const void *context;
    uint8_t *memory, *unit;
    ptrdiff_t stride; /* of memory */
    bool to_memory;
} gather;

static void gather_run(void *context, int64_t k, int64_t n, ptrdiff_t offset,
                       ptrdiff_t step)
{
    const gather *g = context;
    uint8_t *memory = g->memory + k * g->stride;
    if (g->to_memory)
        g->row(memory, g->unit + offset, n, g->stride, step, g->context);
    else
        g->row(g->unit + offset, memory, n, step, g->stride, g->context);
}

static ptrdiff_t point_offset(const zlgi_use *use, const ptrdiff_t *strides, int64_t id)
{
    ptrdiff_t offset = 0;
    for (int k = 0; k < use->rank; k++)
        offset += (use->axis[k].list[id] - use->axis[k].base) * strides[k];
    return offset;
}

/* Points or a mask; `to_memory` tells which side is the unit. */
static void run_gather(const zlgi_use *use, const uint8_t *unit, const ptrdiff_t *strides,
                       bool to_memory, row_fn row, const void *context)
{
    gather g = {.row = row,
                .context = context,
                .memory = use->memory,
                .unit = (uint8_t *)(uintptr_t)unit,
                .stride = use->point_stride,
                .to_memory = to_memory};
    if (use->kind == ZLGI_USE_MASK) {
        g.memory = use->mask->memory;
        g.stride = use->mask->stride;
        zlgi_mask_runs(use, strides, gather_run, &g);
        return;
    }
    for (int64_t i = 0; i < use->n_points; i++)
        gather_run(&g, use->ids[i], 1, point_offset(use, strides, use->ids[i]), 0);
}

/* ------------------------------------------------------------------ both directions */

static void copy_elements(const zlgi_use *use, const uint8_t *unit,
                          const ptrdiff_t *strides, bool to_memory, size_t item,
                          const zlgi_swap *swap)
{
    if (use->kind == ZLGI_USE_BOX) {
        copy c;
        make_loops(use, unit, strides, to_memory, &c);
        run_copy(&c, item, swap);
        return;
    }
    any_element element = {.item = item, .swap = swap && swap->width ? swap : NULL};
    run_gather(use, unit, strides, to_memory, choose_row(item, swap), &element);
}

void zlgi_place(const zlgi_use *use, const uint8_t *unit, const ptrdiff_t *unit_strides,
                size_t item, const zlgi_swap *swap)
{
    copy_elements(use, unit, unit_strides, true, item, swap);
}

void zlgi_gather(const zlgi_use *use, uint8_t *unit, const ptrdiff_t *unit_strides,
                 size_t item, const zlgi_swap *swap)
{
    copy_elements(use, unit, unit_strides, false, item, swap);
}

bool zlgi_place_views(const zlgi_use *use, const uint8_t *unit,
                      const ptrdiff_t *unit_strides, zlgi_arena *arena)
{
    bool failed = false;
    view_copier copier = {.arena = arena, .failed = &failed};
    if (use->kind != ZLGI_USE_BOX) {
        run_gather(use, unit, unit_strides, true, row_views, &copier);
        return !failed;
    }
    copy c;
    make_loops(use, unit, unit_strides, true, &c);
    if (c.n_loops == 0)
        c.loops[c.n_loops++] = (loop){.n = 1};
    run_loops(&c, row_views, &copier, 0);
    return !failed;
}

/* ------------------------------------------------------------------ memory alone */

static void row_same_byte(uint8_t *to, const uint8_t *from, int64_t n, ptrdiff_t to_step,
                          ptrdiff_t from_step, const void *context)
{
    const any_element *element = context;
    (void)from_step;
    if (to_step == (ptrdiff_t)element->item) {
        memset(to, *from, (size_t)n * element->item);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memset(to + i * to_step, *from, element->item);
}

/* Runs a row kernel over the memory of a use alone: `from` stands still. */
static void run_memory(const zlgi_use *use, const uint8_t *from, row_fn row,
                       const void *context)
{
    static const ptrdiff_t still[ZLG_MAX_RANK];
    if (use->kind != ZLGI_USE_BOX) {
        run_gather(use, from, still, true, row, context);
        return;
    }
    copy c;
    make_loops(use, from, still, true, &c);
    c.from = from;
    order_loops(&c);
    merge_loops(&c);
    if (c.n_loops == 0)
        c.loops[c.n_loops++] = (loop){.n = 1};
    run_loops(&c, row, context, 0);
}

void zlgi_place_fill(const zlgi_use *use, const uint8_t *value, size_t item)
{
    bool same = true;
    for (size_t i = 1; i < item && same; i++)
        same = value[i] == value[0];
    any_element element = {.item = item};
    run_memory(use, value, same ? row_same_byte : choose_row(item, NULL), &element);
}

static void row_normal(uint8_t *to, const uint8_t *from, int64_t n, ptrdiff_t to_step,
                       ptrdiff_t from_step, const void *context)
{
    const zlgi_dtype *dtype = context;
    (void)from, (void)from_step;
    if (to_step == (ptrdiff_t)dtype->n_bytes) {
        zlgi_dtype_normalize(dtype, to, (size_t)n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        zlgi_dtype_normalize(dtype, to + i * to_step, 1);
}

void zlgi_place_normal(const zlgi_use *use, const zlgi_dtype *dtype)
{
    run_memory(use, use->memory, row_normal, dtype);
}

/* ------------------------------------------------------------------ questions */

bool zlgi_use_matches(const zlgi_use *use, const int64_t *shape,
                      const ptrdiff_t *unit_strides)
{
    if (use->kind != ZLGI_USE_BOX)
        return false;
    for (int i = 0; i < use->rank; i++) {
        const zlgi_use_axis *axis = &use->axis[i];
        if (axis->list || axis->start != 0 || axis->step != 1 || axis->count != shape[i])
            return false;
        if (axis->count != 1 && axis->stride != unit_strides[i])
            return false;
    }
    return true;
}

bool zlgi_all_equal(const uint8_t *elements, size_t n, const uint8_t *value, size_t item)
{
    if (n == 0 || item == 0)
        return true;
    /* The first element is compared with the value, and the rest with what lies one
     * element before it: one memcmp does both loops, and stops early. */
    return memcmp(elements, value, item) == 0 &&
           memcmp(elements, elements + item, (n - 1) * item) == 0;
}
