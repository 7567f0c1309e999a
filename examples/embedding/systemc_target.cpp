// A drive behind a TLM-2 target socket (SystemC 2.3): addresses are bytes of the drive, b_transport takes its time.
// c++ -std=c++17 systemc_target.cpp $(pkg-config --cflags --libs interpulse systemc) -o systemc_target
#include <interpulse.h>

#include <cstring>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <vector>

/// The target. It keeps the data itself: interpulse simulates time, not content.
class Drive : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<Drive> socket;

    SC_HAS_PROCESS(Drive);
    Drive(sc_core::sc_module_name name, const char *config) : sc_module(name), socket("socket") {
        interpulse_options options = {};
        options.size = sizeof options;
        options.config = config;
        if (interpulse_create(&options, &device_) != INTERPULSE_OK) SC_REPORT_FATAL("drive", interpulse_error_message(nullptr));
        check(interpulse_capacity(device_, 1, &capacity_));
        socket.register_b_transport(this, &Drive::b_transport);
        SC_METHOD(wake);
        sensitive << wake_;
        dont_initialize();
    }
    ~Drive() override { interpulse_destroy(device_); }

    void end_of_simulation() override { check(interpulse_finish(device_, nullptr)); }

private:
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
        // The initiator is ahead of the simulation by its local time.
        wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return payload.set_response_status(tlm::TLM_OK_RESPONSE);
        if (payload.get_byte_enable_ptr() != nullptr)
            return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        interpulse_request request = {};
        request.at_ns = now_ns();
        request.op = payload.is_read() ? INTERPULSE_READ : INTERPULSE_WRITE;
        request.offset = payload.get_address();
        request.bytes = payload.get_data_length();
        uint64_t tag = 0;
        if (interpulse_submit(device_, &request, 1, &tag) != INTERPULSE_OK)
            return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        Access access;
        accesses_[tag] = &access;
        schedule();
        wait(access.done);
        if (access.status != 0) return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        move(payload);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    void wake() {
        check(interpulse_advance_to(device_, now_ns()));
        interpulse_completion done;
        size_t count = 0;
        for (;;) {
            check(interpulse_poll(device_, &done, 1, nullptr, &count));
            if (count == 0) break;
            Access *access = accesses_[done.tag];
            accesses_.erase(done.tag);
            access->status = done.status;
            access->done.notify(sc_core::SC_ZERO_TIME);
        }
        schedule();
    }

    void schedule() {
        uint64_t next = 0;
        check(interpulse_next_event_time(device_, &next));
        if (accesses_.empty() || next == INTERPULSE_NONE) return;
        // Without accesses nothing wakes the drive, so its next event may be in the past. A notification that is pending for a
        // later instant is replaced, one for an earlier instant stays.
        const sc_core::sc_time at(static_cast<double>(next), sc_core::SC_NS), now = sc_core::sc_time_stamp();
        wake_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
    }

    void move(tlm::tlm_generic_payload &payload) {
        const uint64_t first = payload.get_address();
        for (uint64_t k = 0; k < payload.get_data_length(); k += 512) {
            std::vector<unsigned char> &sector = data_[(first + k) / 512];
            sector.resize(512);
            unsigned char *there = payload.get_data_ptr() + k;
            if (payload.is_read()) std::memcpy(there, sector.data(), 512);
            else std::memcpy(sector.data(), there, 512);
        }
    }

    uint64_t now_ns() const {
        // Completions are at whole nanoseconds; a request within one arrives at its end.
        const uint64_t ps = static_cast<uint64_t>(sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_PS) + 0.5);
        return (ps + 999) / 1000;
    }

    void check(int32_t code) const {
        if (code != INTERPULSE_OK) SC_REPORT_FATAL("drive", interpulse_error_message(device_));
    }

    struct Access {
        sc_core::sc_event done;
        uint32_t status = 0;
    };

    interpulse_device *device_ = nullptr;
    uint64_t capacity_ = 0;
    sc_core::sc_event wake_;
    std::map<uint64_t, Access *> accesses_;
    std::map<uint64_t, std::vector<unsigned char>> data_;
};

/// An initiator that writes sectors and reads them back, in two threads at once.
class Initiator : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<Initiator> socket;
    int completed = 0;
    sc_core::sc_time read_time;

    SC_HAS_PROCESS(Initiator);
    explicit Initiator(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
        SC_THREAD(first);
        SC_THREAD(second);
    }

private:
    void first() { run(0); }
    void second() { run(1); }

    void run(unsigned which) {
        unsigned char data[4096];
        for (unsigned k = 0; k < 200; k++) {
            const uint64_t address = 4096ull * (2 * k + which);
            std::memset(data, static_cast<int>(k + which), sizeof data);
            access(tlm::TLM_WRITE_COMMAND, address, data, tlm::TLM_OK_RESPONSE);
            std::memset(data, 255, sizeof data);
            const sc_core::sc_time before = sc_core::sc_time_stamp();
            access(tlm::TLM_READ_COMMAND, address, data, tlm::TLM_OK_RESPONSE);
            read_time += sc_core::sc_time_stamp() - before;
            if (data[0] != static_cast<unsigned char>(k + which)) SC_REPORT_FATAL("initiator", "other data");
        }
        access(tlm::TLM_READ_COMMAND, 1ull << 50, data, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }

    void access(tlm::tlm_command command, uint64_t address, unsigned char *data, tlm::tlm_response_status expected) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data);
        payload.set_data_length(4096);
        payload.set_streaming_width(4096);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay(100, sc_core::SC_NS);
        socket->b_transport(payload, delay);
        if (payload.get_response_status() != expected) SC_REPORT_FATAL("initiator", payload.get_response_string().c_str());
        completed++;
    }
};

int sc_main(int, char **) {
    Drive drive("drive", "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n");
    Initiator initiator("initiator");
    initiator.socket.bind(drive.socket);
    sc_core::sc_start();
    sc_core::sc_stop();
    std::cout << initiator.completed << " accesses, mean time of reads " << initiator.read_time / 400 << "\n";
    return initiator.completed == 802 ? 0 : 1;
}
