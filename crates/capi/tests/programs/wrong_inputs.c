/* Wrong inputs: every one is refused with its code and a message, and the device works on. */
#include <interpulse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cases = 0;

static void expect(int line, int32_t seen, int32_t code, const interpulse_device *device, const char *part) {
    const char *message = interpulse_error_message(device);
    if (seen != code || strstr(message, part) == NULL) {
        printf("line %d: code %d, expected %d; message \"%s\", expected \"%s\"\n", line, seen, code, message, part);
        exit(1);
    }
    cases++;
}
#define EXPECT(call, code, device, part) expect(__LINE__, call, code, device, part)

static interpulse_request request(uint64_t at, uint32_t op, uint64_t offset, uint64_t bytes) {
    interpulse_request made;
    memset(&made, 0, sizeof made);
    made.at_ns = at;
    made.op = op;
    made.offset = offset;
    made.bytes = bytes;
    return made;
}

static void submit(int line, interpulse_device *device, interpulse_request made, int32_t code, const char *part) {
    uint64_t tag = 77;
    expect(line, interpulse_submit(device, &made, 1, &tag), code, device, part);
    if (tag != 77) {
        printf("line %d: the tag of a refused request was stored\n", line);
        exit(1);
    }
}
#define REFUSED(made, code, part) submit(__LINE__, device, made, code, part)

