/* The smallest use of the installed library: an empty store in memory, asked for a key. */
#include <stdio.h>
#include <zellige.h>

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
    zlg_ctx_close(ctx);
    printf("zellige %s\n", zlg_version());
    return is_right ? 0 : 1;
}
