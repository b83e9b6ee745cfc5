/*
 * journal.c: the folder of a journal and the files in it; see journal.h. What is in them
 * may be anything: a record counts when it is whole, and is read within its bounds.
 */
#include "writer/journal.h"

#include "codec/codec.h"

enum {
    VERSION = 1,
    N_HEAD = 8, /* of a record: length, sum */
    N_PATH = 4096,
    N_RECORD = N_HEAD + 32 + 2 * 8 * ZLG_MAX_RANK + N_PATH
};
#define OPEN_ENDING ".open"
#define OVER_ENDING ".over"
enum { N_STEM = ZLGI_JOURNAL_STEM, N_ENDING = sizeof OPEN_ENDING - 1 };

/* ------------------------------------------------------------------ records */

typedef struct record {
    size_t n;
    bool is_too_long;
    uint8_t bytes[N_RECORD];
} record;

static void put_bytes(record *r, const void *bytes, size_t n)
{
    r->is_too_long = r->is_too_long || n > sizeof r->bytes - r->n;
    if (r->is_too_long || n == 0)
        return;
    memcpy(r->bytes + r->n, bytes, n);
    r->n += n;
}

static void put_number(record *r, uint64_t number, size_t n_bytes)
{
    uint8_t bytes[8];
    zlgi_store_u64le(bytes, number);
    put_bytes(r, bytes, n_bytes);
}

static void put_numbers(record *r, const int64_t *numbers, int n)
{
    for (int i = 0; i < n; i++)
        put_number(r, (uint64_t)numbers[i], 8);
}

static void begin(record *r, char letter)
{
    r->n = N_HEAD;
    r->is_too_long = false;
    put_bytes(r, &letter, 1);
}

static uint32_t sum_of(const uint8_t *bytes, size_t n)
{
    return zlgi_crc32c(zlgi_crc32c(0, bytes, 4), bytes + N_HEAD, n - N_HEAD);
}

/* What could not be written whole is written over by the next one. */
static zlg_status append(zlgi_journal *journal, record *r, bool is_lasting, zlg_error *err)
{
    if (r->is_too_long)
        return zlgi_fail(err, ZLG_LIMIT, "a path that is too long for the journal");
    zlgi_store_u32le(r->bytes, (uint32_t)(r->n - N_HEAD));
    zlgi_store_u32le(r->bytes + 4, sum_of(r->bytes, r->n));
    pthread_mutex_lock(&journal->lock);
    zlg_status status =
        zlgi_file_write_at(journal->file, r->bytes, r->n, journal->end, err);
    if (status == ZLG_OK)
        journal->end += r->n;
    pthread_mutex_unlock(&journal->lock);
    if (status == ZLG_OK && is_lasting)
        status = zlgi_file_sync(journal->file, err);
    return zlgi_within(err, status, "the journal %s", journal->folder);
}

/* ------------------------------------------------------------------ reading */

typedef struct cursor {
    const uint8_t *at, *end;
    bool is_short;
} cursor;

static uint64_t take_number(cursor *c, size_t n_bytes)
{
    uint8_t bytes[8] = {0};
    if (n_bytes > (size_t)(c->end - c->at)) {
        c->is_short = true;
        return 0;
    }
    memcpy(bytes, c->at, n_bytes);
    c->at += n_bytes;
    return zlgi_load_u64le(bytes);
}

static void take_numbers(cursor *c, int64_t *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (int64_t)take_number(c, 8);
}

typedef struct array_record {
    zlgi_journal_array array;
    uint64_t number;
    int64_t first[ZLG_MAX_RANK], last[ZLG_MAX_RANK];
    char path[N_PATH + 1];
} array_record;

static bool take_array(cursor *c, array_record *out)
{
    out->number = take_number(c, 4);
    out->array = (zlgi_journal_array){.path = out->path,
                                      .fingerprint = take_number(c, 8),
                                      .first = out->first,
                                      .last = out->last};
    out->array.is_lasting = take_number(c, 1) != 0;
    out->array.rank = (int)take_number(c, 1);
    out->array.has_claim = take_number(c, 1) != 0;
    if (c->is_short || out->array.rank > ZLG_MAX_RANK)
        return false;
    take_numbers(c, out->first, out->array.rank);
    take_numbers(c, out->last, out->array.rank);
    size_t n = (size_t)(c->end - c->at);
    if (c->is_short || n > N_PATH || memchr(c->at, 0, n))
        return false;
    memcpy(out->path, c->at, n);
    out->path[n] = 0;
    return true;
}