int main(int argc, char **argv) {
    const char *text = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n";
    interpulse_options options, other;
    interpulse_device *device = (interpulse_device *)&options, *second = NULL;
    interpulse_completion completion;
    interpulse_request made, many[3];
    uint64_t value, capacity;
    size_t count;
    char state[4096], small[8];
    const char *sets[2] = {"seed = 2", "nosuch"};

    snprintf(state, sizeof state, "%s/wrong_inputs.state", argc > 1 ? argv[1] : "/tmp");
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.config = text;
    options.path = "host.toml";
    options.flags = INTERPULSE_JOURNAL;

    /* Without a device. */
    EXPECT(interpulse_create(NULL, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options is NULL");
    if (device != NULL) return 2;
    EXPECT(interpulse_create(&options, NULL), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    other = options, other.size = 8;
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options.size = 8: legal: ");
    other = options, other.flags = 64;
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options.flags = 64");
    other = options, other.reserved = 1;
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "reserved = 1");
    other = options, other.config = NULL;
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options.config is NULL");
    other = options, other.config = "\xff";
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options.config is not UTF-8");
    other = options, other.set_count = 1;
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options.sets is NULL");
    other.sets = sets, other.set_count = 2;
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_ARGUMENT, NULL, "options.sets[1] = \"nosuch\"");
    other = options, other.config = "drive = \"a4-mini\"\n[ftl]\ngc = \"x\"\n";
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_CONFIG, NULL, "host.toml:3: ftl.gc");
    other = options, other.config = "drive = 5";
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_CONFIG, NULL, "host.toml:1");
    other = options, other.case_name = "b";
    EXPECT(interpulse_create(&other, &device), INTERPULSE_ERROR_CONFIG, NULL, "no case \"b\"");
    if (device != NULL) return 3;

    /* NULL for a device. */
    EXPECT(interpulse_submit(NULL, &made, 1, &value), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_now(NULL, &value), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_next_event_time(NULL, &value), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_advance_to(NULL, 5), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_advance_to_completion(NULL, 5, &count), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_poll(NULL, &completion, 1, NULL, &count), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_pending(NULL, &count), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_capacity(NULL, 1, &value), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_counter(NULL, "host.requests", &value), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_counters_json(NULL, NULL, 0, &count), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_describe(NULL, NULL, 0, &count), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_save(NULL, state), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    EXPECT(interpulse_finish(NULL, NULL), INTERPULSE_ERROR_ARGUMENT, NULL, "device is NULL");
    interpulse_destroy(NULL);
    if (interpulse_cause_name(interpulse_cause_count()) != NULL || interpulse_status_name(0x7ff) != NULL) return 4;
    if (strcmp(interpulse_status_name(0x281), "Unrecovered Read Error") != 0) return 5;
    if (strcmp(interpulse_cause_name(0), "host_reads") != 0) return 6;

    /* NULL for something else. */
    if (interpulse_create(&options, &device) != INTERPULSE_OK) return 7;
    made = request(1000, INTERPULSE_READ, 0, 4096);
    EXPECT(interpulse_submit(device, NULL, 1, &value), INTERPULSE_ERROR_ARGUMENT, device, "requests is NULL");
    EXPECT(interpulse_now(device, NULL), INTERPULSE_ERROR_ARGUMENT, device, "now_ns is NULL");
    EXPECT(interpulse_next_event_time(device, NULL), INTERPULSE_ERROR_ARGUMENT, device, "at_ns is NULL");
    EXPECT(interpulse_poll(device, NULL, 1, NULL, &count), INTERPULSE_ERROR_ARGUMENT, device, "completions or count");
    EXPECT(interpulse_poll(device, &completion, 1, NULL, NULL), INTERPULSE_ERROR_ARGUMENT, device, "or count is NULL");
    EXPECT(interpulse_pending(device, NULL), INTERPULSE_ERROR_ARGUMENT, device, "count is NULL");
    EXPECT(interpulse_capacity(device, 1, NULL), INTERPULSE_ERROR_ARGUMENT, device, "bytes is NULL");
    EXPECT(interpulse_counter(device, NULL, &value), INTERPULSE_ERROR_ARGUMENT, device, "name is NULL");
    EXPECT(interpulse_counter(device, "host.requests", NULL), INTERPULSE_ERROR_ARGUMENT, device, "value is NULL");
    EXPECT(interpulse_counter(device, "host.nosuch", &value), INTERPULSE_ERROR_ARGUMENT, device, "host.nosuch");
    EXPECT(interpulse_save(device, NULL), INTERPULSE_ERROR_ARGUMENT, device, "file is NULL");
    EXPECT(interpulse_restore(&options, NULL, &second), INTERPULSE_ERROR_ARGUMENT, NULL, "file is NULL");

    /* Illegal requests. */
    if (interpulse_capacity(device, 0, &capacity) != INTERPULSE_OK) return 8;
    EXPECT(interpulse_capacity(device, 2, &value), INTERPULSE_ERROR_REQUEST, device, "nsid = 2: legal: 1 to 1");
    REFUSED(request(0, 15, 0, 4096), INTERPULSE_ERROR_REQUEST, "op = 15: legal: 0 to 14");
    REFUSED(request(0, UINT32_MAX, 0, 4096), INTERPULSE_ERROR_REQUEST, "op = 4294967295");
    REFUSED(request(0, INTERPULSE_READ, capacity, 512), INTERPULSE_ERROR_REQUEST, "ends behind the ");
    REFUSED(request(0, INTERPULSE_READ, UINT64_MAX - 511, 512), INTERPULSE_ERROR_REQUEST, "ends behind the ");
    REFUSED(request(0, INTERPULSE_WRITE, 100, 512), INTERPULSE_ERROR_REQUEST, "multiples of 512");
    REFUSED(request(0, INTERPULSE_WRITE, 0, 100), INTERPULSE_ERROR_REQUEST, "multiples of 512");
    REFUSED(request(0, INTERPULSE_READ, 0, 0), INTERPULSE_ERROR_REQUEST, "bytes = 0: legal of read: 512 to ");
    REFUSED(request(0, INTERPULSE_FLUSH, 0, 512), INTERPULSE_ERROR_REQUEST, "legal of flush: offset = 0 and bytes = 0");
    REFUSED(request(UINT64_MAX, INTERPULSE_READ, 0, 512), INTERPULSE_ERROR_TIME, "100 days");
    made.nsid = 2;
    REFUSED(made, INTERPULSE_ERROR_REQUEST, "namespace = 2: legal: 1 to 1");
    made.nsid = 0, made.queue = 9;
    REFUSED(made, INTERPULSE_ERROR_REQUEST, "queue = 9: legal: 0 to 0");
    made.queue = 0, made.handle = 256;
    REFUSED(made, INTERPULSE_ERROR_REQUEST, "handle = 256: legal: 0 to 255");
    made.handle = 3;
    REFUSED(made, INTERPULSE_ERROR_REQUEST, "handle = 3: legal: 0 to 0 (ftl.placement)");
    many[0] = many[1] = many[2] = request(5000, INTERPULSE_READ, 0, 512);
    many[2].bytes = 1;
    EXPECT(interpulse_submit(device, many, 3, NULL), INTERPULSE_ERROR_REQUEST, device, "request 2 of the batch: ");
    if (interpulse_pending(device, &count) != INTERPULSE_OK || count != 0) return 9;

    /* Time, and a state of another configuration. */
    made = request(1000, INTERPULSE_READ, 0, 4096);
    if (interpulse_submit(device, &made, 1, NULL) || interpulse_advance_to(device, 1000)) return 10;
    REFUSED(request(999, INTERPULSE_READ, 0, 512), INTERPULSE_ERROR_TIME, "at = 999 ns is in the past: it is 1000 ns");
    EXPECT(interpulse_advance_to(device, 0), INTERPULSE_ERROR_TIME, device, "simulated time cannot go back to 0 ns");
    EXPECT(interpulse_advance_to(device, UINT64_MAX), INTERPULSE_ERROR_TIME, device, "100 days");
    EXPECT(interpulse_advance_to_completion(device, 5, NULL), INTERPULSE_ERROR_TIME, device, "cannot go back");
    EXPECT(interpulse_save(device, "/nosuch/folder/state"), INTERPULSE_ERROR_STATE, device, "/nosuch/folder/state: ");
    if (interpulse_save(device, state) != INTERPULSE_OK) return 11;
    EXPECT(interpulse_restore(&options, "/nosuch", &second), INTERPULSE_ERROR_STATE, NULL, "/nosuch: ");
    EXPECT(interpulse_restore(&options, argv[0], &second), INTERPULSE_ERROR_STATE, NULL, "not a saved device");
    other = options, other.sets = sets, other.set_count = 1;
    EXPECT(interpulse_restore(&other, state, &second), INTERPULSE_ERROR_STATE, NULL, "it is of another configuration");
    if (interpulse_restore(&options, state, &second) != INTERPULSE_OK) return 12;

    /* Both devices work on, alike. */
    if (interpulse_advance_to_completion(device, INTERPULSE_NONE, &count) || count != 1) return 13;
    if (interpulse_poll(device, &completion, 1, NULL, &count) || count != 1 || completion.status != 0) return 14;
    value = completion.completed_ns;
    if (interpulse_finish(second, NULL) || interpulse_poll(second, &completion, 1, NULL, &count)) return 15;
    if (count != 1 || completion.completed_ns != value) return 16;
    EXPECT(interpulse_finish(second, NULL), INTERPULSE_ERROR_FINISHED, second, "finished");
    EXPECT(interpulse_advance_to(second, value + 1), INTERPULSE_ERROR_FINISHED, second, "finished");
    EXPECT(interpulse_save(second, state), INTERPULSE_ERROR_FINISHED, second, "finished");
    if (interpulse_describe(device, small, sizeof small, &count) || strlen(small) != 7 || count < 50) return 17;
    interpulse_destroy(device);
    interpulse_destroy(second);

    /* A device without a journal. */
    options.flags = INTERPULSE_NO_CAUSES;
    if (interpulse_create(&options, &device) != INTERPULSE_OK) return 18;
    EXPECT(interpulse_save(device, state), INTERPULSE_ERROR_STATE, device, "journal");
    interpulse_destroy(device);
    printf("%d wrong inputs refused\n", cases);
    return 0;
}
