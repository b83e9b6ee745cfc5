/*
 * kept_file.c: files of chunks that are kept beside the store until their object is full:
 * how they are written, named, acknowledged and read; see journal.h. Knows no writer. What
 * is in them may be anything: a record counts when its sums are right, and what the file
 * says was acknowledged is an error when it cannot be read.
 */
#include "codec/codec.h"
#include "writer/journal.h"

enum {
    VERSION = 1,
    N_ACKNOWLEDGED = 12, /* the number and its sum */
    N_START = N_ACKNOWLEDGED + 8,
    N_FIXED = 4 + ZLGI_BOOT_ID + 8 + 1 + 1, /* of the description */
    N_NUMBER = 8                            /* of a name, behind that of the owner */
};
#define KEPT_ENDING ".kept"
#define NEW_ENDING ".new"

void zlgi_kept_free(zlgi_kept_file *files, const zlgi_alloc *alloc)
{
    for (zlgi_kept_file *file = files, *next; file; file = next) {
        next = file->next;
        zlgi_free(alloc, file, sizeof *file);
    }
}

static zlg_status fail_damaged(const char *what, zlg_error *err)
{
    return zlgi_fail(err, ZLG_CORRUPT, "%s is damaged", what);
}

static uint32_t sum_of(const void *data, size_t n)
{
    return n > 0 ? zlgi_crc32c(0, data, n) : 0;
}

/* ------------------------------------------------------------------ the description */

zlg_status zlgi_kept_describe(int file, const zlgi_kept_about *about, uint64_t *out_first,
                              zlg_error *err)
{
    uint8_t bytes[N_START + ZLGI_KEPT_DESCRIPTION_MAX], *at = bytes + N_START;
    size_t n_path = strlen(about->path);
    if (n_path > sizeof bytes - N_START - N_FIXED - 8 * ZLG_MAX_RANK)
        return zlgi_fail(err, ZLG_LIMIT, "a path that is too long for a kept file");
    memset(bytes, 0, N_START);
    zlgi_store_u32le(at, VERSION);
    memcpy(at + 4, about->run, ZLGI_BOOT_ID);
    at += 4 + ZLGI_BOOT_ID;
    zlgi_store_u64le(at, about->fingerprint);
    at[8] = about->is_lasting;
    at[9] = (uint8_t)about->rank;
    at += 10;
    for (int i = 0; i < about->rank; i++, at += 8)
        zlgi_store_u64le(at, (uint64_t)about->coordinates[i]);
    memcpy(at, about->path, n_path);
    size_t n = (size_t)(at + n_path - bytes);
    zlgi_store_u32le(bytes + N_ACKNOWLEDGED, (uint32_t)(n - N_START));
    zlgi_store_u32le(bytes + N_ACKNOWLEDGED + 4, sum_of(bytes + N_START, n - N_START));
    *out_first = n;
    return zlgi_file_write_at(file, bytes, n, 0, err);
}

static bool take_description(const uint8_t *at, size_t n, zlgi_kept_about *out)
{
    if (n < N_FIXED)
        return false;
    const uint8_t *end = at + n;
    memcpy(out->run, at + 4, ZLGI_BOOT_ID);
    at += 4 + ZLGI_BOOT_ID;
    out->fingerprint = zlgi_load_u64le(at);
    out->is_lasting = at[8] != 0;
    out->rank = at[9];
    at += 10;
    if (out->rank > ZLG_MAX_RANK || end - at < 8 * out->rank)
        return false;
    for (int i = 0; i < out->rank; i++, at += 8)
        out->coordinates[i] = (int64_t)zlgi_load_u64le(at);
    size_t n_path = (size_t)(end - at);
    if (memchr(at, 0, n_path))
        return false;
    memcpy(out->path, at, n_path);
    out->path[n_path] = 0;
    return true;
}

