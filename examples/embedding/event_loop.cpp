// An event-driven simulator in the manner of gem5: components schedule callbacks, and the drive is one of them.
// c++ -std=c++11 event_loop.cpp $(pkg-config --cflags --libs interpulse) -o event_loop
#include <interpulse.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

using Tick = uint64_t;  // ns

/// The simulator's event queue. Events of one tick run in the order in which they were scheduled.
class EventQueue {
public:
    using Callback = std::function<void()>;
    using Id = std::pair<Tick, uint64_t>;

    Tick now() const { return now_; }

    Id schedule(Tick at, Callback callback) {
        Id id(at, next_++);
        events_[id] = std::move(callback);
        return id;
    }

    void deschedule(Id id) { events_.erase(id); }

    void run() {
        while (!events_.empty()) {
            auto first = events_.begin();
            Callback callback = std::move(first->second);
            now_ = first->first.first;
            events_.erase(first);
            callback();
        }
    }

private:
    std::map<Id, Callback> events_;
    Tick now_ = 0;
    uint64_t next_ = 0;
};

/// A drive as a component. Between two events of the simulator it does nothing, so one wake-up suffices: at the next instant
/// at which something happens inside the drive. An access may bring that instant forward.
class Drive {
public:
    using Done = std::function<void(const interpulse_completion &)>;

    Drive(EventQueue &queue, const char *config) : queue_(queue) {
        interpulse_options options = {};
        options.size = sizeof options;
        options.config = config;
        if (interpulse_create(&options, &device_) != INTERPULSE_OK)
            throw std::runtime_error(interpulse_error_message(nullptr));
    }
    Drive(const Drive &) = delete;
    Drive &operator=(const Drive &) = delete;
    ~Drive() { interpulse_destroy(device_); }

    uint64_t capacity() {
        uint64_t bytes = 0;
        check(interpulse_capacity(device_, 1, &bytes));
        return bytes;
    }

    /// Starts an access now; `done` is called when it completes.
    void access(uint32_t op, uint64_t offset, uint64_t bytes, Done done) {
        interpulse_request request = {};
        request.at_ns = queue_.now();
        request.op = op;
        request.offset = offset;
        request.bytes = bytes;
        uint64_t tag = 0;
        check(interpulse_submit(device_, &request, 1, &tag));
        waiting_[tag] = std::move(done);
        reschedule();
    }

    void finish() { check(interpulse_finish(device_, nullptr)); }

private:
    void wake() {
        scheduled_ = false;
        check(interpulse_advance_to(device_, queue_.now()));
        interpulse_completion done[16];
        size_t count = 0;
        do {
            check(interpulse_poll(device_, done, 16, nullptr, &count));
            for (size_t k = 0; k < count; k++) {
                Done callback = std::move(waiting_[done[k].tag]);
                waiting_.erase(done[k].tag);
                callback(done[k]);
            }
        } while (count == 16);
        reschedule();
    }

    void reschedule() {
        Tick next = 0;
        check(interpulse_next_event_time(device_, &next));
        // Without accesses nothing wakes the drive, so its next event may be in the past.
        if (next < queue_.now()) next = queue_.now();
        if (scheduled_) {
            if (wake_at_.first <= next) return;
            queue_.deschedule(wake_at_);
        }
        scheduled_ = next != INTERPULSE_NONE && !waiting_.empty();
        if (scheduled_) wake_at_ = queue_.schedule(next, [this] { wake(); });
    }

    void check(int32_t code) const {
        if (code != INTERPULSE_OK) throw std::runtime_error(interpulse_error_message(device_));
    }

    EventQueue &queue_;
    interpulse_device *device_ = nullptr;
    std::map<uint64_t, Done> waiting_;
    EventQueue::Id wake_at_;
    bool scheduled_ = false;
};

/// A core that keeps some accesses outstanding and computes for a while after each.
class Core {
public:
    Core(EventQueue &queue, Drive &drive, uint64_t seed, int accesses)
        : queue_(queue), drive_(drive), random_(seed), left_(accesses) {}

    void start(int depth) {
        for (int k = 0; k < depth; k++) queue_.schedule(0, [this] { next(); });
    }

    Tick latency = 0;
    int completed = 0;

private:
    void next() {
        if (left_ == 0) return;
        left_--;
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        uint32_t op = random_ >> 62 ? INTERPULSE_READ : INTERPULSE_WRITE;
        uint64_t offset = (random_ >> 8) % (drive_.capacity() / 4096) * 4096;
        drive_.access(op, offset, 4096, [this](const interpulse_completion &done) {
            latency += done.completed_ns - done.submitted_ns;
            completed++;
            queue_.schedule(queue_.now() + 2000, [this] { next(); });
        });
    }

    EventQueue &queue_;
    Drive &drive_;
    uint64_t random_;
    int left_;
};

int main() {
    EventQueue queue;
    Drive drive(queue, "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n");
    Core cores[2] = {{queue, drive, 1, 10000}, {queue, drive, 2, 10000}};
    for (Core &core : cores) core.start(4);
    queue.run();
    drive.finish();
    int completed = cores[0].completed + cores[1].completed;
    std::printf("%d requests in %.3f ms; mean latency %.1f and %.1f us\n", completed,
                static_cast<double>(queue.now()) / 1e6, static_cast<double>(cores[0].latency) / cores[0].completed / 1e3,
                static_cast<double>(cores[1].latency) / cores[1].completed / 1e3);
    return completed == 20000 ? 0 : 1;
}
