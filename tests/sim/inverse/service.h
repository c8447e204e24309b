// A simulated Inverse Service: a WebSocket server on the loopback that behaves as Haply documents version 3.5, and has
// the faults that a test asks for. Written for the tests; it contains no code of Haply's.
#ifndef VOXSHELL_TESTS_SIM_INVERSE_SERVICE_H
#define VOXSHELL_TESTS_SIM_INVERSE_SERVICE_H

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simulated_device.h"

namespace sim {

// An Inverse3: x right, y forward, z up; SI. The hand holds it in a ball joint, so it has no torque.
struct Inverse3 {
  std::string id;
  Handle handle;
  // Commanded forces so far, one per message.
  std::vector<Vec> forces;
};

struct VerseGrip {
  std::string id;
  // x, y, z, w.
  double orientation[4] = {0, 0, 0, 1};
  bool button_a = false;
  // A grip that is asleep is listed without a state.
  bool is_asleep = false;
};

// What the service does beside or against its documentation. Each setting holds until it is changed.
struct Faults {
  // Bytes of the frames into which a message is split; a ping follows each third frame. 0: one frame.
  std::size_t frame = 0;
  // Members that the documentation does not know, in each object.
  bool has_unknown_members = false;
  // Text that is sent instead of the state, unless it is empty.
  std::string answer;
  // Messages that are sent before the state, and are answers to nothing.
  int unasked = 0;
  // Seconds before the answer.
  double delay = 0;
  // No answer at all.
  bool is_silent = false;
  bool has_velocity = true, has_position = true, lists_devices = true;
};

class Service {
 public:
  // Listens on a free port of the loopback.
  Service();
  ~Service();
  unsigned short port() const;

  // The state, for the lifetime of the lock.
  struct State {
    std::vector<Inverse3> devices{Inverse3{"049D", {}, {}}};
    std::vector<VerseGrip> grips;
    Faults faults;
    // Seconds by which each message moves the devices.
    double period = 1e-3;
    // Connections that were made, and messages that came.
    int connections = 0, messages = 0;
    // Name of the session, as the last connection gave it.
    std::string profile;
    // Messages that are not as documented; each with its reason.
    std::vector<std::string> violations;
  };
  template <class Use>
  auto with(Use use) {
    std::lock_guard<std::mutex> lock(mutex_);
    return use(state_);
  }

  // How a connection ends: with a close frame, or as when the process dies.
  enum class End { close_frame, abort };
  // Ends all connections. Devices that nobody commands have no force.
  void end(End how);
  // Whether connections are accepted; else they are refused, as before the service runs.
  void listen(bool on);

 private:
  struct Server;
  struct Session;
  std::string inventory();
  std::string answer(const std::string& message, bool is_first);
  void let_go();

  State state_;
  std::mutex mutex_;
  std::unique_ptr<Server> server_;
};

}  // namespace sim

#endif