zlg_status zlgi_kept_read_about(int file, zlgi_kept_about *out, zlg_error *err)
{
    uint8_t start[N_START], bytes[ZLGI_KEPT_DESCRIPTION_MAX];
    uint64_t n_file;
    ZLGI_TRY(zlgi_file_size(file, &n_file, err));
    if (n_file < N_START)
        return fail_damaged("its beginning", err);
    ZLGI_TRY(zlgi_file_read_at(file, start, sizeof start, 0, err));
    size_t n = zlgi_load_u32le(start + N_ACKNOWLEDGED);
    out->end = zlgi_load_u64le(start);
    out->first = N_START + n;
    if (sum_of(start, 8) != zlgi_load_u32le(start + 8))
        return fail_damaged("the number of bytes that were acknowledged", err);
    if (n >= sizeof bytes || out->first > out->end)
        return fail_damaged("its description", err);
    if (out->end > n_file)
        return zlgi_fail(err, ZLG_CORRUPT,
                         "it ends after %llu of %llu bytes that were acknowledged",
                         (unsigned long long)n_file, (unsigned long long)out->end);
    ZLGI_TRY(zlgi_file_read_at(file, bytes, n, N_START, err));
    if (sum_of(bytes, n) != zlgi_load_u32le(start + N_ACKNOWLEDGED + 4))
        return fail_damaged("its description", err);
    if (n >= 4 && zlgi_load_u32le(bytes) != VERSION)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "version %u of a kept file",
                         zlgi_load_u32le(bytes));
    return take_description(bytes, n, out) ? ZLG_OK : fail_damaged("its description", err);
}

/* ------------------------------------------------------------------ records */

uint64_t zlgi_kept_extent(const zlgi_kept_record *record)
{
    return ZLGI_KEPT_HEAD + record->n_data + record->n_given;
}

zlg_status zlgi_kept_write(int file, uint64_t at, zlgi_kept_record *record,
                           const void *data, const void *given, zlg_error *err)
{
    uint8_t head[ZLGI_KEPT_HEAD];
    record->at = at;
    record->sum_data = sum_of(data, (size_t)record->n_data);
    record->sum_given = sum_of(given, (size_t)record->n_given);
    zlgi_store_u64le(head, record->i_cell);
    zlgi_store_u64le(head + 8, record->n_data);
    zlgi_store_u64le(head + 16, record->n_given);
    zlgi_store_u64le(head + 24, record->n_elements);
    zlgi_store_u32le(head + 32, record->kind);
    zlgi_store_u32le(head + 36, record->sum_data);
    zlgi_store_u32le(head + 40, record->sum_given);
    zlgi_store_u32le(head + 44, sum_of(head, 44));
    ZLGI_TRY(zlgi_file_write_at(file, head, sizeof head, at, err));
    at += sizeof head;
    if (record->n_data > 0)
        ZLGI_TRY(zlgi_file_write_at(file, data, (size_t)record->n_data, at, err));
    if (record->n_given == 0)
        return ZLG_OK;
    return zlgi_file_write_at(file, given, (size_t)record->n_given, at + record->n_data,
                              err);
}

/* For a promise that lasts, nothing is said before what it is said of is on the disk. */
zlg_status zlgi_kept_acknowledge(int file, uint64_t end, bool is_lasting, zlg_error *err)
{
    uint8_t bytes[N_ACKNOWLEDGED];
    if (is_lasting)
        ZLGI_TRY(zlgi_file_sync(file, err));
    zlgi_store_u64le(bytes, end);
    zlgi_store_u32le(bytes + 8, sum_of(bytes, 8));
    ZLGI_TRY(zlgi_file_write_at(file, bytes, sizeof bytes, 0, err));
    return is_lasting ? zlgi_file_sync(file, err) : ZLG_OK;
}

static bool take_head(const uint8_t *head, uint64_t at, uint64_t end, zlgi_kept_record *out)
{
    *out = (zlgi_kept_record){.i_cell = zlgi_load_u64le(head),
                              .n_data = zlgi_load_u64le(head + 8),
                              .n_given = zlgi_load_u64le(head + 16),
                              .n_elements = zlgi_load_u64le(head + 24),
                              .kind = (zlgi_kept_kind)zlgi_load_u32le(head + 32),
                              .sum_data = zlgi_load_u32le(head + 36),
                              .sum_given = zlgi_load_u32le(head + 40),
                              .at = at};
    uint64_t room = end - at - ZLGI_KEPT_HEAD;
    return zlgi_load_u32le(head + 44) == sum_of(head, 44) && out->n_data <= room &&
           out->n_given <= room - out->n_data;
}

