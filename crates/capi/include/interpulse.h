/* Interface of libinterpulse: drives and arrays inside another simulator.
 *
 * Functions return INTERPULSE_OK or an INTERPULSE_ERROR code; interpulse_error_message has the reason. After any error but
 * INTERPULSE_ERROR_BUG the device is as before the call. Times are in ns of simulated time, which begins at 0, addresses and
 * lengths in bytes. One thread at a time may use a device; different devices are independent. See docs/EMBEDDING.md.
 *
 * Generated from crates/capi by cbindgen: change that. */

#ifndef INTERPULSE_H
#define INTERPULSE_H

#include <stddef.h>
#include <stdint.h>

// Version of the interface; the major number of the shared library. Raised when a symbol or a layout changes.
#define INTERPULSE_ABI 0

// Success.
#define INTERPULSE_OK 0

// A pointer is NULL that must not be, a text is not UTF-8, a size or a flag is unknown.
#define INTERPULSE_ERROR_ARGUMENT -1

// The configuration cannot be used; the message names file, line and key.
#define INTERPULSE_ERROR_CONFIG -2

// An instant lies in the past, or behind the longest simulated time of 100 days.
#define INTERPULSE_ERROR_TIME -3

// A request is illegal for this device.
#define INTERPULSE_ERROR_REQUEST -4

// A saved state cannot be read, written or used.
#define INTERPULSE_ERROR_STATE -5

// Memory is short, or a file cannot be read.
#define INTERPULSE_ERROR_RESOURCES -6

// The device is finished.
#define INTERPULSE_ERROR_FINISHED -7

// Another thread is inside a call with this device.
#define INTERPULSE_ERROR_BUSY -8

// A bug of interpulse. The device can only be destroyed.
#define INTERPULSE_ERROR_BUG -9

// Return the newest data.
#define INTERPULSE_READ 0

// Store new data.
#define INTERPULSE_WRITE 1

// Deallocate the data.
#define INTERPULSE_TRIM 2

// Make every completed write durable; offset and bytes are 0.
#define INTERPULSE_FLUSH 3

// Store new data at the write pointer of the zone at the offset.
#define INTERPULSE_APPEND 4

// Open the zone at the offset; bytes is 0, as for all zone management but the report.
#define INTERPULSE_ZONE_OPEN 5

// Open the zone with a random write area.
#define INTERPULSE_ZONE_OPEN_ZRWA 6

// Commit the random write area up to the logical block at the offset.
#define INTERPULSE_ZONE_COMMIT 7

// Close the zone.
#define INTERPULSE_ZONE_CLOSE 8

// Make the zone full.
#define INTERPULSE_ZONE_FINISH 9

// Make the zone empty.
#define INTERPULSE_ZONE_RESET 10

// Give a read-only zone up.
#define INTERPULSE_ZONE_OFFLINE 11

// Report zones from the offset on; bytes is the length of the buffer.
#define INTERPULSE_ZONE_REPORT 12

// Store zeros.
#define INTERPULSE_WRITE_ZEROES 13

// Compare the newest data with data of the host; every comparison succeeds.
#define INTERPULSE_COMPARE 14

// Flag: keep all submissions, 56 bytes each, so that the device can be saved.
#define INTERPULSE_JOURNAL 1

// Flag: do not record the latency by cause.
#define INTERPULSE_NO_CAUSES 2

// An instant or a place that there is not.
#define INTERPULSE_NONE 18446744073709551615ull

// A device. One thread at a time may call functions with it; it may move between threads.
typedef struct interpulse_device interpulse_device;

// What a device is made of. Set size to sizeof(interpulse_options) and all that is not used to zero.
typedef struct interpulse_options {
  // Size of this structure, so that later versions can extend it.
  size_t size;
  // Configuration text (TOML), UTF-8: drive or array and their initial state.
  const char *config;
  // Name of the text in messages; files that it names are relative to its folder. NULL: `"<config>"`.
  const char *path;
  // Name of the case to build, if the configuration has several. NULL: the only one.
  const char *case_name;
  // Overrides "key=value", as --set of the command line. NULL: none.
  const char *const *sets;
  // Number of overrides.
  size_t set_count;
  // Folder of preconditioned states, which later devices load. NULL: none is kept.
  const char *cache_folder;
  // Size limit of that folder in bytes. 0: 10 GiB.
  uint64_t cache_limit;
  // INTERPULSE_JOURNAL, INTERPULSE_NO_CAUSES, or both.
  uint32_t flags;
  // Zero.
  uint32_t reserved;
} interpulse_options;

// A request. Offsets and lengths are multiples of 512 bytes.
typedef struct interpulse_request {
  // When it arrives, in ns; now or later.
  uint64_t at_ns;
  // First byte within the namespace.
  uint64_t offset;
  // Length in bytes, at most 1 GiB, or 2 TiB less 512 bytes of a trim.
  uint64_t bytes;
  // Returned with the completion.
  uint64_t user_data;
  // INTERPULSE_READ and the like.
  uint32_t op;
  // Namespace, counted from 1; 0 is 1.
  uint32_t nsid;
  // Submission queue pair, counted from 0.
  uint32_t queue;
  // Placement handle of a write, with reclaim groups group x handles + handle; 0 without handles.
  uint32_t handle;
} interpulse_request;

