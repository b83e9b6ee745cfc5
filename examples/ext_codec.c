/*
 * A codec of one's own: runs of equal bytes as (number, byte). It stands in the chain of an
 * array like any built-in one, and runs by itself too.
 *
 * Prints: 400 bytes are stored as 4, and read back as they were
 *         alone: 1000 bytes are 8
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "zellige_ext.h"

static zlg_status rle_encode(void *state, const zlg_decoded *from, zlg_bytes in,
                             zlg_output *output, zlg_error *err)
{
    const unsigned char *data = in.data;
    (void)state, (void)from;
    for (size_t i = 0, n; i < in.n_bytes; i += n) {
        for (n = 1; n < 255 && i + n < in.n_bytes && data[i + n] == data[i]; n++)
            continue;
        const unsigned char run[2] = {(unsigned char)n, data[i]};
        if (zlg_output_append(output, run, sizeof run, err))
            return err->status;
    }
    return ZLG_OK;
}

/* Bytes that are stored may be anything. What comes out is held against the chunk by the
 * library: more of it is an error of zlg_output_append. */
static zlg_status rle_decode(void *state, const zlg_decoded *from, zlg_bytes in,
                             zlg_output *output, zlg_error *err)
{
    const unsigned char *data = in.data;
    (void)state, (void)from;
    if (in.n_bytes % 2 != 0) {
        snprintf(err->message, sizeof err->message, "%zu bytes are no pairs", in.n_bytes);
        return ZLG_CORRUPT;
    }
    for (size_t i = 0; i < in.n_bytes; i += 2) {
        unsigned char run[255];
        memset(run, data[i + 1], data[i]);
        if (zlg_output_append(output, run, data[i], err))
            return err->status;
    }
    return ZLG_OK;
}

static const zlg_codec_methods rle = {
    .n_bytes_struct = sizeof(zlg_codec_methods),
    .kind = ZLG_BYTES_TO_BYTES,
    .name = "example.rle", /* a name of yours begins with one that you own */
    .encode = rle_encode,
    .decode = rle_decode,
};

static zlg_status in_an_array(zlg_ctx *ctx, zlg_store **store, zlg_array **array,
                              zlg_error *err)
{
    int32_t data[100], back[100];
    const int64_t shape[1] = {100};
    memset(data, 3, sizeof data);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = spec.object_shape = shape;
    spec.data_type = "int32";
    spec.codecs = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
                  "{\"name\":\"example.rle\"}]";
    zlg_text stored;
    if (zlg_store_open_memory(ctx, store, err) ||
        zlg_array_create(*store, "a", &spec, array, err) ||
        zlg_array_write(*array, NULL, &(zlg_source){.data = data}, NULL, err) ||
        zlg_store_get(*store, "a/c/0", &stored, err))
        return err->status;
    size_t n_stored = stored.n_bytes;
    zlg_text_free(&stored);
    if (zlg_array_read(*array, NULL, &(zlg_target){.data = back}, NULL, err))
        return err->status;
    printf("%zu bytes are stored as %zu, and read back %s\n", sizeof data, n_stored,
           memcmp(data, back, sizeof data) == 0 ? "as they were" : "otherwise");
    return ZLG_OK;
}

static zlg_status alone(zlg_ctx *ctx, zlg_codec **codec, zlg_error *err)
{
    static const char zeros[1000];
    zlg_text encoded;
    if (zlg_codec_open(ctx, "example.rle", NULL, codec, err) ||
        zlg_codec_encode(*codec, zeros, sizeof zeros, &encoded, err))
        return err->status;
    printf("alone: %zu bytes are %zu\n", sizeof zeros, encoded.n_bytes);
    zlg_text_free(&encoded);
    return ZLG_OK;
}

int main(void)
{
    zlg_error err = {0};
    zlg_ctx *ctx = NULL;
    zlg_store *store = NULL;
    zlg_array *array = NULL;
    zlg_codec *codec = NULL;
    zlg_status status = zlg_ctx_new(NULL, &ctx, &err);
    if (status == ZLG_OK)
        status = zlg_ctx_register_codec(ctx, &rle, NULL, &err);
    if (status == ZLG_OK)
        status = in_an_array(ctx, &store, &array, &err);
    if (status == ZLG_OK)
        status = alone(ctx, &codec, &err);
    if (status != ZLG_OK)
        fprintf(stderr, "%s: %s\n", zlg_status_name(status), err.message);
    zlg_codec_close(codec);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    return zlg_status_exit_code(status);
}
