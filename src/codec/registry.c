/*
 * The list of codecs: one line each. A codec whose library was left out of the build is
 * known by its names all the same, so that the error can say what is missing.
 */
#include "codec/parts.h"

#if ZELLIGE_HAVE_BLOSC
#define IF_BLOSC(built, missing) built
#else
#define IF_BLOSC(built, missing) missing
#endif
#if ZELLIGE_HAVE_LZ4
#define IF_LZ4(built, missing) built
#else
#define IF_LZ4(built, missing) missing
#endif
#if ZELLIGE_HAVE_BZ2
#define IF_BZ2(built, missing) built
#else
#define IF_BZ2(built, missing) missing
#endif
#if ZELLIGE_HAVE_LZMA
#define IF_LZMA(built, missing) built
#else
#define IF_LZMA(built, missing) missing
#endif
#if ZELLIGE_HAVE_ZFP
#define IF_ZFP(built, missing) built
#else
#define IF_ZFP(built, missing) missing
#endif

/* HAVE(codec); LACK(v3 name, numcodecs id, library) for one that is not built in. */
#define CODECS(HAVE, LACK)                                                                 \
    HAVE(bytes)                                                                            \
    HAVE(transpose)                                                                        \
    HAVE(sharding_indexed)                                                                 \
    HAVE(crc32c)                                                                           \
    HAVE(gzip)                                                                             \
    HAVE(zlib)                                                                             \
    HAVE(zstd)                                                                             \
    IF_BLOSC(HAVE(blosc), LACK("blosc", "blosc", "c-blosc"))                               \
    IF_LZ4(HAVE(lz4), LACK(NULL, "lz4", "liblz4"))                                         \
    IF_BZ2(HAVE(bz2), LACK(NULL, "bz2", "libbz2"))                                         \
    IF_LZMA(HAVE(lzma), LACK(NULL, "lzma", "liblzma"))                                     \
    HAVE(shuffle)                                                                          \
    HAVE(adler32)                                                                          \
    HAVE(crc32)                                                                            \
    HAVE(fletcher32)                                                                       \
    HAVE(jenkins_lookup3)                                                                  \
    HAVE(base64)                                                                           \
    HAVE(delta)                                                                            \
    HAVE(fixedscaleoffset)                                                                 \
    HAVE(quantize)                                                                         \
    HAVE(bitround)                                                                         \
    HAVE(astype)                                                                           \
    HAVE(packbits)                                                                         \
    HAVE(numcodecs_packbits)                                                               \
    HAVE(categorize)                                                                       \
    HAVE(json2)                                                                            \
    HAVE(msgpack2)                                                                         \
    HAVE(vlen_utf8)                                                                        \
    HAVE(vlen_bytes)                                                                       \
    HAVE(vlen_array)                                                                       \
    HAVE(cast_value)                                                                       \
    HAVE(scale_offset)                                                                     \
    HAVE(reshape)                                                                          \
    HAVE(squeeze)                                                                          \
    HAVE(optional)                                                                         \
    IF_ZFP(HAVE(zfp), LACK("zfp", NULL, "libzfp"))                                         \
    IF_ZFP(HAVE(zfpy), LACK(NULL, "zfpy", "libzfp"))                                       \
    LACK(NULL, "pcodec", "pcodec")

#define DECLARE(codec) extern const zlgi_codec zlgi_codec_##codec;
#define ADDRESS(codec) &zlgi_codec_##codec,
#define NAMES(name, id, library) {name, id, library},
#define NOTHING(...)
CODECS(DECLARE, NOTHING)

static const zlgi_codec *const codecs[] = {CODECS(ADDRESS, NOTHING) NULL};
static const struct missing {
    const char *name, *id, *library;
} missing[] = {CODECS(NOTHING, NAMES)};

static bool equal(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

const char *zlgi_numcodecs_id(const char *name)
{
    static const char prefix[] = "numcodecs.";
    const size_t n = sizeof prefix - 1;
    return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

const zlgi_codec *zlgi_codec_find_v2(const char *id, const char **out_missing)
{
    *out_missing = NULL;
    for (const zlgi_codec *const *c = codecs; *c; c++)
        if ((*c)->id && (equal((*c)->id, id) || equal((*c)->alias, id)))
            return *c;
    for (size_t i = 0; i < ZLGI_COUNT(missing); i++)
        if (equal(missing[i].id, id))
            *out_missing = missing[i].library;
    return NULL;
}

const zlgi_codec *zlgi_codec_find_v3(const char *name, const char **out_missing)
{
    const char *id = zlgi_numcodecs_id(name);
    if (id)
        return zlgi_codec_find_v2(id, out_missing);
    *out_missing = NULL;
    for (const zlgi_codec *const *c = codecs; *c; c++)
        if (equal((*c)->name, name) || equal((*c)->alias, name))
            return *c;
    for (size_t i = 0; i < ZLGI_COUNT(missing); i++)
        if (equal(missing[i].name, name))
            *out_missing = missing[i].library;
    /* Some writers put a numcodecs id into a version 3 document as it is. */
    return *out_missing ? NULL : zlgi_codec_find_v2(name, out_missing);
}

const zlgi_codec *zlgi_codec_at(int i)
{
    return i >= 0 && (size_t)i < ZLGI_COUNT(codecs) ? codecs[i] : NULL;
}
