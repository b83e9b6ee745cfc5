/*
 * change.c: what commands that change a store share: their options, and the figures of a
 * change.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "os.h"

zlg_call cli_change_call(void)
{
    zlg_call call = ZLG_CALL_INIT;
    call.cancel = cli_catch_interrupt();
    return call;
}

zlg_status cli_promise(const cli_settings *settings, zlg_promise *out, zlg_error *err)
{
    static const char *const names[] = {"visible", "durable", "verified"};
    static const zlg_promise promises[] = {ZLG_VISIBLE, ZLG_DURABLE, ZLG_VERIFIED};
    *out = ZLG_PROMISE_DEFAULT;
    for (size_t i = 0; i < CLI_COUNT(names) && settings->promise; i++)
        if (strcmp(settings->promise, names[i]) == 0)
            *out = promises[i];
    if (settings->promise && *out == ZLG_PROMISE_DEFAULT)
        return cli_fail(err, ZLG_USAGE,
                        "--promise takes visible, durable or verified, not \"%s\"",
                        settings->promise);
    return ZLG_OK;
}

zlg_status cli_lengths(const char *text, const char *what, int *out_rank,
                       int64_t out[ZLG_MAX_RANK], zlg_error *err)
{
    *out_rank = 0;
    const char *at = text + strspn(text, " ");
    while (*at) {
        char *end;
        errno = 0;
        long long length = strtoll(at, &end, 10);
        const char *next = end + strspn(end, " ");
        if (end == at || errno || length < 0 || (*next != ',' && *next != 0) ||
            (*next == ',' && next[1] == 0))
            return cli_fail(err, ZLG_USAGE, "%s is lengths such as 10,20, not \"%s\"", what,
                            text);
        if (*out_rank == ZLG_MAX_RANK)
            return cli_fail(err, ZLG_USAGE, "%s has more than %d axes", what, ZLG_MAX_RANK);
        out[(*out_rank)++] = length;
        at = *next ? next + 1 : next;
    }
    return ZLG_OK;
}

void cli_note_consolidated(const cli_node *node, const char *other)
{
    size_t n = strlen(node->path);
    char *above = malloc(n + 1);
    if (!above)
        return;
    for (size_t i = 0; i < n; i++) {
        zlg_group *group;
        if (i > 0 && node->path[i] != '/')
            continue;
        memcpy(above, node->path, i);
        above[i] = 0;
        if (other && strncmp(other, above, i) == 0 && (i == 0 || other[i] == '/'))
            continue;
        if (zlg_group_open(node->store, above, &node->options, &group, NULL) != ZLG_OK)
            continue;
        if (zlg_group_is_consolidated(group)) {
            fputs("zellige: note: the consolidated metadata of ", stderr);
            cli_print_name(stderr, node->folder);
            fputs(i ? "/" : "", stderr);
            cli_print_name(stderr, above);
            fputs(" is as before; \"zellige consolidate\" makes it anew\n", stderr);
        }
        zlg_group_close(group);
    }
    free(above);
}

void cli_print_change(const cli_settings *settings, int rank, const int64_t *shape,
                      const zlg_stats *stats)
{
    if (!settings->json)
        return;
    fputs("{\n  \"shape\": ", stdout);
    cli_json_shape(stdout, rank, shape);
    printf(",\n  \"n_objects_stored\": %" PRIu64 ",\n  \"n_objects_removed\": %" PRIu64
           ",\n  \"n_chunks_encoded\": %" PRIu64 ",\n  \"n_chunks_moved\": %" PRIu64
           ",\n  \"n_bytes_stored\": %" PRIu64 "\n}\n",
           stats->n_stored, stats->n_removed, stats->n_encoded, stats->n_moved,
           stats->n_bytes_stored);
}