zlg_status zlgi_kept_read_head(int file, uint64_t at, uint64_t end, zlgi_kept_record *out,
                               zlg_error *err)
{
    uint8_t head[ZLGI_KEPT_HEAD];
    bool is_whole = end - at >= sizeof head;
    if (is_whole)
        ZLGI_TRY(zlgi_file_read_at(file, head, sizeof head, at, err));
    if (!is_whole || !take_head(head, at, end, out))
        return zlgi_fail(err, ZLG_CORRUPT, "its record at byte %llu is damaged",
                         (unsigned long long)at);
    return ZLG_OK;
}

zlg_status zlgi_kept_read_records(int file, uint64_t first, uint64_t end, zlgi_buf *out,
                                  zlg_error *err)
{
    zlgi_kept_record record;
    for (uint64_t at = first; at < end; at += zlgi_kept_extent(&record)) {
        ZLGI_TRY(zlgi_kept_read_head(file, at, end, &record, err));
        ZLGI_TRY(zlgi_buf_append(out, &record, sizeof record, err));
    }
    return ZLG_OK;
}

static zlg_status read_part(int file, uint64_t at, void *out, uint64_t n, uint32_t sum,
                            zlg_error *err)
{
    if (!out || n == 0)
        return ZLG_OK;
    ZLGI_TRY(zlgi_file_read_at(file, out, (size_t)n, at, err));
    if (sum_of(out, (size_t)n) != sum)
        return zlgi_fail(err, ZLG_CORRUPT, "its bytes %llu to %llu are damaged",
                         (unsigned long long)at, (unsigned long long)(at + n));
    return ZLG_OK;
}

zlg_status zlgi_kept_read(int file, const zlgi_kept_record *record, void *data, void *given,
                          zlg_error *err)
{
    uint64_t at = record->at + ZLGI_KEPT_HEAD;
    ZLGI_TRY(read_part(file, at, data, record->n_data, record->sum_data, err));
    return read_part(file, at + record->n_data, given, record->n_given, record->sum_given,
                     err);
}

/* ------------------------------------------------------------------ in the folder */

static bool is_name(const char *name, size_t n_stem, const char *ending)
{
    return strlen(name) == n_stem + strlen(ending) && strcmp(name + n_stem, ending) == 0;
}

static bool is_kept(const char *name)
{
    return is_name(name, ZLGI_JOURNAL_STEM + N_NUMBER, KEPT_ENDING);
}

bool zlgi_kept_is_name(const char *name)
{
    return is_kept(name) || is_name(name, ZLGI_JOURNAL_STEM, NEW_ENDING);
}

static bool is_alive(const zlgi_journal *journal, const char *name)
{
    for (size_t at = 0; at < journal->alive.n; at += ZLGI_JOURNAL_STEM)
        if (memcmp(journal->alive.data + at, name, ZLGI_JOURNAL_STEM) == 0)
            return true;
    return false;
}

/* In the order of their names: what one owner kept last comes last. */
static zlg_status add_kept(const zlgi_journal *journal, zlgi_known_object *object,
                           const char *name, const zlgi_kept_about *about, zlg_error *err)
{
    zlgi_kept_file **link = &object->kept;
    while (*link && strcmp((*link)->name, name) < 0)
        link = &(*link)->next;
    if (*link && strcmp((*link)->name, name) == 0)
        return ZLG_OK;
    zlgi_kept_file *file = zlgi_new(journal->alloc, sizeof *file);
    if (!file)
        return zlgi_no_memory(err, sizeof *file);
    memcpy(file->name, name, strlen(name) + 1);
    file->first = about->first;
    file->end = about->end;
    file->next = *link;
    *link = file;
    return ZLG_OK;
}

