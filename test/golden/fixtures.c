/*
 * Stores written by others, through the C library: every valid array of the manifest gives
 * its sha256, every group its members and attributes, every invalid one its kind of error,
 * with little memory. One test per entry; what needs a part that is not built yet (zip
 * files, pcodec) is left out by name and counted.
 */
#define _GNU_SOURCE
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../test.h"

enum { MANY = 4096, MEMORY_MAX = 64 << 20 };
static const size_t RESULT_MAX = (size_t)1 << 45; /* mapped without being touched */

typedef struct suite {
    char shared[2048];
    zlgi_arena arena;
    struct CMUnitTest tests[MANY];
    size_t n_tests;
    int n_left_out;
} suite;

/* Where the shared data lies; false when it is not there. */
static bool find_shared(char out[2048])
{
    const char *given = getenv("ZELLIGE_SHARED");
    struct stat s;
    snprintf(out, 2048, "%s", given ? given : "../shared");
    char manifest[2100];
    snprintf(manifest, sizeof manifest, "%s/fixtures/manifest.json", out);
    return stat(manifest, &s) == 0;
}

static const zlgi_json *load(suite *s, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fixtures/%s", s->shared, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long n = ftell(file);
    rewind(file);
    char *text = malloc((size_t)n);
    const zlgi_json *json = NULL;
    zlg_error err = {0};
    if (fread(text, 1, (size_t)n, file) == (size_t)n &&
        zlgi_json_parse(&s->arena, text, (size_t)n, 64, &json, &err) != ZLG_OK)
        fprintf(stderr, "%s: %s\n", name, err.message);
    free(text);
    fclose(file);
    return json;
}

/* ------------------------------------------------------------------ one entry */

static suite *all;

