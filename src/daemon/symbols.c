/* daemon/symbols.c - see symbols.h.
 *
 * The file is our own program, so it is believed as far as the kernel and the linker believed it; offsets are checked
 * against its size all the same. */
#include "daemon/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

struct function {
    uintptr_t begin, end; /* as linked, without the place it was loaded at */
    const char *name;
};

struct symbols {
    char *file;
    size_t n_file;
    uintptr_t base; /* where the program was loaded */
    VEC(struct function) functions; /* by address */
};

static bool is_within(const struct symbols *s, uint64_t at, uint64_t n)
{
    return at <= s->n_file && n <= s->n_file - at;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = ((const struct function *)a)->begin, y = ((const struct function *)b)->begin;
    return (x > y) - (x < y);
}

static void read_table(struct symbols *s, const ElfW(Shdr) *table, const ElfW(Shdr) *names)
{
    if (!is_within(s, table->sh_offset, table->sh_size) || !is_within(s, names->sh_offset, names->sh_size) ||
        names->sh_size == 0 || s->file[names->sh_offset + names->sh_size - 1] != '\0')
        return;
    const ElfW(Sym) *at = (const ElfW(Sym) *)(const void *)(s->file + table->sh_offset);
    for (size_t i = 0; i < table->sh_size / sizeof(*at); i++)
        if (ELF64_ST_TYPE(at[i].st_info) == STT_FUNC && at[i].st_value && at[i].st_size &&
            at[i].st_name < names->sh_size)
            vec_push(&s->functions, (struct function){ at[i].st_value, at[i].st_value + at[i].st_size,
                                                       s->file + names->sh_offset + at[i].st_name });
}

static void read_file(struct symbols *s)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)(const void *)s->file;
    if (!is_within(s, 0, sizeof(*head)) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)) ||
        !is_within(s, head->e_shoff, (uint64_t)head->e_shnum * sizeof(ElfW(Shdr))))
        return;
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(const void *)(s->file + head->e_shoff);
    for (size_t i = 0; i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < head->e_shnum)
            read_table(s, &sections[i], &sections[sections[i].sh_link]);
    if (s->functions.n)
        qsort(s->functions.at, s->functions.n, sizeof(s->functions.at[0]), by_address);
}

/* The program is the first of all that is loaded. */
static int find_base(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(uintptr_t *)context = info->dlpi_addr;
    return 1;
}

struct symbols *symbols_new(void)
{
    struct symbols *s = mem_zalloc(sizeof(*s));
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    dl_iterate_phdr(find_base, &s->base);
    if (fd < 0)
        return s;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            s->file = file;
            s->n_file = (size_t)st.st_size;
            read_file(s);
        }
    }
    close(fd);
    return s;
}

void symbols_free(struct symbols *s)
{
    if (!s)
        return;
    if (s->file)
        munmap(s->file, s->n_file);
    vec_fini(&s->functions);
    free(s);
}

struct str symbols_find(const struct symbols *s, uintptr_t address)
{
    uintptr_t linked = address - s->base;
    size_t low = 0, high = s->functions.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->functions.at[middle].begin <= linked)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && linked < s->functions.at[low - 1].end)
        return str_of(s->functions.at[low - 1].name);
    Dl_info info;
    if (dladdr((void *)address, &info) && info.dli_sname)
        return str_of(info.dli_sname);
    return STR("");
}
