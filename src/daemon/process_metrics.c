/* daemon/process_metrics.c - see process_metrics.h. */
#include "daemon/process_metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16384 }; /* /proc/self/net/netstat is the longest */

/* The beginning of a file as text; empty: it cannot be read. */
static void read_text(const char *path, char *ret_text)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(ret_text, 1, FILE_BYTES_MAX - 1, f) : 0;
    ret_text[n] = '\0';
    if (f)
        fclose(f);
}

/* A field of /proc/self/stat by the number that proc(5) gives it, from 3 on: what follows the name of the program, in which
 * there may be anything. */
static double stat_field(int number)
{
    char text[FILE_BYTES_MAX];
    read_text("/proc/self/stat", text);
    char *at = strrchr(text, ')');
    for (int i = 2; at && i < number; i++)
        at = strchr(at + 1, ' ');
    return at ? strtod(at, NULL) : 0;
}

static double ticks_to_seconds(double ticks)
{
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

static double cpu_seconds(void *context)
{
    (void)context;
    return ticks_to_seconds(stat_field(14) + stat_field(15));
}

static double resident_bytes(void *context)
{
    (void)context;
    return stat_field(24) * (double)sysconf(_SC_PAGESIZE);
}

static double virtual_bytes(void *context)
{
    (void)context;
    return stat_field(23);
}

static double boot_time_s(void)
{
    char text[FILE_BYTES_MAX];
    read_text("/proc/stat", text);
    const char *line = strstr(text, "\nbtime ");
    return line ? strtod(line + 7, NULL) : 0;
}

static double start_time_s(void *context)
{
    (void)context;
    return boot_time_s() + ticks_to_seconds(stat_field(22));
}

static double open_fds(void *context)
{
    (void)context;
    DIR *d = opendir("/proc/self/fd");
    double n = 0;
    while (d && readdir(d))
        n++;
    if (!d)
        return 0;
    closedir(d);
    return n - 3; /* ".", "..", and the one that was opened to look */
}

static double limit_of(int resource)
{
    struct rlimit limit = { 0 };
    if (getrlimit((__rlimit_resource_t)resource, &limit))
        return 0;
    return (double)limit.rlim_cur;
}

static double max_fds(void *context)
{
    (void)context;
    return limit_of(RLIMIT_NOFILE);
}

static double virtual_bytes_max(void *context)
{
    (void)context;
    return limit_of(RLIMIT_AS);
}

/* The number below `name` in the two lines of /proc/self/net/netstat that begin with IpExt. */
static double ip_octets(const char *name)
{
    char text[FILE_BYTES_MAX];
    read_text("/proc/self/net/netstat", text);
    char *names = strstr(text, "IpExt: "), *values = names ? strstr(names + 1, "IpExt: ") : NULL;
    char *save_names, *save_values;
    if (!values)
        return 0;
    values[-1] = '\0';
    char *n = strtok_r(names, " ", &save_names), *v = strtok_r(values, " \n", &save_values);
    while (n && v && strcmp(n, name) != 0) {
        n = strtok_r(NULL, " ", &save_names);
        v = strtok_r(NULL, " \n", &save_values);
    }
    return n && v ? strtod(v, NULL) : 0;
}

static double received_bytes(void *context)
{
    (void)context;
    return ip_octets("InOctets");
}

static double sent_bytes(void *context)
{
    (void)context;
    return ip_octets("OutOctets");
}

/* ---- The families ---- */

static const struct {
    const char *name, *help;
    bool is_counter;
    double (*read)(void *context);
} families[] = {
    { "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", true, cpu_seconds },
    { "process_max_fds", "Maximum number of open file descriptors.", false, max_fds },
    { "process_network_receive_bytes_total", "Number of bytes received by the process over the network.", true,
      received_bytes },
    { "process_network_transmit_bytes_total", "Number of bytes sent by the process over the network.", true, sent_bytes },
    { "process_open_fds", "Number of open file descriptors.", false, open_fds },
    { "process_resident_memory_bytes", "Resident memory size in bytes.", false, resident_bytes },
    { "process_start_time_seconds", "Start time of the process since unix epoch in seconds.", false, start_time_s },
    { "process_virtual_memory_bytes", "Virtual memory size in bytes.", false, virtual_bytes },
    { "process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", false,
      virtual_bytes_max },
};

void process_metrics_add(struct metrics *r)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        struct metric_desc desc = { families[i].name, families[i].help, { NULL } };
        struct metric *metric = families[i].is_counter ? metrics_add_counter(r, &desc) : metrics_add_gauge(r, &desc);
        series_read_from(metric_series(metric, NULL), families[i].read, NULL);
    }
}

void process_metrics_add_start(struct metrics *r)
{
    struct metric *start = metrics_add_gauge(
        r, &(struct metric_desc){ "process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
                                  { NULL }, .stability = STABILITY_ALPHA });
    series_read_from(metric_series(start, NULL), start_time_s, NULL);
}
