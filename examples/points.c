/*
 * Many selections of one array in a single call: each inner chunk is decoded once, however
 * many of them fall in it. The statistics of the call tell.
 *
 * Prints: 1000 points and a row: 100 chunks decoded
 */
#include <stdint.h>
#include <stdio.h>

#include "zellige.h"

enum { SIDE = 100, N_POINTS = 1000 };

static zlg_status run(zlg_ctx *ctx, zlg_store **store, zlg_array **array, zlg_error *err)
{
    static int32_t data[SIDE][SIDE], points[N_POINTS], row[SIDE];
    static int64_t rows[N_POINTS], columns[N_POINTS];
    const int64_t shape[2] = {SIDE, SIDE}, chunk[2] = {10, 10};
    for (int i = 0; i < SIDE * SIDE; i++)
        data[i / SIDE][i % SIDE] = i + 1;
    for (int i = 0; i < N_POINTS; i++) {
        rows[i] = i * 37 % SIDE;
        columns[i] = i / 10 % SIDE;
    }
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = chunk;
    spec.data_type = "int32";
    if (zlg_store_open_memory(ctx, store, err) ||
        zlg_array_create(*store, "", &spec, array, err) ||
        zlg_array_write(*array, NULL, &(zlg_source){.data = data}, NULL, err))
        return err->status;

    const int64_t *const coordinates[2] = {rows, columns};
    const zlg_selection some = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = N_POINTS};
    const zlg_axis axes[2] = {{.start = 7, .step = 1, .count = 1},
                              {.start = 0, .step = 1, .count = SIDE}};
    const zlg_selection one_row = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    const zlg_read reads[2] = {{*array, &some, {.data = points}},
                               {*array, &one_row, {.data = row}}};
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    if (zlg_read_many(reads, 2, &call, err))
        return err->status;
    for (int i = 0; i < N_POINTS; i++)
        if (points[i] != data[rows[i]][columns[i]])
            return ZLG_CORRUPT;
    printf("%d points and a row: %d chunks decoded\n", N_POINTS, (int)stats.n_chunks);
    return ZLG_OK;
}

int main(void)
{
    zlg_error err = {0};
    zlg_ctx *ctx = NULL;
    zlg_store *store = NULL;
    zlg_array *array = NULL;
    zlg_status status = zlg_ctx_new(NULL, &ctx, &err);
    if (status == ZLG_OK)
        status = run(ctx, &store, &array, &err);
    if (status != ZLG_OK)
        fprintf(stderr, "%s: %s\n", zlg_status_name(status), err.message);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    return zlg_status_exit_code(status);
}
