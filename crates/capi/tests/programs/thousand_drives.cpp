// A thousand small drives on four threads, each with twenty requests.
#include <interpulse.h>

#include <cstdio>
#include <thread>
#include <vector>

static const char *const CONFIG =
    "drive = \"a4-mini\"\n"
    "part.blocks-per-plane = 24\n"
    "geometry.channels = 1\n"
    "geometry.chips-per-channel = 1\n"
    "cache.size = \"1MiB\"\n";

enum { DRIVES = 1000, THREADS = 4, REQUESTS = 20 };

static void work(int thread, uint64_t *completions, uint64_t *digest) {
    std::vector<interpulse_device *> drives;
    interpulse_options options = {};
    options.size = sizeof options;
    options.config = CONFIG;
    for (int k = thread; k < DRIVES; k += THREADS) {
        interpulse_device *device = nullptr;
        if (interpulse_create(&options, &device) != INTERPULSE_OK) {
            std::fprintf(stderr, "%s\n", interpulse_error_message(nullptr));
            return;
        }
        interpulse_request requests[REQUESTS] = {};
        for (int r = 0; r < REQUESTS; r++) {
            requests[r].at_ns = 10000u * static_cast<unsigned>(r);
            requests[r].op = r % 3 == 0 ? INTERPULSE_WRITE : INTERPULSE_READ;
            requests[r].offset = 4096u * static_cast<unsigned>((k * 7 + r * 131) % 10000);
            requests[r].bytes = 4096;
        }
        if (interpulse_submit(device, requests, REQUESTS, nullptr) != INTERPULSE_OK) return;
        drives.push_back(device);
    }
    // All drives exist together and advance in step.
    for (uint64_t at = 0; at <= 2000000; at += 100000)
        for (interpulse_device *device : drives) interpulse_advance_to(device, at);
    for (interpulse_device *device : drives) {
        interpulse_completion done[REQUESTS];
        size_t count = 0;
        if (interpulse_finish(device, nullptr) != INTERPULSE_OK) return;
        interpulse_poll(device, done, REQUESTS, nullptr, &count);
        for (size_t k = 0; k < count; k++) *digest += done[k].completed_ns * (done[k].tag + 1);
        *completions += count;
        interpulse_destroy(device);
    }
}

int main() {
    uint64_t completions[THREADS] = {}, digests[THREADS] = {}, all = 0, digest = 0;
    std::vector<std::thread> threads;
    for (int k = 0; k < THREADS; k++) threads.emplace_back(work, k, &completions[k], &digests[k]);
    for (int k = 0; k < THREADS; k++) {
        threads[static_cast<size_t>(k)].join();
        all += completions[k], digest += digests[k];
    }
    std::printf("%d drives, %llu completions, digest %llu\n", DRIVES, static_cast<unsigned long long>(all),
                static_cast<unsigned long long>(digest));
    return all == DRIVES * REQUESTS ? 0 : 1;
}