typedef struct reading {
    zlgi_journal *journal;
    const zlgi_journal_array *claim; /* read are the claims that may not meet this one */
    int source;                      /* read is what is stored */
    bool has_header, is_same_run;
    zlgi_buf arrays; /* zlgi_known *; NULL: what is said of it counts for nothing */
} reading;

static zlg_status read_header(reading *r, cursor *c, zlg_error *err)
{
    uint64_t version = take_number(c, 4);
    if (version != VERSION)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "version %llu of a journal",
                         (unsigned long long)version);
    r->has_header = true;
    r->is_same_run =
        c->end - c->at == ZLGI_BOOT_ID && memcmp(c->at, r->journal->run, ZLGI_BOOT_ID) == 0;
    return ZLG_OK;
}

static zlg_status check_claim(const zlgi_journal_array *other,
                              const zlgi_journal_array *mine, zlg_error *err)
{
    if (!other->has_claim || !mine->has_claim || other->rank != mine->rank ||
        strcmp(other->path, mine->path) != 0)
        return ZLG_OK;
    for (int i = 0; i < mine->rank; i++)
        if (other->first[i] > mine->last[i] || mine->first[i] > other->last[i])
            return ZLG_OK;
    zlg_status status = zlgi_fail(err, ZLG_EXISTS, "claimed by another writer at work");
    for (int i = mine->rank - 1; i >= 0; i--)
        status = zlgi_within(err, status, "objects %lld to %lld of axis %d",
                             (long long)other->first[i], (long long)other->last[i], i);
    return status;
}

zlg_status zlgi_journal_known(zlgi_journal *journal, const zlgi_journal_array *array,
                              zlgi_known **out, zlg_error *err)
{
    zlgi_known *known = journal->known;
    while (known && (known->fingerprint != array->fingerprint ||
                     known->rank != array->rank || strcmp(known->path, array->path) != 0))
        known = known->next;
    if (!known) {
        ZLGI_TRY(zlgi_known_new(journal->alloc, array->path, array->fingerprint,
                                array->rank, &known, err));
        known->next = journal->known;
        journal->known = known;
    }
    *out = known;
    return ZLG_OK;
}

/* A power loss may have taken what was only visible. A number that is there already was
 * that of an array whose adding failed. */
static zlg_status read_array(reading *r, cursor *c, bool *out_ok, zlg_error *err)
{
    array_record found;
    zlgi_known *known = NULL;
    *out_ok = take_array(c, &found) && found.number <= r->arrays.n / sizeof known;
    if (!*out_ok)
        return ZLG_OK;
    if (r->claim)
        ZLGI_TRY(check_claim(&found.array, r->claim, err));
    else if (r->is_same_run || found.array.is_lasting)
        ZLGI_TRY(zlgi_journal_known(r->journal, &found.array, &known, err));
    r->arrays.n = (size_t)found.number * sizeof known;
    return zlgi_buf_append(&r->arrays, &known, sizeof known, err);
}

/* What a file takes back is what it said itself. */
static zlg_status read_object(reading *r, cursor *c, bool is_stored, bool *out_ok,
                              zlg_error *err)
{
    int64_t coordinates[ZLG_MAX_RANK];
    uint64_t number = take_number(c, 4);
    bool is_present = is_stored && take_number(c, 1) != 0;
    *out_ok = number < r->arrays.n / sizeof(zlgi_known *);
    if (!*out_ok || r->claim)
        return ZLG_OK;
    zlgi_known *known = ((zlgi_known **)(void *)r->arrays.data)[number];
    zlgi_known_object *object;
    if (!known)
        return ZLG_OK;
    take_numbers(c, coordinates, known->rank);
    *out_ok = !c->is_short;
    if (c->is_short)
        return ZLG_OK;
    ZLGI_TRY(zlgi_known_put(known, r->journal->alloc, coordinates, &object, err));
    if (is_stored && object->source == 0) {
        object->source = r->source;
        object->is_present = is_present;
    } else if (!is_stored && object->source == r->source) {
        object->source = 0;
    }
    return ZLG_OK;
}

static zlg_status read_record(reading *r, const uint8_t *bytes, size_t n, zlg_error *err)
{
    cursor c = {.at = bytes + 1, .end = bytes + n};
    bool is_ok = r->has_header;
    if (bytes[0] == 'H' && !r->has_header)
        return read_header(r, &c, err);
    if (is_ok && bytes[0] == 'A')
        ZLGI_TRY(read_array(r, &c, &is_ok, err));
    else if (is_ok && (bytes[0] == 'S' || bytes[0] == 'U'))
        ZLGI_TRY(read_object(r, &c, bytes[0] == 'S', &is_ok, err));
    else
        is_ok = false;
    return is_ok ? ZLG_OK : zlgi_fail(err, ZLG_CORRUPT, "a record that cannot be read");
}

