/*
 * plan.c: which objects a call touches, and which request wants what of each. Pure
 * arithmetic: no store is asked.
 */
#include "engine/job.h"

static inline zlg_status step(zlgi_plan *plan)
{
    return zlgi_look_up(&plan->look, 1) ? ZLG_OK : ZLG_CANCELLED;
}

static inline bool record_is_less(const zlgi_record *a, const zlgi_record *b,
                                  const void *context)
{
    (void)context;
    if (a->source != b->source)
        return a->source < b->source;
    return a->object != b->object ? a->object < b->object : a->request < b->request;
}

static bool goes_on_sorting(const void *context)
{
    zlgi_plan *const *plan = context;
    return zlgi_look_up(&(*plan)->look, 64); /* a part is many steps */
}
ZLGI_SORT_WHILE(sort_records, zlgi_record, record_is_less, goes_on_sorting)

/* Records name objects by ordinals, which must fit in 64 bits. */
static zlg_status count_chunks(const zlgi_grid *grid, int64_t *out, zlg_error *err)
{
    int64_t n_chunks[ZLG_MAX_RANK];
    for (int i = 0; i < grid->rank; i++)
        n_chunks[i] = grid->axis[i].n_chunks;
    if (!zlgi_product(n_chunks, grid->rank, out))
        return zlgi_fail(err, ZLG_LIMIT, "the grid has more than 2^63 chunks");
    return ZLG_OK;
}

/* ------------------------------------------------------------------ touched chunks */

static zlg_status touch(zlgi_plan *plan, size_t i_request, zlgi_touched *out,
                        uint64_t *n_objects, zlg_error *err)
{
    const zlgi_grid *grid = &plan->requests[i_request].source->grid;
    const zlgi_use *use = zlgi_plan_use(plan, i_request);
    *n_objects = 1;
    for (int i = 0; i < grid->rank; i++) {
        size_t room = zlgi_touched_room(&use->axis[i], &grid->axis[i]);
        int64_t *table = room ? zlgi_arena_get(&plan->arena, room * sizeof *table) : NULL;
        if (room && !table)
            return zlgi_no_memory(err, room * sizeof *table);
        out[i] = zlgi_touched_make(&use->axis[i], &grid->axis[i], table);
        *n_objects *= (uint64_t)out[i].n; /* at most the elements of the selection */
    }
    return ZLG_OK;
}

/* Coordinates of object k of a product of touched chunks, last axis fastest. */
static void touched_coordinates(const zlgi_touched *touched, int rank, uint64_t k,
                                int64_t *out)
{
    for (int i = rank - 1; i >= 0; i--) {
        uint64_t n = (uint64_t)touched[i].n;
        out[i] = zlgi_touched_at(&touched[i], (int64_t)(k % n));
        k /= n;
    }
}

/* Of a mask: whether it selects something in an object. */
static bool is_wanted(const zlgi_plan *plan, size_t i_request, const int64_t *coordinates)
{
    const zlgi_grid *grid = &plan->requests[i_request].source->grid;
    const zlgi_use *use = zlgi_plan_use(plan, i_request);
    if (use->kind != ZLGI_USE_MASK)
        return true;
    int64_t start[ZLG_MAX_RANK], shape[ZLG_MAX_RANK];
    for (int i = 0; i < grid->rank; i++) {
        start[i] = zlgi_grid_start(&grid->axis[i], coordinates[i]);
        shape[i] = zlgi_grid_edge(&grid->axis[i], coordinates[i]);
    }
    zlgi_use cut;
    return zlgi_use_cut(use, start, shape, &cut);
}

