/* tests/fuzz/replay.c - runs a fuzz target over the files of folders, without a fuzzer: how `make test` replays
 * the corpora. Ends with "N passed, 0 failed"; a fault ends the process. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    /* exactly as long as the input, so that ASan sees any byte read behind it */
    uint8_t *bytes = mem_alloc(n > 0 ? (size_t)n : 1);
    if (fread(bytes, 1, (size_t)n, f) != (size_t)n) {
        perror(path);
        exit(2);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, (size_t)n);
    free(bytes);
}

static int run_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        exit(2);
    }
    int n_files = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        run_file(path);
        n_files++;
    }
    closedir(dir);
    return n_files;
}

int main(int argc, char **argv)
{
    int n_files = 0;
    for (int i = 1; i < argc; i++)
        n_files += run_folder(argv[i]);
    printf("%d passed, 0 failed\n", n_files);
    return n_files == 0;
}