static zlg_status read_records(reading *r, const uint8_t *bytes, size_t n, zlg_error *err)
{
    while (n > N_HEAD) {
        size_t n_record = zlgi_load_u32le(bytes);
        if (n_record == 0 || n_record > n - N_HEAD ||
            zlgi_load_u32le(bytes + 4) != sum_of(bytes, n_record + N_HEAD))
            break;
        ZLGI_TRY(read_record(r, bytes + N_HEAD, n_record, err));
        bytes += N_HEAD + n_record;
        n -= N_HEAD + n_record;
    }
    return ZLG_OK;
}

static zlg_status read_whole(int file, zlgi_buf *out, zlg_error *err)
{
    uint64_t n;
    ZLGI_TRY(zlgi_file_size(file, &n, err));
    if (n > SIZE_MAX / 2)
        return zlgi_fail(err, ZLG_LIMIT, "a file of %llu bytes", (unsigned long long)n);
    ZLGI_TRY(zlgi_buf_reserve(out, (size_t)n, false, err));
    out->n = (size_t)n;
    return zlgi_file_read_at(file, out->data, out->n, 0, err);
}

static zlg_status read_file(reading *r, int file, zlg_error *err)
{
    zlgi_buf bytes;
    zlgi_buf_init(&bytes, r->journal->alloc);
    zlgi_buf_init(&r->arrays, r->journal->alloc);
    zlg_status status = read_whole(file, &bytes, err);
    if (status == ZLG_OK)
        status = read_records(r, bytes.data, bytes.n, err);
    zlgi_buf_reset(&r->arrays);
    zlgi_buf_reset(&bytes);
    return status;
}

/* ------------------------------------------------------------------ the folder */

static bool has_ending(const char *name, const char *ending)
{
    return strlen(name) == N_STEM + N_ENDING && strcmp(name + N_STEM, ending) == 0;
}

/* By a writer that had a side file here. */
static bool is_left(const char *name)
{
    return strlen(name) < ZLGI_FILE_NAME_MAX &&
           strncmp(name, ZLGI_NAMELESS, sizeof ZLGI_NAMELESS - 1) == 0;
}

static zlg_status add_name(void *user, const char *name, zlg_error *err)
{
    char room[ZLGI_FILE_NAME_MAX] = {0};
    if (!has_ending(name, OPEN_ENDING) && !has_ending(name, OVER_ENDING) &&
        !zlgi_kept_is_name(name) && !is_left(name))
        return ZLG_OK;
    memcpy(room, name, strlen(name));
    return zlgi_buf_append(user, room, sizeof room, err);
}

typedef zlg_status (*file_fn)(zlgi_journal *journal, const char *name, void *user,
                              zlg_error *err);

/* All files but that of this journal. */
static zlg_status each_file(zlgi_journal *journal, file_fn each, void *user, zlg_error *err)
{
    zlgi_buf names;
    zlgi_buf_init(&names, journal->alloc);
    zlg_status status = zlgi_folder_list(journal->folder, add_name, &names, err);
    for (size_t at = 0; at < names.n && status == ZLG_OK; at += ZLGI_FILE_NAME_MAX) {
        const char *name = (const char *)names.data + at;
        if (strcmp(name, journal->name) != 0)
            status = each(journal, name, user, err);
    }
    zlgi_buf_reset(&names);
    return status;
}

static zlg_status end_file(const zlgi_journal *journal, const char *name, zlg_error *err)
{
    char over[ZLGI_FILE_NAME_MAX] = {0};
    memcpy(over, name, N_STEM);
    memcpy(over + N_STEM, OVER_ENDING, N_ENDING);
    return zlgi_file_rename(journal->folder, name, over, err);
}

/* What dead writers have stored, and those whose work is over. */
static zlg_status learn(zlgi_journal *journal, const char *name, void *user, zlg_error *err)
{
    (void)user;
    reading r = {.journal = journal, .source = ++journal->n_sources};
    bool is_open = has_ending(name, OPEN_ENDING), is_dead = true;
    int file;
    if (!is_open && !has_ending(name, OVER_ENDING))
        return ZLG_OK;
    ZLGI_TRY(zlgi_file_open(journal->folder, name, &file, err));
    zlg_status status = is_open ? zlgi_file_lock(file, &is_dead, err) : ZLG_OK;
    if (status == ZLG_OK && is_dead)
        status = zlgi_within(err, read_file(&r, file, err), "%s", name);
    if (status == ZLG_OK && is_dead && is_open)
        status = end_file(journal, name, err);
    if (status == ZLG_OK && !is_dead)
        status = zlgi_buf_append(&journal->alive, name, N_STEM, err);
    zlgi_file_close(file);
    return status;
}

