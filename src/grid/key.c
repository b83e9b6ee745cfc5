/*
 * key.c: chunk keys relative to their array, written and read back. Plain decimals, no
 * padding, no sign, so that each chunk has one key and each key at most one chunk.
 *
 * Implements the chunk key encodings `default` and `v2` and the keys of version 2 arrays.
 */
#include "grid/grid.h"

enum { DIGITS = 20 };

static char *write_number(char *to, uint64_t value)
{
    char digits[DIGITS];
    int n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

size_t zlgi_key_write(const zlgi_key_encoding *encoding, int rank,
                      const int64_t *coordinates, char out[ZLGI_KEY_MAX])
{
    char *to = out;
    if (encoding->style == ZLGI_KEY_DEFAULT)
        *to++ = 'c';
    else if (rank == 0)
        *to++ = '0';
    for (int i = 0; i < rank; i++) {
        if (to > out)
            *to++ = encoding->separator;
        to = write_number(to, (uint64_t)coordinates[i]);
    }
    *to = '\0';
    return (size_t)(to - out);
}

zlg_status zlgi_key_make(const zlgi_key_encoding *encoding, int rank,
                         const int64_t *coordinates, char out[ZLGI_KEY_MAX], zlg_error *err)
{
    if (encoding->style == ZLGI_KEY_OWN)
        return encoding->own->write(encoding->own, rank, coordinates, out, err);
    zlgi_key_write(encoding, rank, coordinates, out);
    return ZLG_OK;
}

/* Moves *from behind a number; false when there is none, or one that nobody writes. */
static bool read_number(const char **from, int64_t *out)
{
    const char *text = *from;
    int64_t value = 0;
    if (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        if (!zlgi_mul_i64(value, 10, &value) || !zlgi_add_i64(value, *text - '0', &value))
            return false;
    if (text == *from)
        return false;
    *from = text;
    *out = value;
    return true;
}

bool zlgi_key_read(const zlgi_key_encoding *encoding, int rank, const char *key,
                   int64_t *coordinates)
{
    if (encoding->style == ZLGI_KEY_OWN)
        return encoding->own->read(encoding->own, rank, key, coordinates);
    const char *from = key;
    bool is_default = encoding->style == ZLGI_KEY_DEFAULT;
    if (is_default && *from++ != 'c')
        return false;
    if (!is_default && rank == 0 && *from++ != '0')
        return false;
    for (int i = 0; i < rank; i++) {
        if ((is_default || i > 0) && *from++ != encoding->separator)
            return false;
        if (!read_number(&from, &coordinates[i]))
            return false;
    }
    return *from == '\0';
}
