/*
 * Chunks as they come. A function adds up each chunk when it is decoded, and nothing is
 * placed in memory; then some chunks move to another array as they are stored.
 *
 * Prints: 100 chunks add up to 50005000; of 25 that moved, to 6188750
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "zellige.h"

enum { SIDE = 100, CHUNK = 10, N_MOVED = 25 };

typedef struct sums {
    atomic_llong n_chunks, sum;
} sums;

/* On any thread, and on several at once. */
static zlg_status add_up(void *user, zlg_read_chunk *chunk, zlg_error *err)
{
    sums *into = user;
    const int32_t *elements = chunk->bytes;
    long long sum = 0;
    (void)err;
    for (size_t i = 0; i < chunk->n_bytes / sizeof *elements; i++)
        sum += elements[i];
    atomic_fetch_add(&into->sum, sum);
    atomic_fetch_add(&into->n_chunks, 1);
    chunk->placed = 1;
    return ZLG_OK;
}

static zlg_status sum_of(zlg_array *array, sums *into, zlg_error *err)
{
    static int32_t untouched[SIDE][SIDE];
    zlg_call call = ZLG_CALL_INIT;
    call.transform = add_up;
    call.transform_user = into;
    return zlg_array_read(array, NULL, &(zlg_target){.data = untouched}, &call, err);
}

static zlg_status move(zlg_array *from, zlg_array *to, zlg_error *err)
{
    int64_t at[N_MOVED][2];
    zlg_varlen stored;
    zlg_encoded chunks[N_MOVED];
    for (int i = 0; i < N_MOVED; i++) {
        at[i][0] = i / 5;
        at[i][1] = i % 5;
    }
    if (zlg_array_read_encoded(from, at[0], N_MOVED, &stored, NULL, NULL, err))
        return err->status;
    for (int i = 0; i < N_MOVED; i++)
        chunks[i] = (zlg_encoded){at[i], stored.bytes + stored.offsets[i],
                                  (size_t)(stored.offsets[i + 1] - stored.offsets[i])};
    zlg_status status = zlg_array_write_encoded(to, chunks, N_MOVED, NULL, err);
    zlg_varlen_free(&stored);
    return status;
}

static zlg_status run(zlg_store *store, zlg_array *arrays[2], zlg_error *err)
{
    static int32_t data[SIDE][SIDE];
    const int64_t shape[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    sums all = {0}, moved = {0};
    for (int i = 0; i < SIDE * SIDE; i++)
        data[i / SIDE][i % SIDE] = i + 1;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = spec.object_shape = shape; /* a shard */
    spec.chunk_shape = chunk;
    spec.data_type = "int32";
    if (zlg_array_create(store, "a", &spec, &arrays[0], err) ||
        zlg_array_create(store, "b", &spec, &arrays[1], err) ||
        zlg_array_write(arrays[0], NULL, &(zlg_source){.data = data}, NULL, err) ||
        sum_of(arrays[0], &all, err) || move(arrays[0], arrays[1], err) ||
        sum_of(arrays[1], &moved, err))
        return err->status;
    printf("%lld chunks add up to %lld; of %lld that moved, to %lld\n",
           atomic_load(&all.n_chunks), atomic_load(&all.sum), atomic_load(&moved.n_chunks),
           atomic_load(&moved.sum));
    return ZLG_OK;
}

int main(void)
{
    zlg_error err = {0};
    zlg_ctx *ctx = NULL;
    zlg_store *store = NULL;
    zlg_array *arrays[2] = {NULL, NULL};
    zlg_status status = zlg_ctx_new(NULL, &ctx, &err);
    if (status == ZLG_OK)
        status = zlg_store_open_memory(ctx, &store, &err);
    if (status == ZLG_OK)
        status = run(store, arrays, &err);
    if (status != ZLG_OK)
        fprintf(stderr, "%s: %s\n", zlg_status_name(status), err.message);
    zlg_array_close(arrays[0]);
    zlg_array_close(arrays[1]);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    return zlg_status_exit_code(status);
}
