/*
 * path.c: which paths may name a node. A path that breaks the rules names none, so that
 * nothing is looked up in the store for it.
 *
 * Implements "node names" of the version 3 core specification, for both versions.
 */
#include "meta/meta.h"

/* Names that begin with "__" are for extensions. Those that end so as well are of xarray,
 * which calls arrays "__values__" and "__xarray_dataarray_variable__"; "__zarr" is kept
 * for Zarr itself. */
static int is_reserved(const char *segment, size_t n)
{
    if (n < 2 || memcmp(segment, "__", 2) != 0)
        return 0;
    if (n >= 6 && memcmp(segment, "__zarr", 6) == 0)
        return 1;
    return n < 5 || memcmp(segment + n - 2, "__", 2) != 0;
}

/* What is wrong with a segment, or NULL. */
static const char *segment_fault(const char *segment, size_t n, bool takes_reserved)
{
    static const char DOCUMENT[] = "zarr.json";
    if (n == 0)
        return "a segment is empty";
    if (strspn(segment, ".") >= n)
        return "a segment holds only periods";
    if (!takes_reserved && is_reserved(segment, n))
        return "a segment starts with \"__\"";
    if (n == sizeof DOCUMENT - 1 && memcmp(segment, DOCUMENT, n) == 0)
        return "a segment is \"zarr.json\"";
    if (memchr(segment, '\\', n))
        return "a segment holds a backslash";
    return NULL;
}

static zlg_status check(const char *path, bool takes_reserved, zlg_error *err)
{
    if (*path == '\0')
        return ZLG_OK;
    for (const char *segment = path;;) {
        size_t n = strcspn(segment, "/");
        const char *fault = segment_fault(segment, n, takes_reserved);
        if (fault)
            return zlgi_fail(err, ZLG_NOT_FOUND, "path \"%.200s\" cannot name a node: %s",
                             path, fault);
        if (segment[n] == '\0')
            return ZLG_OK;
        segment += n + 1;
    }
}

zlg_status zlgi_meta_path_check(const char *path, zlg_error *err)
{
    return check(path, false, err);
}

zlg_status zlgi_meta_prefix_check(const char *path, zlg_error *err)
{
    return check(path, true, err);
}
