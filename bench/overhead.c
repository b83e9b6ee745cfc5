/*
 * What one call costs beyond its copy: an 8 KiB uncompressed chunk in a memory store, read
 * into warm memory, against memcpy of the same bytes in the same run.
 * cc -O2 bench/overhead.c -Iinclude build/libzellige.a ... ; see bench/run
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "zellige.h"

enum { N = 8192, CALLS = 20000, ROUNDS = 9 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    static unsigned char data[N], out[N];
    const int64_t shape[1] = {N};
    zlg_error err = {0};
    zlg_ctx *ctx = NULL;
    zlg_store *store = NULL;
    zlg_array *array = NULL;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = spec.object_shape = shape;
    spec.data_type = "uint8";
    spec.codecs = "[{\"name\":\"bytes\"}]";
    for (int i = 0; i < N; i++)
        data[i] = (unsigned char)(i * 7 + 1);
    if (zlg_ctx_new(NULL, &ctx, &err) || zlg_store_open_memory(ctx, &store, &err) ||
        zlg_array_create(store, "", &spec, &array, &err) ||
        zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    const zlg_target target = {.data = out};
    double call = 1e9, copy = 1e9;
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int i = 0; i < CALLS; i++)
            if (zlg_array_read(array, NULL, &target, NULL, &err) != ZLG_OK)
                return 1;
        double middle = now();
        for (int i = 0; i < CALLS; i++) {
            memcpy(out, data, N);
            __asm__ volatile("" ::: "memory");
        }
        double end = now();
        call = middle - start < call ? middle - start : call;
        copy = end - middle < copy ? end - middle : copy;
    }
    printf("C, memory store, one 8 KiB chunk: %.2f us, of which the copy %.2f us\n",
           call / CALLS * 1e6, copy / CALLS * 1e6);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    return memcmp(out, data, N) != 0;
}
