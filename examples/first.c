/*
 * A sharded array in memory, written whole, and a box of it read back.
 *
 *     cc examples/first.c $(pkg-config --cflags --libs zellige) -o first && ./first
 *
 * Prints: the box starts with 2010 2012 2014
 */
#include <stdint.h>
#include <stdio.h>

#include "zellige.h"

enum { ROWS = 100, COLUMNS = 100 };

static zlg_status run(zlg_ctx *ctx, zlg_store **store, zlg_array **array, zlg_error *err)
{
    static int32_t data[ROWS][COLUMNS];
    const int64_t shape[2] = {ROWS, COLUMNS}, shard[2] = {50, 50}, chunk[2] = {10, 10};
    const char *const names[2] = {"row", "column"};
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            data[i][k] = i * COLUMNS + k;

    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = shard;
    spec.chunk_shape = chunk;
    spec.data_type = "int32";
    spec.dimension_names = names;
    if (zlg_store_open_memory(ctx, store, err) ||
        zlg_array_create(*store, "numbers", &spec, array, err) ||
        zlg_array_write(*array, NULL, &(zlg_source){.data = data}, NULL, err))
        return err->status;

    /* Rows 20 to 24, every second column from 10 on, three of them. */
    int32_t box[5][3];
    const zlg_axis axes[2] = {{.start = 20, .step = 1, .count = 5},
                              {.start = 10, .step = 2, .count = 3}};
    const zlg_selection selection = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    const zlg_target target = {.data = box};
    if (zlg_array_read(*array, &selection, &target, NULL, err))
        return err->status;
    printf("the box starts with %d %d %d\n", (int)box[0][0], (int)box[0][1],
           (int)box[0][2]);
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
