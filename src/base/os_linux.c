/*
 * The operating system, where it is Linux: huge pages, and how many cores this process may
 * really use.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

/* ------------------------------------------------------------------ mapped memory */

static void *map(size_t n_bytes)
{
    void *block =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

/* Maps a huge page too much and gives back what lies outside the aligned part. */
static void *map_aligned(size_t n_bytes)
{
    size_t n_all;
    if (!zlgi_add_size(n_bytes, ZLGI_HUGE_PAGE, &n_all))
        return NULL;
    uint8_t *all = map(n_all);
    if (all == NULL)
        return NULL;
    size_t n_before = (ZLGI_HUGE_PAGE - (uintptr_t)all % ZLGI_HUGE_PAGE) % ZLGI_HUGE_PAGE;
    size_t n_after = ZLGI_HUGE_PAGE - n_before;
    if (n_before > 0)
        munmap(all, n_before);
    if (n_after > 0)
        munmap(all + n_before + n_bytes, n_after);
    return all + n_before;
}

void *zlgi_os_map(size_t n_bytes)
{
    /* Newer kernels align large mappings by themselves. */
    void *block = map(n_bytes);
    if (block != NULL && (uintptr_t)block % ZLGI_HUGE_PAGE != 0) {
        munmap(block, n_bytes);
        block = map_aligned(n_bytes);
    }
    /* Advice: a kernel that refuses it still gives memory. */
    if (block != NULL)
        (void)madvise(block, n_bytes, MADV_HUGEPAGE);
    return block;
}

void zlgi_os_unmap(void *block, size_t n_bytes)
{
    munmap(block, n_bytes);
}

bool zlgi_os_remap(void *block, size_t old_bytes, size_t new_bytes)
{
    return mremap(block, old_bytes, new_bytes, 0) == block;
}

/* ------------------------------------------------------------------ usable cores
 *
 * The affinity mask counts cores; a control group may allow fewer by a quota of time. A
 * group is bound by those above it too.
 */

static int cores_of_mask(void)
{
    /* The kernel refuses a set smaller than its own, which is 8192 at most today. */
    cpu_set_t sets[8];
    if (sched_getaffinity(0, sizeof sets, sets) == 0)
        return ZLGI_MAX(CPU_COUNT_S(sizeof sets, sets), 1);
    long n_online = sysconf(_SC_NPROCESSORS_ONLN);
    return n_online > 0 ? (int)n_online : 1;
}

/* The start of a small file as text; empty when it cannot be read. */
static void read_small(const char *path, char *out, size_t n_out)
{
    out[0] = '\0';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t n = read(file, out, n_out - 1);
    close(file);
    out[n > 0 ? n : 0] = '\0';
}

/* Cores that one group's own files allow; INT64_MAX when they set no quota. */
static int64_t cores_of_group(const char *folder, const char *group, int n_group)
{
    char path[512], text[64];
    long long quota = -1, period = -1;
    snprintf(path, sizeof path, "%s%.*s/cpu.max", folder, n_group, group);
    read_small(path, text, sizeof text);
    if (sscanf(text, "%lld %lld", &quota, &period) != 2) {
        snprintf(path, sizeof path, "%s%.*s/cpu.cfs_quota_us", folder, n_group, group);
        read_small(path, text, sizeof text);
        quota = strtoll(text, NULL, 10);
        snprintf(path, sizeof path, "%s%.*s/cpu.cfs_period_us", folder, n_group, group);
        read_small(path, text, sizeof text);
        period = strtoll(text, NULL, 10);
    }
    return quota > 0 && period > 0 ? (quota - 1) / period + 1 : INT64_MAX;
}

static int64_t cores_of_groups(void)
{
    char text[2048];
    read_small("/proc/self/cgroup", text, sizeof text);
    int64_t n_cores = INT64_MAX;
    /* Lines of "number:controllers:/path"; version 2 has no controllers. */
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        char *colon = strchr(line, ':');
        char *controllers = colon == NULL ? end : colon + 1;
        char *group = strchr(controllers, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        bool is_cpu = strcmp(controllers, "cpu,cpuacct") == 0 ||
                      strcmp(controllers, "cpuacct,cpu") == 0 ||
                      strcmp(controllers, "cpu") == 0;
        if (!is_cpu && controllers[0] != '\0')
            continue;
        const char *folder = is_cpu ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup";
        for (int n = (int)strlen(group); n >= 0; n--)
            if (group[n] == '\0' || group[n] == '/')
                n_cores = ZLGI_MIN(n_cores, cores_of_group(folder, group, n));
    }
    return n_cores;
}

int zlgi_usable_cores(void)
{
    int n_mask = cores_of_mask();
    int64_t n_quota = cores_of_groups();
    return n_quota < n_mask ? (int)n_quota : n_mask;
}