static void sha256(const void *data, size_t n, char out[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n_digest;
    assert_int_equal(EVP_Digest(data, n, digest, &n_digest, EVP_sha256(), NULL), 1);
    for (unsigned i = 0; i < n_digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

typedef struct opened {
    test_heap heap;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
} opened;

static zlg_status open_entry(const zlgi_json *entry, opened *o, zlg_error *err)
{
    char path[4096];
    memset(o, 0, sizeof *o);
    test_heap_init(&o->heap);
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.allocator = o->heap.alloc;
    options.n_threads = 1; /* the heap counts for one thread */
    snprintf(path, sizeof path, "%s/fixtures/%s", all->shared,
             zlgi_json_get(entry, "store")->text);
    ZLGI_TRY(zlg_ctx_new(&options, &o->ctx, err));
    ZLGI_TRY(zlg_store_open_fs(o->ctx, path, NULL, &o->store, err));
    const zlgi_json *array = zlgi_json_get(entry, "array");
    return array ? zlg_array_open(o->store, array->text, NULL, &o->array, err) : ZLG_OK;
}

static void close_entry(opened *o)
{
    zlg_array_close(o->array);
    zlg_store_close(o->store);
    zlg_ctx_close(o->ctx);
    assert_int_equal(o->heap.n_bytes, 0); /* nothing leaks, whatever went wrong */
}

/* The canonical bytes of the whole array; to be freed with free_result. */
typedef struct result {
    void *mapped;
    size_t n_bytes, n_mapped;
    zlg_text text;
} result;

static zlg_status read_fixed(opened *o, result *r, zlg_error *err)
{
    size_t n = zlg_array_dtype(o->array).n_bytes;
    bool fits = true;
    for (int i = 0; i < zlg_array_rank(o->array); i++)
        fits = fits && zlgi_mul_size(n, (size_t)zlg_array_shape(o->array)[i], &n);
    r->n_bytes = fits ? n : 0;
    r->n_mapped = fits && n < RESULT_MAX ? n + 1 : 1;
    r->mapped = mmap(NULL, r->n_mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(r->mapped != MAP_FAILED);
    zlg_target target = {.data = r->mapped};
    return zlg_array_read(o->array, NULL, &target, NULL, err);
}

/* Lists of any length: the canonical form is the base64 of their bytes. */
static zlg_status format_lists(opened *o, const zlg_varlen *varlen, zlg_text *out,
                               zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, &o->heap.alloc);
    zlg_status status = zlgi_buf_append(&buf, "[", 1, err);
    for (int64_t i = 0; i < varlen->n && status == ZLG_OK; i++) {
        zlgi_bytes item = {varlen->bytes + varlen->offsets[i],
                           (size_t)(varlen->offsets[i + 1] - varlen->offsets[i])};
        status = zlgi_buf_printf(&buf, err, i ? ",\"" : "\"");
        if (status == ZLG_OK)
            status = zlgi_base64_encode(item, &buf, err);
        if (status == ZLG_OK)
            status = zlgi_buf_append(&buf, "\"", 1, err);
    }
    if (status == ZLG_OK)
        status = zlgi_buf_append(&buf, "]", 1, err);
    if (status == ZLG_OK)
        status = zlgi_buf_take_text(&buf, o->ctx, out, err);
    zlgi_buf_reset(&buf);
    return status;
}

static zlg_status read_varlen(opened *o, result *r, zlg_error *err)
{
    zlg_varlen varlen;
    ZLGI_TRY(zlg_array_read_varlen(o->array, NULL, &varlen, NULL, err));
    zlg_status status =
        zlg_array_dtype(o->array).type == ZLG_VLEN_ARRAY
            ? format_lists(o, &varlen, &r->text, err)
            : zlg_array_format(o->array, &varlen, (size_t)varlen.n, 1, &r->text, err);
    r->n_bytes = r->text.n_bytes;
    zlg_varlen_free(&varlen);
    return status;
}

static zlg_status read_entry(opened *o, result *r, zlg_error *err)
{
    memset(r, 0, sizeof *r);
    return zlg_array_dtype(o->array).n_bytes == 0 &&
                   zlg_array_dtype(o->array).type >= ZLG_STRING
               ? read_varlen(o, r, err)
               : read_fixed(o, r, err);
}

static void free_result(result *r)
{
    if (r->mapped)
        munmap(r->mapped, r->n_mapped);
    zlg_text_free(&r->text);
}

static void test_valid(void **state)
{
    const zlgi_json *entry = *state;
    opened o;
    result r = {0};
    zlg_error err = {0};
    if (open_entry(entry, &o, &err) != ZLG_OK || read_entry(&o, &r, &err) != ZLG_OK)
        fail_msg("%s: %s", zlg_status_name(err.status), err.message);
    int64_t n_bytes;
    assert_true(zlgi_json_i64(zlgi_json_get(entry, "nbytes"), &n_bytes));
    assert_int_equal(r.n_bytes, n_bytes);
    char digest[65];
    sha256(r.mapped ? r.mapped : r.text.data, r.n_bytes, digest);
    assert_string_equal(digest, zlgi_json_get(entry, "sha256")->text);
    free_result(&r);
    close_entry(&o);
}

static bool is_allowed(const zlgi_json *entry, const char *kind)
{
    if (zlgi_json_is(zlgi_json_get(entry, "error"), kind))
        return true;
    const zlgi_json *also = zlgi_json_get(entry, "also");
    for (const zlgi_json *item = also ? also->items : NULL; item; item = item->next)
        if (zlgi_json_is(item, kind))
            return true;
    return false;
}

static void test_invalid(void **state)
{
    const zlgi_json *entry = *state;
    opened o;
    result r = {0};
    zlg_error err = {0};
    zlg_status status = open_entry(entry, &o, &err);
    if (status == ZLG_OK)
        status = read_entry(&o, &r, &err);
    bool may_read = zlgi_json_get(entry, "may_read") != NULL;
    if (status == ZLG_OK && !may_read)
        fail_msg("was read");
    if (status != ZLG_OK) {
        assert_int_equal(status, err.status);
        if (!is_allowed(entry, zlg_status_name(status)))
            fail_msg("%s: %s", zlg_status_name(status), err.message);
    }
    assert_true(o.heap.peak_bytes <= MEMORY_MAX);
    free_result(&r);
    close_entry(&o);
}

/* ------------------------------------------------------------------ groups */

typedef struct member_check {
    const zlgi_json *members;
    int n_seen;
    bool wrong;
} member_check;

static int check_member(void *user, const char *path, zlg_node kind)
{
    member_check *check = user;
    const char *name = kind == ZLG_NODE_ARRAY ? "array" : "group";
    check->n_seen++;
    for (const zlgi_json *item = check->members->items; item; item = item->next)
        if (zlgi_json_is(zlgi_json_get(item, "name"), path))
            return !zlgi_json_is(zlgi_json_get(item, "kind"), name) &&
                   (check->wrong = true);
    print_error("member %s is not expected\n", path);
    return (check->wrong = true);
}

static void test_group(void **state)
{
    const zlgi_json *entry = *state;
    opened o;
    zlg_group *group = NULL;
    zlg_error err = {0};
    if (open_entry(entry, &o, &err) != ZLG_OK ||
        zlg_group_open(o.store, zlgi_json_get(entry, "group")->text, NULL, &group, &err) !=
            ZLG_OK)
        fail_msg("%s: %s", zlg_status_name(err.status), err.message);
    member_check check = {.members = zlgi_json_get(entry, "members")};
    if (zlg_group_members(group, 0, check_member, &check, &err) != ZLG_OK)
        fail_msg("%s", err.message);
    assert_false(check.wrong);
    assert_int_equal(check.n_seen, check.members->n_items);
    zlg_text text;
    zlgi_arena arena;
    const zlgi_json *attributes;
    assert_int_equal(zlg_group_attributes(group, &text, &err), ZLG_OK);
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    assert_int_equal(
        zlgi_json_parse(&arena, text.data, text.n_bytes, 64, &attributes, &err), ZLG_OK);
    assert_true(zlgi_json_equal(attributes, zlgi_json_get(entry, "attributes")));
    zlgi_arena_reset(&arena);
    zlg_text_free(&text);
    zlg_group_close(group);
    close_entry(&o);
}

/* ------------------------------------------------------------------ the list */

static bool has_tag(const zlgi_json *entry, const char *tag)
{
    const zlgi_json *tests = zlgi_json_get(entry, "tests");
    for (const zlgi_json *item = tests ? tests->items : NULL; item; item = item->next)
        if (zlgi_json_is(item, tag))
            return true;
    return false;
}

static bool is_file(const suite *s, const zlgi_json *entry)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/fixtures/%s", s->shared,
             zlgi_json_get(entry, "store")->text);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool needs_pcodec(const zlgi_json *entry)
{
    const zlgi_json *array = zlgi_json_get(entry, "array");
    return has_tag(entry, "pcodec") || (array && strstr(array->text, "pcodec"));
}

static void add(suite *s, const zlgi_json *entry, const char *what, const char *node,
                CMUnitTestFunction function)
{
    if (is_file(s, entry) || needs_pcodec(entry)) {
        s->n_left_out++;
        return;
    }
    char *name = zlgi_arena_get(&s->arena, 4096);
    snprintf(name, 4096, "%s %s %s", what, zlgi_json_get(entry, "store")->text,
             zlgi_json_get(entry, node)->text);
    assert_true(s->n_tests < MANY);
    s->tests[s->n_tests++] =
        (struct CMUnitTest){name, function, NULL, NULL, (void *)(uintptr_t)entry};
}

static void test_absent(void **state)
{
    (void)state;
    print_message("the shared data is not there\n");
    skip();
}

int main(void)
{
    static suite s;
    all = &s;
    zlgi_arena_init(&s.arena, &zlgi_default_alloc);
    if (!find_shared(s.shared)) {
        const struct CMUnitTest absent[] = {cmocka_unit_test(test_absent)};
        return cmocka_run_group_tests(absent, NULL, NULL);
    }
    const zlgi_json *manifest = load(&s, "manifest.json"),
                    *groups = load(&s, "groups.json");
    if (!manifest || !groups)
        return 1;
    for (const zlgi_json *entry = manifest->items; entry; entry = entry->next)
        if (zlgi_json_get(entry, "error"))
            add(&s, entry, "invalid", "array", test_invalid);
        else
            add(&s, entry, "valid", "array", test_valid);
    for (const zlgi_json *entry = groups->items; entry; entry = entry->next)
        add(&s, entry, "group", "group", test_group);
    printf("%zu entries, %d left out: zip files and pcodec\n", s.n_tests, s.n_left_out);
    int n_failed = _cmocka_run_group_tests("fixtures", s.tests, s.n_tests, NULL, NULL);
    zlgi_arena_reset(&s.arena);
    return n_failed > 0;
}