/* A power loss may have taken what was only visible. */
static zlg_status note_kept(zlgi_journal *journal, const char *name,
                            const zlgi_kept_about *about, zlg_error *err)
{
    const zlgi_journal_array array = {
        .path = about->path, .fingerprint = about->fingerprint, .rank = about->rank};
    zlgi_known *known = NULL;
    zlgi_known_object *object;
    if (!about->is_lasting && memcmp(about->run, journal->run, ZLGI_BOOT_ID) != 0)
        return ZLG_OK;
    ZLGI_TRY(zlgi_journal_known(journal, &array, &known, err));
    ZLGI_TRY(zlgi_known_put(known, journal->alloc, about->coordinates, &object, err));
    return add_kept(journal, object, name, about, err);
}

zlg_status zlgi_journal_learn_kept(zlgi_journal *journal, const char *name, void *unused,
                                   zlg_error *err)
{
    (void)unused;
    int file;
    if (!is_kept(name) || is_alive(journal, name))
        return ZLG_OK;
    zlgi_kept_about *about = zlgi_new(journal->alloc, sizeof *about);
    if (!about)
        return zlgi_no_memory(err, sizeof *about);
    zlg_status status = zlgi_file_open(journal->folder, name, &file, err);
    if (status == ZLG_OK) {
        status = zlgi_within(err, zlgi_kept_read_about(file, about, err), "%s", name);
        zlgi_file_close(file);
    }
    if (status == ZLG_OK)
        status = note_kept(journal, name, about, err);
    zlgi_free(journal->alloc, about, sizeof *about);
    return status == ZLG_NOT_FOUND ? ZLG_OK : status; /* it was taken, or stored */
}

static zlg_status describe(const zlgi_journal *journal, const zlgi_known *known,
                           const int64_t *coordinates, int file, uint64_t *out_first,
                           zlg_error *err)
{
    zlgi_kept_about *about = zlgi_new(journal->alloc, sizeof *about);
    if (!about)
        return zlgi_no_memory(err, sizeof *about);
    about->is_lasting = known->is_lasting;
    about->fingerprint = known->fingerprint;
    about->rank = known->rank;
    memcpy(about->coordinates, coordinates, (size_t)known->rank * sizeof *coordinates);
    memcpy(about->run, journal->run, sizeof about->run);
    memcpy(about->path, known->path, ZLGI_MIN(strlen(known->path), sizeof about->path - 1));
    zlg_status status = zlgi_kept_describe(file, about, out_first, err);
    zlgi_free(journal->alloc, about, sizeof *about);
    return status;
}

zlg_status zlgi_journal_make_kept(zlgi_journal *journal, const zlgi_known *known,
                                  const int64_t *coordinates, int *out,
                                  zlgi_kept_file *out_file, zlg_error *err)
{
    ZLGI_TRY(zlgi_file_create(journal->folder, NEW_ENDING, out_file->name, out, err));
    zlg_status status = describe(journal, known, coordinates, *out, &out_file->first, err);
    out_file->end = out_file->first;
    if (status != ZLG_OK) {
        zlgi_file_close(*out);
        (void)zlgi_file_remove(journal->folder, out_file->name, NULL);
    }
    return status;
}

zlg_status zlgi_journal_own_kept(zlgi_journal *journal, zlgi_kept_file *file,
                                 zlg_error *err)
{
    char name[ZLGI_FILE_NAME_MAX] = {0};
    pthread_mutex_lock(&journal->lock);
    uint32_t number = ++journal->n_kept;
    pthread_mutex_unlock(&journal->lock);
    memcpy(name, journal->name, ZLGI_JOURNAL_STEM);
    for (int i = N_NUMBER - 1; i >= 0; i--, number >>= 4)
        name[ZLGI_JOURNAL_STEM + i] = "0123456789abcdef"[number & 15];
    memcpy(name + ZLGI_JOURNAL_STEM + N_NUMBER, KEPT_ENDING, sizeof KEPT_ENDING);
    ZLGI_TRY(zlgi_file_rename(journal->folder, file->name, name, err));
    memcpy(file->name, name, sizeof name);
    return ZLG_OK;
}
