/*
 * The order of system calls, as strace sees them: for a durable change the bytes are
 * written, the file synced, then named, then the directory synced; a verified one is read
 * back before it has a name; a visible one syncs nothing. Skipped where strace is not
 * there, or may not trace.
 *
 *     PROGRAM change ROOT PROMISE BATCHED      what is traced
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "unit/fs_test.h"

/* ------------------------------------------------------------------ what is traced */

/* A new object, one that is replaced, one that is updated, one that is removed. */
static int change(char **arguments)
{
    static const struct {
        const char *key;
        zlgi_change change;
        int n_parts;
    } steps[] = {{"a/b/new", ZLGI_REPLACE, 1},
                 {"a/old", ZLGI_REPLACE, 1},
                 {"a/count", ZLGI_UPDATE, 1},
                 {"a/gone", ZLGI_REPLACE, ZLGI_REMOVE}};
    zlg_store *store;
    zlg_promise promise = (zlg_promise)strtol(arguments[1], NULL, 10);
    bool batched = arguments[2][0] == '1';
    if (zlgi_fs_open(&zlgi_default_alloc, &test_limits, arguments[0], NULL, &store, NULL) !=
        ZLG_OK)
        return 2;
    zlgi_syncs *syncs = batched ? zlgi_syncs_new(&zlgi_default_alloc) : NULL;
    int n_failed = 0;
    for (size_t i = 0; i < ZLGI_COUNT(steps); i++) {
        zlgi_bytes part = {(const uint8_t *)"0123456789", 10};
        zlgi_txn txn = {.change = steps[i].change, .promise = promise, .syncs = syncs};
        n_failed += store->class->begin(store, steps[i].key, &txn, NULL) != ZLG_OK;
        n_failed += store->class->commit(store, steps[i].key, &txn, &part, steps[i].n_parts,
                                         NULL) != ZLG_OK;
        store->class->end(store, &txn);
    }
    if (batched)
        n_failed += store->class->sync(store, syncs, NULL) != ZLG_OK;
    zlgi_syncs_free(syncs);
    zlgi_store_destroy(store);
    return n_failed;
}

/* ------------------------------------------------------------------ the trace
 *
 * Each call that matters becomes a word: w(rite), s(ync), p(read), n(ame), u(nlink) of a
 * file, S(ync) of a directory with its name.
 */
enum { MAX_WORDS = 1000 };

/* A file that has not got the object's name yet; of one without any, its number is told. */
static bool is_unfinished(const char *line)
{
    return strstr(line, ZLGI_FS_TEMPORARY) != NULL || strstr(line, "/#") != NULL;
}

static void append(char words[MAX_WORDS], const char *word)
{
    size_t n = strlen(words), n_word = strlen(word);
    assert_in_range(n + n_word + 2, 1, MAX_WORDS);
    memcpy(words + n, word, n_word + 1);
    memcpy(words + n + n_word, " ", 2);
}

/* "fsync(5</folder/a>) = 0": a temporary file, or the path below the folder. A file without
 * a name has no word: some file systems do not sync it. */
static void append_sync(const char *line, const char *root, char words[MAX_WORDS])
{
    char word[PATH_MAX + 2];
    const char *path = strchr(line, '<');
    assert_non_null(path);
    path++;
    assert_int_equal(strncmp(path, root, strlen(root)), 0);
    path += strlen(root);
    int n = (int)strcspn(path, ">");
    if (strstr(line, ZLGI_FS_TEMPORARY) != NULL)
        snprintf(word, sizeof word, "s");
    else
        snprintf(word, sizeof word, "S%.*s", n, path);
    append(words, word);
}

static void read_trace(const char *trace, const char *root, char words[MAX_WORDS])
{
    char line[4000];
    words[0] = '\0';
    FILE *file = fopen(trace, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        bool is_failed = strstr(line, ") = -1 ") != NULL;
        bool is_ours = strstr(line, root) != NULL && !is_failed;
        bool is_file = is_ours && is_unfinished(line);
        if (strncmp(line, "writev(", 7) == 0 && is_file)
            append(words, "w");
        else if (strncmp(line, "pread64(", 8) == 0 && is_file)
            append(words, "p");
        else if (strncmp(line, "fsync(", 6) == 0 && is_ours)
            append_sync(line, root, words);
        else if (strncmp(line, "rename", 6) == 0 && is_file)
            append(words, "n");
        else if (strncmp(line, "linkat(", 7) == 0 && is_ours)
            append(words, "n");
        else if (strncmp(line, "unlinkat(", 9) == 0 && is_ours)
            append(words, "u");
        else if (strncmp(line, "fdatasync(", 10) == 0 || strncmp(line, "sync", 4) == 0)
            append(words, "?");
    }
    fclose(file);
}

/* The exit code of a program; its output is dropped. */
static int run(char *const arguments[])
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        /* The leak finder of a sanitizer cannot work below a tracer. */
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void must_trace(zlg_promise promise, bool batched, const char *expected)
{
    test_folder folder;
    char trace[PATH_MAX], root[PATH_MAX], number[12], self[PATH_MAX], words[MAX_WORDS];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_in_range(n, 1, sizeof self - 2);
    self[n] = '\0';
    test_folder_make(&folder);
    memcpy(trace, test_folder_path(&folder, "trace"), PATH_MAX);
    memcpy(root, test_folder_path(&folder, "root"), PATH_MAX);
    test_folder_mkdir(&folder, "root");
    test_folder_mkdir(&folder, "root/a");
    test_folder_write(&folder, "root/a/old", "old");
    test_folder_write(&folder, "root/a/count", "1");
    test_folder_write(&folder, "root/a/gone", "1");
    snprintf(number, sizeof number, "%d", (int)promise);
    char *const arguments[] = {(char *)"strace",
                               (char *)"-qq",
                               (char *)"-y",
                               (char *)"-s",
                               (char *)"0",
                               (char *)"-o",
                               trace,
                               self,
                               (char *)"change",
                               root,
                               number,
                               (char *)(batched ? "1" : "0"),
                               NULL};
    assert_int_equal(run(arguments), 0);
    read_trace(trace, root, words);
    assert_string_equal(words, expected);
    test_folder_remove(&folder);
}

static bool can_trace(void)
{
    char *const arguments[] = {(char *)"strace", (char *)"-qq", (char *)"true", NULL};
    return run(arguments) == 0;
}

static void test_visible(void **state)
{
    (void)state;
    if (!can_trace())
        skip();
    must_trace(ZLG_VISIBLE, false, "w n w n w n u ");
    must_trace(ZLG_VISIBLE, true, "w n w n w n u ");
}

static void test_durable(void **state)
{
    (void)state;
    if (!can_trace())
        skip();
    /* A new directory has a name in /a, too. */
    must_trace(ZLG_DURABLE, false, "S/a w s n S/a/b w s n S/a w s n S/a u S/a ");
    must_trace(ZLG_DURABLE, true, "w s n w s n w s n u S/a S/a/b ");
}

static void test_verified(void **state)
{
    (void)state;
    if (!can_trace())
        skip();
    must_trace(ZLG_VERIFIED, false, "S/a w s p n S/a/b w s p n S/a w s p n S/a u S/a ");
    must_trace(ZLG_VERIFIED, true, "w s p n w s p n w s p n u S/a S/a/b ");
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments == 5 && strcmp(arguments[1], "change") == 0)
        return change(arguments + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible),
        cmocka_unit_test(test_durable),
        cmocka_unit_test(test_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
