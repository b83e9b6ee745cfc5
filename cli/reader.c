/*
 * reader.c: the signs and words of which the text of a value consists.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

zlg_status cli_element_expected(const char *what, const char *text, zlg_error *err)
{
    int n = (int)strcspn(text, "\n\t");
    if (n == 0)
        return cli_fail(err, ZLG_USAGE, "expected %s, found the end of the %s", what,
                        *text ? "line" : "text");
    return cli_fail(err, ZLG_USAGE, "expected %s, found \"%.*s\"", what, n < 40 ? n : 40,
                    text);
}

zlg_status cli_reader_expected(const cli_reader *r, const char *what)
{
    return cli_element_expected(what, r->at, r->err);
}

zlg_status cli_reader_add(cli_reader *r, const void *data, size_t n)
{
    cli_element *e = r->element;
    if (n > e->n_room - e->n_bytes) {
        size_t n_room = 2 * (e->n_bytes + n) + 64;
        uint8_t *bytes = realloc(e->bytes, n_room);
        if (!bytes)
            return cli_no_memory(r->err, n_room);
        e->bytes = bytes;
        e->n_room = n_room;
    }
    if (n > 0)
        memcpy(e->bytes + e->n_bytes, data, n);
    e->n_bytes += n;
    return ZLG_OK;
}

void cli_reader_skip_blanks(cli_reader *r)
{
    r->at += strspn(r->at, " \n\t\r");
}

zlg_status cli_reader_take(cli_reader *r, char sign)
{
    char what[] = "\" \"";
    what[1] = sign;
    cli_reader_skip_blanks(r);
    if (*r->at != sign)
        return cli_reader_expected(r, what);
    r->at++;
    cli_reader_skip_blanks(r);
    return ZLG_OK;
}

/* A word, in quotes or bare. */
bool cli_reader_take_word(cli_reader *r, const char *word)
{
    size_t n = strlen(word);
    bool quoted = *r->at == '"';
    if (strncmp(r->at + quoted, word, n) != 0)
        return false;
    const char *end = r->at + quoted + n;
    if (quoted ? *end != '"' : !strchr(" \n\t\r,]", *end))
        return false;
    r->at = end + quoted;
    return true;
}

bool cli_reader_ends_value(const char *at)
{
    return strchr(" \n\t\r,]", *at) != NULL; /* the end of the text, too */
}
