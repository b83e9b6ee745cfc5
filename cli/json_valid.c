/*
 * json_valid.c: whether a text from outside is JSON, by RFC 8259, with names and values in
 * their places. Which numbers fit and which depth is fine is for the library to say.
 */
#include <string.h>

#include "cli.h"

enum { MOST_LEVELS = 1000 };

typedef struct checker {
    const char *at;
    bool python;
    int level;
} checker;

static void skip_blanks(checker *c)
{
    c->at += strspn(c->at, " \n\t\r");
}

static bool take(checker *c, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_digits(checker *c)
{
    size_t n = strspn(c->at, "0123456789");
    c->at += n;
    return n > 0;
}

static bool take_number(checker *c)
{
    take(c, "-");
    if (c->python && take(c, "Infinity"))
        return true;
    if (!take(c, "0") && !take_digits(c))
        return false;
    if (take(c, ".") && !take_digits(c))
        return false;
    if (!take(c, "e") && !take(c, "E"))
        return true;
    if (!take(c, "+"))
        take(c, "-");
    return take_digits(c);
}

static bool take_string(checker *c)
{
    c->at++;
    while (*c->at != '"') {
        if ((unsigned char)*c->at < ' ')
            return false;
        if (*c->at++ != '\\')
            continue;
        char escape = *c->at++;
        if (!escape || !strchr("\"\\/bfnrtu", escape))
            return false;
        if (escape == 'u' && strspn(c->at, "0123456789abcdefABCDEF") < 4)
            return false;
    }
    c->at++;
    return true;
}

static bool take_value(checker *c);

static bool take_container(checker *c, const char *end)
{
    c->at++;
    skip_blanks(c);
    if (take(c, end))
        return true;
    do {
        skip_blanks(c);
        if (*end == '}') {
            if (*c->at != '"' || !take_string(c))
                return false;
            skip_blanks(c);
            if (!take(c, ":"))
                return false;
        }
        if (!take_value(c))
            return false;
        skip_blanks(c);
    } while (take(c, ","));
    return take(c, end);
}

static bool take_value(checker *c)
{
    skip_blanks(c);
    if (*c->at == '"')
        return take_string(c);
    if (*c->at != '[' && *c->at != '{')
        return take(c, "true") || take(c, "false") || take(c, "null") ||
               (c->python && take(c, "NaN")) || take_number(c);
    bool is_fine =
        ++c->level <= MOST_LEVELS && take_container(c, *c->at == '[' ? "]" : "}");
    c->level--;
    return is_fine;
}

bool cli_json_valid(const char *text, bool python)
{
    checker c = {.at = text, .python = python};
    if (!take_value(&c))
        return false;
    skip_blanks(&c);
    return *c.at == 0;
}
