/*
 * Runs a fuzz target over the files of the folders and files named as arguments, so that
 * every ordinary test run repeats what fuzzing has found. A folder that is not there is
 * an empty one. Each input lies in a block of exactly its size, for AddressSanitizer.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static int n_inputs;

static void replay_file(const char *path, size_t n_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(n_bytes > 0 ? n_bytes : 1);
    if (file == NULL || data == NULL || fread(data, 1, n_bytes, file) != n_bytes) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, n_bytes);
    free(data);
    n_inputs++;
}

static void replay(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return;
    if (!S_ISDIR(info.st_mode)) {
        replay_file(path, (size_t)info.st_size);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char below[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
            replay(below);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d inputs replayed\n", n_inputs);
    return 0;
}
