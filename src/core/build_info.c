/*
 * build_info.c: what this build can do, for people who ask why a codec is missing, or
 * slow: of libzstd the version matters.
 */
#include "core/core.h"

#if ZELLIGE_HAVE_BLOSC
#define BLOSC "blosc\n"
#else
#define BLOSC
#endif
#if ZELLIGE_HAVE_LZ4
#define LZ4 "lz4\n"
#else
#define LZ4
#endif
#if ZELLIGE_HAVE_BZ2
#define BZ2 "bz2\n"
#else
#define BZ2
#endif
#if ZELLIGE_HAVE_LZMA
#define LZMA "lzma\n"
#else
#define LZMA
#endif
#if ZELLIGE_HAVE_ZFP
#define ZFP "zfp\n"
#else
#define ZFP
#endif

const char *zlg_build_info(void)
{
    return "zstd " ZELLIGE_ZSTD_VERSION "\nlibdeflate\n" BLOSC LZ4 BZ2 LZMA ZFP;
}
