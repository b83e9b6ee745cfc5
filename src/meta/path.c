/*
 * path.c: which paths may name a node. A path that breaks the rules names none, so that
 * nothing is looked up in the store for it.
 *
 * Implements "node names" of the version 3 core specification, for both versions.
 */
#include "meta/meta.h"

/* What is wrong with a segment, or NULL. */
static const char *segment_fault(const char *segment, size_t n)
{
    static const char DOCUMENT[] = "zarr.json";
    if (n == 0)
        return "a segment is empty";
    if (strspn(segment, ".") >= n)
        return "a segment holds only periods";
    if (n >= 2 && segment[0] == '_' && segment[1] == '_')
        return "a segment starts with \"__\"";
    if (n == sizeof DOCUMENT - 1 && memcmp(segment, DOCUMENT, n) == 0)
        return "a segment is \"zarr.json\"";
    if (memchr(segment, '\\', n))
        return "a segment holds a backslash";
    return NULL;
}

zlg_status zlgi_meta_path_check(const char *path, zlg_error *err)
{
    if (*path == '\0')
        return ZLG_OK;
    for (const char *segment = path;;) {
        size_t n = strcspn(segment, "/");
        const char *fault = segment_fault(segment, n);
        if (fault)
            return zlgi_fail(err, ZLG_NOT_FOUND, "path \"%.200s\" cannot name a node: %s",
                             path, fault);
        if (segment[n] == '\0')
            return ZLG_OK;
        segment += n + 1;
    }
}