// A completed request.
typedef struct interpulse_completion {
  // Number of the request, counted from 0 in the order of submission.
  uint64_t tag;
  // That of the request.
  uint64_t user_data;
  // When the device's submission queue took it, in ns: its arrival, or the return of power if that was later.
  uint64_t submitted_ns;
  // When it completed, in ns.
  uint64_t completed_ns;
  // Bytes moved; 0 if it was refused.
  uint64_t bytes;
  // Byte within the namespace at which an append placed its data; otherwise INTERPULSE_NONE.
  uint64_t placed;
  // That of the request.
  uint32_t op;
  // NVMe status: type in bits 8 to 10, code in bits 0 to 7; 0 is success. See interpulse_status_name.
  uint32_t status;
} interpulse_completion;

// What the audits of a finished device checked.
typedef struct interpulse_audit {
  // Requests issued, all of which completed.
  uint64_t requests;
  // Logical units mapped to flash, all of which agree with the physical side.
  uint64_t mapped_units;
  // Reads whose version was checked.
  uint64_t versions_checked;
} interpulse_audit;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Builds a device and its initial state, and stores its handle in *device; NULL if that fails, and
// interpulse_error_message(NULL) says why.
int32_t interpulse_create(const struct interpulse_options *options, struct interpulse_device **device);

// Builds a device whose state interpulse_save has written, with everything in flight, by repeating its submissions: this takes
// as long as simulating them took. The options are those of the saved device.
int32_t interpulse_restore(const struct interpulse_options *options,
                           const char *file,
                           struct interpulse_device **device);

// Writes the state of a device made with INTERPULSE_JOURNAL to a file.
int32_t interpulse_save(struct interpulse_device *device, const char *file);

// Destroys a device, unless another thread is inside a call with it. NULL is legal.
void interpulse_destroy(struct interpulse_device *device);

// Submits count requests: all, or none if one is illegal. They are numbered in order, and the number of the first is stored in
// *first_tag, unless that is NULL. Requests may be given in any order of instants; those of one instant arrive in the order of
// submission.
int32_t interpulse_submit(struct interpulse_device *device,
                          const struct interpulse_request *requests,
                          size_t count,
                          uint64_t *first_tag);

// Stores simulated time in ns in *now_ns.
int32_t interpulse_now(struct interpulse_device *device, uint64_t *now_ns);

// Stores in *at_ns the next instant at which something happens, INTERPULSE_NONE if nothing will until a request is submitted.
// Completions appear at such instants only.
int32_t interpulse_next_event_time(struct interpulse_device *device,
                                   uint64_t *at_ns);

// Handles everything up to and including to_ns, and moves simulated time there.
int32_t interpulse_advance_to(struct interpulse_device *device, uint64_t to_ns);

// Handles everything up to the first instant with a completion, at the latest limit_ns, and moves simulated time there;
// returns at once if a completion can be polled already. With limit_ns = INTERPULSE_NONE it stops when no request is pending.
// Stores in *count, unless that is NULL, how many completions can be polled.
int32_t interpulse_advance_to_completion(struct interpulse_device *device,
                                         uint64_t limit_ns,
                                         size_t *count);

// Takes at most most completions in order and stores them in completions and their number in *count. Unless causes is NULL, it
// has room for most times interpulse_cause_count() numbers: the latency of each by cause, in ns.
int32_t interpulse_poll(struct interpulse_device *device,
                        struct interpulse_completion *completions,
                        size_t most,
                        uint64_t *causes,
                        size_t *count);

// Stores in *count how many requests have not completed.
int32_t interpulse_pending(struct interpulse_device *device, size_t *count);

// Stores in *bytes the capacity of a namespace, counted from 1; 0 is 1.
int32_t interpulse_capacity(struct interpulse_device *device, uint32_t nsid, uint64_t *bytes);

// Stores in *value the counter "group.name", such as "ftl.gc_units", since creation.
int32_t interpulse_counter(struct interpulse_device *device, const char *name, uint64_t *value);

// Copies all counters since creation as a JSON object of groups to buffer of size bytes, cut if they are longer and ended by a
// zero byte, and stores their length in *length, unless that is NULL. A NULL buffer measures.
int32_t interpulse_counters_json(struct interpulse_device *device,
                                 char *buffer,
                                 size_t size,
                                 size_t *length);

// Copies a description as a JSON object (kind, namespaces, queues, hash of the configuration, notes) as
// interpulse_counters_json does.
int32_t interpulse_describe(struct interpulse_device *device, char *buffer, size_t size, size_t *length);

// Completes all requests and the device's own work, and audits it. Completions and counters can still be read. Stores what was
// checked in *audit, unless that is NULL.
int32_t interpulse_finish(struct interpulse_device *device,
                          struct interpulse_audit *audit);

// Message of the last error of a device, valid until the next call with it; for NULL that of the last error without a device
// on this thread, such as a failed creation. Never NULL.
const char *interpulse_error_message(const struct interpulse_device *device);

// Number of causes of latency.
size_t interpulse_cause_count(void);

// Name of a cause; NULL from interpulse_cause_count() on.
const char *interpulse_cause_name(size_t cause);

// Name of a status in the NVMe specifications; NULL for one that no device returns.
const char *interpulse_status_name(uint32_t status);

// Version of interpulse.
const char *interpulse_version(void);

// Version of the interface that the library has, to compare with INTERPULSE_ABI of the header.
uint32_t interpulse_abi(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* INTERPULSE_H */
