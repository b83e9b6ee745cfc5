/* The smallest use of the installed library: an empty store in memory, asked for a key, and
 * bytes through a codec. */
#include <stdio.h>
#include <zellige.h>
#include <zellige_ext.h>

int main(void)
{
    zlg_error err = {ZLG_OK, ""};
    zlg_ctx *ctx = NULL;
    zlg_store *store = NULL;
    zlg_text text;
    if (zlg_ctx_new(NULL, &ctx, &err) || zlg_store_open_memory(ctx, &store, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int is_right = zlg_store_get(store, "a", &text, &err) == ZLG_NOT_FOUND;
    zlg_store_close(store);
    zlg_codec *codec = NULL;
    if (zlg_codec_open(ctx, "crc32c", NULL, &codec, &err) ||
        zlg_codec_encode(codec, "abc", 3, &text, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    is_right = is_right && text.n_bytes == 7;
    zlg_text_free(&text);
    zlg_codec_close(codec);
    zlg_ctx_close(ctx);
    printf("zellige %s\n", zlg_version());
    return is_right ? 0 : 1;
}
