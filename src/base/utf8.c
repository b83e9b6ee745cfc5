/*
 * UTF-8 as RFC 3629 section 4 has it: shortest forms only, no surrogates, nothing above
 * U+10FFFF. Knows bytes; refuses to know what a character means.
 */
#include "base/base.h"

static bool continues(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t zlgi_utf8_span(const uint8_t *text, size_t n)
{
    if (n == 0)
        return 0;
    uint8_t first = text[0];
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || n < 2 || !continues(text[1]))
        return 0;
    if (first < 0xe0)
        return 2;
    if (n < 3 || !continues(text[2]))
        return 0;
    if (first < 0xf0) {
        bool too_long = first == 0xe0 && text[1] < 0xa0;
        bool surrogate = first == 0xed && text[1] >= 0xa0;
        return too_long || surrogate ? 0 : 3;
    }
    bool too_long = first == 0xf0 && text[1] < 0x90;
    bool too_large = first > 0xf4 || (first == 0xf4 && text[1] >= 0x90);
    return n < 4 || !continues(text[3]) || too_long || too_large ? 0 : 4;
}

bool zlgi_utf8_valid(const uint8_t *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        /* Eight bytes of ASCII at a time. */
        if (n - i >= 8 && (zlgi_load_u64le(text + i) & UINT64_C(0x8080808080808080)) == 0) {
            i += 8;
            continue;
        }
        size_t n_character = zlgi_utf8_span(text + i, n - i);
        if (n_character == 0)
            return false;
        i += n_character;
    }
    return true;
}