/* Claims of writers that are alive. */
static zlg_status meet(zlgi_journal *journal, const char *name, void *user, zlg_error *err)
{
    reading r = {.journal = journal, .claim = user};
    bool is_dead;
    int file;
    if (!has_ending(name, OPEN_ENDING))
        return ZLG_OK;
    ZLGI_TRY(zlgi_file_open(journal->folder, name, &file, err));
    zlg_status status = zlgi_file_lock(file, &is_dead, err);
    if (status == ZLG_OK && !is_dead)
        status = read_file(&r, file, err);
    zlgi_file_close(file);
    return status;
}

static zlg_status look_for_open(zlgi_journal *journal, const char *name, void *user,
                                zlg_error *err)
{
    (void)journal, (void)err;
    *(bool *)user = *(bool *)user || has_ending(name, OPEN_ENDING);
    return ZLG_OK;
}

static zlg_status remove_file(zlgi_journal *journal, const char *name, void *user,
                              zlg_error *err)
{
    (void)user;
    return zlgi_file_remove(journal->folder, name, err);
}

/* ------------------------------------------------------------------ a journal's life */

static zlg_status make_file(zlgi_journal *journal, zlg_error *err)
{
    record r;
    bool is_mine;
    ZLGI_TRY(
        zlgi_file_create(journal->folder, OPEN_ENDING, journal->name, &journal->file, err));
    ZLGI_TRY(zlgi_file_lock(journal->file, &is_mine, err));
    begin(&r, 'H');
    put_number(&r, VERSION, 4);
    put_bytes(&r, journal->run, sizeof journal->run);
    ZLGI_TRY(append(journal, &r, true, err));
    return zlgi_folder_sync(journal->folder, err);
}

static zlg_status open_journal(zlgi_journal *journal, const char *folder, zlg_error *err)
{
    int entered;
    ZLGI_TRY(zlgi_folder_make(folder, journal->folder, err));
    ZLGI_TRY(zlgi_folder_enter(journal->folder, &entered, err));
    zlg_status status = each_file(journal, learn, NULL, err);
    if (status == ZLG_OK)
        status = each_file(journal, zlgi_journal_learn_kept, NULL, err);
    if (status == ZLG_OK)
        status = make_file(journal, err);
    zlgi_folder_leave(entered);
    return status;
}

zlg_status zlgi_journal_open(const zlgi_alloc *alloc, const char *folder,
                             zlgi_journal **out, zlg_error *err)
{
    zlgi_journal *journal = zlgi_new(alloc, sizeof *journal);
    if (!journal || pthread_mutex_init(&journal->lock, NULL) != 0) {
        if (journal)
            zlgi_free(alloc, journal, sizeof *journal);
        return zlgi_no_memory(err, sizeof *journal);
    }
    journal->alloc = alloc;
    journal->file = -1;
    journal->n_sources = ZLGI_KNOWN_OWN;
    zlgi_buf_init(&journal->alive, alloc);
    zlgi_boot_id(journal->run);
    zlg_status status = open_journal(journal, folder, err);
    if (status == ZLG_OK)
        *out = journal;
    else
        zlgi_journal_free(journal);
    return zlgi_within(err, status, "the journal %s", folder);
}

/* A journal that cannot be removed says nothing but what is true. */
static void tidy(zlgi_journal *journal, bool is_last)
{
    zlg_status status = end_file(journal, journal->name, NULL);
    journal->name[0] = 0;
    if (status == ZLG_OK && is_last &&
        each_file(journal, remove_file, NULL, NULL) == ZLG_OK)
        zlgi_folder_remove(journal->folder);
}

/* Is there an array of the path that was added here? Then its other fingerprint counts. */
static bool is_added(const zlgi_journal *journal, const char *path)
{
    for (const zlgi_known *known = journal->known; known; known = known->next)
        if (known->number >= 0 && strcmp(known->path, path) == 0)
            return true;
    return false;
}

