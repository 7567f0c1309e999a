/* Two drives under the same load, without and with program suspension: a host in C that advances both in step.
 * cc two_drives.c $(pkg-config --cflags --libs interpulse) -o two_drives */
#include <interpulse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 4000, STEP_NS = 50000, BATCH = 64 };

/* Configuration of both drives; the second has overrides. */
static const char *const CONFIG =
    "drive = \"a4-mini\"\n"
    "part.blocks-per-plane = 24\n"
    "[cache]\n"
    "size = \"1MiB\"\n";
static const char *const SUSPEND[] = {"suspend.program.scheme=loop-boundary", "suspend.program.max-suspends=10"};

typedef struct drive {
    const char *name;
    interpulse_device *device;
    uint64_t reads, latencies[REQUESTS];
    uint64_t causes[64]; /* ns of all reads by cause */
} drive;

static void check(int32_t code, const interpulse_device *device) {
    if (code == INTERPULSE_OK) return;
    fprintf(stderr, "error %d: %s\n", code, interpulse_error_message(device));
    exit(1);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Takes all completions of a drive. */
static size_t poll_all(drive *of) {
    interpulse_completion done[BATCH];
    uint64_t causes[BATCH * 64];
    size_t count, all = 0;
    do {
        check(interpulse_poll(of->device, done, BATCH, causes, &count), of->device);
        for (size_t k = 0; k < count; k++) {
            if (done[k].op != INTERPULSE_READ) continue;
            of->latencies[of->reads++] = done[k].completed_ns - done[k].submitted_ns;
            for (size_t c = 0; c < interpulse_cause_count(); c++)
                of->causes[c] += causes[k * interpulse_cause_count() + c];
        }
        all += count;
    } while (count == BATCH);
    return all;
}

static void report(drive *of, size_t done) {
    interpulse_audit audit;
    size_t most = 0;
    qsort(of->latencies, of->reads, sizeof *of->latencies, ascending);
    for (size_t c = 1; c < interpulse_cause_count(); c++)
        if (of->causes[c] > of->causes[most]) most = c;
    check(interpulse_finish(of->device, &audit), of->device);
    printf("%s: %zu requests, p99 of reads %.1f us, mostly %s; %llu units mapped\n", of->name, done,
           (double)of->latencies[of->reads * 99 / 100] / 1e3, interpulse_cause_name(most),
           (unsigned long long)audit.mapped_units);
    interpulse_destroy(of->device);
}

int main(void) {
    static drive drives[2] = {{.name = "no-suspend"}, {.name = "suspend"}};
    static interpulse_request requests[REQUESTS];
    size_t done[2] = {0, 0};
    uint64_t capacity, random = 1, now = 0;
    for (int d = 0; d < 2; d++) {
        interpulse_options options = {.size = sizeof options, .config = CONFIG, .path = drives[d].name};
        if (d == 1) options.sets = SUSPEND, options.set_count = 2;
        check(interpulse_create(&options, &drives[d].device), NULL);
    }
    check(interpulse_capacity(drives[0].device, 1, &capacity), drives[0].device);
    for (int k = 0; k < REQUESTS; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        requests[k].at_ns = (uint64_t)k * 40000;
        requests[k].op = random >> 62 ? INTERPULSE_READ : INTERPULSE_WRITE; /* a quarter are writes */
        requests[k].offset = (random >> 8) % (capacity / 4096) * 4096;
        requests[k].bytes = 4096;
    }
    for (int d = 0; d < 2; d++) check(interpulse_submit(drives[d].device, requests, REQUESTS, NULL), drives[d].device);
    while (done[0] < REQUESTS || done[1] < REQUESTS) {
        now += STEP_NS;
        for (int d = 0; d < 2; d++) {
            check(interpulse_advance_to(drives[d].device, now), drives[d].device);
            done[d] += poll_all(&drives[d]);
        }
    }
    for (int d = 0; d < 2; d++) report(&drives[d], done[d]);
    return 0;
}