/* The objects in which a mask that is read alone selects something. */
static zlg_status choose_objects(zlgi_plan *plan, zlg_error *err)
{
    uint64_t n_most = (uint64_t)zlgi_use_count(zlgi_plan_use(plan, 0)), n = 0;
    size_t n_bytes = (size_t)ZLGI_MIN(n_most, plan->n_objects) * sizeof *plan->chosen;
    uint64_t *chosen = zlgi_arena_get(&plan->arena, n_bytes + 1);
    if (!chosen)
        return zlgi_no_memory(err, n_bytes);
    for (uint64_t k = 0; k < plan->n_objects && n < n_most; k++) {
        int64_t at[ZLG_MAX_RANK];
        ZLGI_TRY(step(plan));
        touched_coordinates(plan->touched, plan->requests[0].source->grid.rank, k, at);
        if (is_wanted(plan, 0, at))
            chosen[n++] = k;
    }
    plan->chosen = chosen;
    plan->n_objects = n;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ records */

static zlg_status add_record(zlgi_plan *plan, zlgi_record record, zlg_error *err)
{
    return zlgi_buf_append(&plan->record_buf, &record, sizeof record, err);
}

static zlg_status add_points(zlgi_plan *plan, zlgi_record record, int64_t n_chunks,
                             zlg_error *err)
{
    zlgi_use *use = zlgi_plan_use(plan, record.request);
    const zlgi_grid *grid = &plan->requests[record.request].source->grid;
    size_t n_bytes = (size_t)use->n_points * sizeof(int64_t);
    int64_t *ids = zlgi_arena_get(&plan->arena, n_bytes + 1);
    if (!ids)
        return zlgi_no_memory(err, n_bytes);
    zlgi_points points;
    if (!zlgi_points_sort(use, grid, 0, (uint64_t)n_chunks, ids, &plan->look, &points))
        return ZLG_CANCELLED;
    if (plan->n_requests == 1) /* there will be no others */
        ZLGI_TRY(zlgi_buf_reserve(&plan->record_buf, points.n_boxes * sizeof record, false,
                                  err));
    size_t first, n;
    while (zlgi_points_next(&points, &record.object, &first, &n)) {
        record.first_id = (int64_t)first;
        record.n_ids = (int64_t)n;
        ZLGI_TRY(step(plan));
        ZLGI_TRY(add_record(plan, record, err));
    }
    use->ids = ids;
    return ZLG_OK;
}

static zlg_status add_box(zlgi_plan *plan, zlgi_record record, zlg_error *err)
{
    const zlgi_grid *grid = &plan->requests[record.request].source->grid;
    zlgi_touched touched[ZLG_MAX_RANK];
    uint64_t n_objects;
    ZLGI_TRY(touch(plan, record.request, touched, &n_objects, err));
    for (uint64_t k = 0; k < n_objects; k++) {
        int64_t at[ZLG_MAX_RANK];
        ZLGI_TRY(step(plan));
        touched_coordinates(touched, grid->rank, k, at);
        record.object = zlgi_grid_ordinal(grid, at);
        if (is_wanted(plan, record.request, at))
            ZLGI_TRY(add_record(plan, record, err));
    }
    return ZLG_OK;
}

/* The first request with each source, by the address of the source: a call may read many
 * arrays, each of them many times. */
typedef struct source_table {
    uint32_t *slots; /* number of a request and 1; 0: free */
    size_t n_slots;  /* power of two, at least twice the requests */
} source_table;

static zlg_status make_table(zlgi_plan *plan, source_table *out, zlg_error *err)
{
    size_t n = 2;
    while (n < 2 * plan->n_requests)
        n *= 2;
    out->n_slots = n;
    out->slots = zlgi_arena_get(&plan->arena, n * sizeof *out->slots);
    if (!out->slots)
        return zlgi_no_memory(err, n * sizeof *out->slots);
    memset(out->slots, 0, n * sizeof *out->slots);
    return ZLG_OK;
}

static uint32_t first_with_source(const zlgi_plan *plan, const source_table *table,
                                  uint32_t i_request)
{
    const zlgi_source *source = plan->requests[i_request].source;
    uint64_t hash = (uint64_t)(uintptr_t)source * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = (size_t)(hash >> 32);; i++) {
        uint32_t *slot = &table->slots[i & (table->n_slots - 1)];
        if (*slot == 0)
            *slot = i_request + 1;
        if (plan->requests[*slot - 1].source == source)
            return *slot - 1;
    }
}

static zlg_status add_records(zlgi_plan *plan, zlg_error *err)
{
    source_table table;
    ZLGI_TRY(make_table(plan, &table, err));
    for (uint32_t i = 0; i < plan->n_requests; i++) {
        ZLGI_TRY(step(plan));
        zlgi_record record = {.request = i, .source = first_with_source(plan, &table, i)};
        int64_t n_chunks;
        ZLGI_TRY(count_chunks(&plan->requests[i].source->grid, &n_chunks, err));
        zlg_status status = zlgi_plan_use(plan, i)->kind == ZLGI_USE_POINTS
                                ? add_points(plan, record, n_chunks, err)
                                : add_box(plan, record, err);
        ZLGI_TRY(status);
    }
    return ZLG_OK;
}

static bool same_object(const zlgi_record *a, const zlgi_record *b)
{
    return a->object == b->object && a->source == b->source;
}

static zlg_status make_records(zlgi_plan *plan, zlg_error *err)
{
    ZLGI_TRY(add_records(plan, err));
    ZLGI_TRY(zlgi_buf_reserve(&plan->record_buf, 1, true, err)); /* never NULL */
    zlgi_record *records = (zlgi_record *)(void *)plan->record_buf.data;
    size_t n = plan->record_buf.n / sizeof *records, end;
    sort_records(records, n, &plan);
    for (size_t i = 0; i < n && zlgi_look_span(&plan->look, i, n, &end);)
        for (; i < end; i++)
            plan->n_objects += i == 0 || !same_object(&records[i], &records[i - 1]);
    size_t n_groups = 0, n_bytes = ((size_t)plan->n_objects + 1) * sizeof(size_t);
    size_t *groups = zlgi_arena_get(&plan->arena, n_bytes);
    if (!groups)
        return zlgi_no_memory(err, n_bytes);
    for (size_t i = 0; i < n && zlgi_look_span(&plan->look, i, n, &end);)
        for (; i < end; i++)
            if (i == 0 || !same_object(&records[i], &records[i - 1]))
                groups[n_groups++] = i;
    groups[n_groups] = n;
    plan->records = records;
    plan->groups = groups;
    return zlgi_look_up(&plan->look, 0) ? ZLG_OK : ZLG_CANCELLED;
}