static zlg_status find_rest(const zlgi_journal *journal, bool *out_rest, zlg_error *err)
{
    *out_rest = false;
    for (const zlgi_known *known = journal->known; known; known = known->next) {
        const zlgi_known_object *object = zlgi_known_kept(known);
        if (!object || (known->number < 0 && is_added(journal, known->path)))
            continue;
        *out_rest = true;
        if (known->number < 0)
            return zlgi_fail(err, ZLG_USAGE,
                             "chunks of array %s are kept in %s, but it was not added",
                             known->path, object->kept->name);
    }
    return ZLG_OK;
}

/* What is not known yet was kept, and stored, by those who came and went meanwhile. */
static zlg_status look_for_rest(zlgi_journal *journal, bool *out_rest, zlg_error *err)
{
    journal->alive.n = 0;
    ZLGI_TRY(each_file(journal, zlgi_journal_learn_kept, NULL, err));
    (void)find_rest(journal, out_rest, NULL);
    if (!*out_rest)
        return ZLG_OK;
    ZLGI_TRY(each_file(journal, learn, NULL, err));
    return find_rest(journal, out_rest, err);
}

static zlg_status finish(zlgi_journal *journal, bool *out_rest, zlg_error *err)
{
    int entered;
    bool any_open = false;
    if (zlgi_folder_enter(journal->folder, &entered, NULL) != ZLG_OK)
        return ZLG_OK; /* who comes next does */
    zlg_status status = each_file(journal, look_for_open, &any_open, err);
    if (status == ZLG_OK && !any_open)
        status = look_for_rest(journal, out_rest, err);
    if (status == ZLG_OK && !*out_rest)
        tidy(journal, !any_open);
    zlgi_folder_leave(entered);
    return status;
}

zlg_status zlgi_journal_finish(zlgi_journal *journal, bool *out_rest, zlg_error *err)
{
    *out_rest = false;
    if (journal->file < 0)
        return ZLG_OK;
    ZLGI_TRY(zlgi_within(err, finish(journal, out_rest, err), "the journal %s",
                         journal->folder));
    if (!*out_rest)
        zlgi_journal_end(journal);
    return ZLG_OK;
}

void zlgi_journal_end(zlgi_journal *journal)
{
    if (journal->file < 0)
        return;
    zlgi_file_close(journal->file);
    journal->file = -1;
}

void zlgi_journal_free(zlgi_journal *journal)
{
    zlgi_journal_end(journal);
    zlgi_buf_reset(&journal->alive);
    for (zlgi_known *known = journal->known, *next; known; known = next) {
        next = known->next;
        zlgi_known_free(known, journal->alloc);
    }
    pthread_mutex_destroy(&journal->lock);
    zlgi_free(journal->alloc, journal, sizeof *journal);
}

/* ------------------------------------------------------------------ what is told */

static zlg_status tell_array(zlgi_journal *journal, const zlgi_journal_array *array,
                             zlg_error *err)
{
    record r;
    begin(&r, 'A');
    put_number(&r, (uint64_t)journal->n_arrays, 4);
    put_number(&r, array->fingerprint, 8);
    put_number(&r, array->is_lasting, 1);
    put_number(&r, (uint64_t)array->rank, 1);
    put_number(&r, array->has_claim, 1);
    put_numbers(&r, array->first, array->rank);
    put_numbers(&r, array->last, array->rank);
    put_bytes(&r, array->path, strlen(array->path));
    return append(journal, &r, array->is_lasting, err);
}

zlg_status zlgi_journal_add(zlgi_journal *journal, const zlgi_journal_array *array,
                            zlgi_known **out, zlg_error *err)
{
    int entered;
    zlgi_known *known = NULL;
    ZLGI_TRY(zlgi_journal_known(journal, array, &known, err));
    ZLGI_TRY(zlgi_folder_enter(journal->folder, &entered, err));
    zlg_status status = ZLG_OK;
    if (array->has_claim)
        status = each_file(journal, meet, (void *)(uintptr_t)array, err);
    if (status == ZLG_OK)
        status = tell_array(journal, array, err);
    zlgi_folder_leave(entered);
    if (status != ZLG_OK)
        return status;
    known->number = journal->n_arrays++;
    known->is_lasting = array->is_lasting;
    *out = known;
    return ZLG_OK;
}

zlg_status zlgi_journal_tell(zlgi_journal *journal, const zlgi_known *known, bool is_stored,
                             bool is_present, const int64_t *coordinates, zlg_error *err)
{
    record r;
    begin(&r, is_stored ? 'S' : 'U');
    put_number(&r, (uint64_t)known->number, 4);
    if (is_stored)
        put_number(&r, is_present, 1);
    put_numbers(&r, coordinates, known->rank);
    return append(journal, &r, known->is_lasting, err);
}
