/*
 * ext.c: what is handed in from outside, by zellige_ext.h, enters its context here. Knows
 * the sizes of structs that callers were built with, and nothing of what is in them.
 */
#include "core/core.h"

zlg_status zlg_store_open_ext(zlg_ctx *ctx, const zlg_store_methods *given, void *self,
                              const char *label, zlg_store **out, zlg_error *err)
{
    zlg_store_methods methods;
    *out = NULL;
    ZLGI_TRY(zlgi_options_read(given, "sizeof(zlg_store_methods)", &methods, sizeof methods,
                               err));
    ZLGI_TRY(zlgi_ext_open(&ctx->alloc, &ctx->limits, &methods, self, label, out, err));
    zlgi_store_adopt(ctx, *out);
    return ZLG_OK;
}

zlg_status zlg_ctx_register_codec(zlg_ctx *ctx, const zlg_codec_methods *given, void *self,
                                  zlg_error *err)
{
    zlg_codec_methods methods;
    ZLGI_TRY(zlgi_options_read(given, "sizeof(zlg_codec_methods)", &methods, sizeof methods,
                               err));
    return zlgi_ext_codec_register(&ctx->registry, &methods, self, err);
}

zlg_status zlg_ctx_register_data_type(zlg_ctx *ctx, const zlg_data_type_methods *given,
                                      void *self, zlg_error *err)
{
    zlg_data_type_methods methods;
    ZLGI_TRY(zlgi_options_read(given, "sizeof(zlg_data_type_methods)", &methods,
                               sizeof methods, err));
    return zlgi_ext_type_register(&ctx->registry, &methods, self, &ctx->limits, err);
}

zlg_status zlg_ctx_register_chunk_key_encoding(zlg_ctx *ctx, const zlg_key_methods *given,
                                               void *self, zlg_error *err)
{
    zlg_key_methods methods;
    ZLGI_TRY(
        zlgi_options_read(given, "sizeof(zlg_key_methods)", &methods, sizeof methods, err));
    return zlgi_ext_keys_register(&ctx->registry, &methods, self, err);
}