/* ------------------------------------------------------------------ plan */

/* Of several. Whoever asks for one knows which. */
static zlg_status name_request(const zlgi_plan *plan, size_t i, zlg_status status,
                               zlg_error *err)
{
    const zlgi_source *source = plan->requests[i].source;
    if (plan->n_requests == 1 || status == ZLG_CANCELLED)
        return status;
    return zlgi_within(err, status, "%s: array %s: selection %zu", source->store->label,
                       *source->prefix ? source->prefix : "/", i);
}

static zlg_status fill_plan(zlgi_plan *plan, zlg_error *err)
{
    int rank = 0;
    for (size_t i = 0; i < plan->n_requests; i++)
        rank = ZLGI_MAX(rank, plan->requests[i].source->grid.rank);
    plan->n_bytes_use = zlgi_use_bytes(rank);
    size_t n_bytes;
    if (!zlgi_mul_size(plan->n_requests, plan->n_bytes_use, &n_bytes))
        return zlgi_no_memory(err, SIZE_MAX);
    plan->uses = zlgi_arena_get(&plan->arena, n_bytes);
    if (!plan->uses)
        return zlgi_no_memory(err, n_bytes);
    for (size_t i = 0; i < plan->n_requests; i++) {
        const zlgi_request *request = &plan->requests[i];
        ZLGI_TRY(step(plan));
        zlg_status status =
            zlgi_use_make(&plan->arena, &request->source->grid, request->selection,
                          request->memory, request->strides, request->source->item,
                          &plan->look, zlgi_plan_use(plan, i), err);
        if (status != ZLG_OK)
            return name_request(plan, i, status, err);
    }
    zlgi_use_kind kind = plan->n_requests ? zlgi_plan_use(plan, 0)->kind : ZLGI_USE_BOX;
    if (plan->n_requests != 1 || kind == ZLGI_USE_POINTS)
        return make_records(plan, err);
    ZLGI_TRY(touch(plan, 0, plan->touched, &plan->n_objects, err));
    return kind == ZLGI_USE_MASK ? choose_objects(plan, err) : ZLG_OK;
}

static bool job_goes_on(void *job)
{
    return !job || zlgi_job_goes_on(job);
}

zlg_status zlgi_plan_make(zlgi_plan *plan, zlgi_job *job, const zlgi_alloc *alloc,
                          const zlgi_request *requests, size_t n, zlg_error *err)
{
    memset(plan, 0, sizeof *plan);
    plan->look = (zlgi_look){.goes_on = job_goes_on, .user = job};
    zlgi_arena_init(&plan->arena, alloc);
    plan->requests = requests;
    plan->n_requests = n;
    zlgi_buf_init(&plan->record_buf, alloc);
    zlg_status status = fill_plan(plan, err);
    return status == ZLG_CANCELLED ? zlgi_job_end(job, err) : status;
}

void zlgi_plan_reset(zlgi_plan *plan)
{
    zlgi_arena_reset(&plan->arena);
    zlgi_buf_reset(&plan->record_buf);
}

void zlgi_plan_object(const zlgi_plan *plan, uint64_t k, zlgi_planned *out)
{
    size_t i_request = 0;
    out->records = NULL;
    out->n_records = 1;
    if (plan->records) {
        out->records = &plan->records[plan->groups[k]];
        out->n_records = plan->groups[k + 1] - plan->groups[k];
        i_request = out->records[0].request;
    }
    out->source = plan->requests[i_request].source;
    const zlgi_grid *grid = &out->source->grid;
    if (plan->records) {
        zlgi_grid_coordinates(grid, out->records[0].object, out->coordinates);
    } else {
        k = plan->chosen ? plan->chosen[k] : k;
        touched_coordinates(plan->touched, grid->rank, k, out->coordinates);
    }
    for (int i = 0; i < grid->rank; i++) {
        out->start[i] = zlgi_grid_start(&grid->axis[i], out->coordinates[i]);
        out->shape[i] = zlgi_grid_edge(&grid->axis[i], out->coordinates[i]);
    }
}

zlg_status zlgi_plan_key(const zlgi_source *source, const int64_t *coordinates,
                         char out[ZLGI_PATH_MAX], zlg_error *err)
{
    size_t n = strlen(source->prefix);
    if (n + 1 + ZLGI_KEY_MAX > ZLGI_PATH_MAX)
        return zlgi_fail(err, ZLG_LIMIT, "path of %zu bytes is too long", n);
    memcpy(out, source->prefix, n);
    if (n > 0)
        out[n++] = '/';
    return zlgi_key_make(&source->keys, source->grid.rank, coordinates, out + n, err);
}

const char *zlgi_plan_name(const zlgi_source *source, const char *key)
{
    size_t n = strlen(source->prefix);
    return key + n + (n > 0);
}
