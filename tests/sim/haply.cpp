// cpp/haply over a simulated Inverse Service on the loopback: contact, frames, limits, the grip and its button;
// messages in pieces, with unknown members, garbage, late or none; connections that end, and a service that starts
// again.
#include "voxshell/haply.h"

#include <mutex>

#include "inverse/service.h"
#include "scene.h"

namespace {

using sim::Service;
using sim::Vec;
using voxshell::haply::Device;
using voxshell::haply::Options;

// Haply: x right, y forward, z up. The bar lies along x.
const sim::Quaternion kTurn{};
const Vec kUp = {0, 0, 1};
const double kFree = 0.03, kInto = -0.03;

// The messages of the adapter to the log.
std::mutex log_mutex;
std::vector<std::string> log_lines;
void note(uint32_t, const char* message, void*) {
  std::lock_guard<std::mutex> lock(log_mutex);
  if (strncmp(message, "haply: ", 7) == 0) log_lines.push_back(message);
}
// How many of the messages since the last call contain a text.
int logged(const char* text) {
  std::lock_guard<std::mutex> lock(log_mutex);
  int count = 0;
  for (const std::string& line : log_lines) count += line.find(text) != std::string::npos;
  log_lines.clear();
  return count;
}

// A service, a scene and a device; the steps take as long as they take, and count as 1 ms.
struct Rig {
  Service service;
  sim::Scene scene;
  Options options;
  std::unique_ptr<Device> device;

  explicit Rig(double scale = 1, const vxs_haptics_limits* limits = nullptr, uint32_t renderer = VXS_RENDERER_PENALTY)
      : scene(renderer, scale, kTurn, -INFINITY, limits) {
    options.workspace = scene.workspace;
    options.host = "127.0.0.1";
    options.port = service.port();
    options.period = 0;
    options.time_step = 1e-3;
    // So that a busy machine is no fault.
    options.timeout = runs_slowly() ? 10 : 2;
    logged("");
    hold({0, 0, kFree / scale});
    service.with([&](Service::State& s) { s.devices[0].handle.position = {0, 0, kFree / scale}; });
    renew();
  }
  ~Rig() {
    device.reset();
    const std::vector<std::string> violations = service.with([](Service::State& s) { return s.violations; });
    for (const std::string& violation : violations) fprintf(stderr, "violated: %s\n", violation.c_str());
    CHECK(violations.empty());
  }

  void renew() { device = std::make_unique<Device>(scene.haptics, options); }
  void hold(const Vec& goal) {
    service.with([&](Service::State& s) { s.devices[0].handle.goal = goal; });
  }
  template <class Change>
  void faults(Change change) {
    service.with([&](Service::State& s) { change(s.faults); });
  }
  // The handle as the service has it. The force is that of the last message.
  sim::Handle handle() {
    return service.with([](Service::State& s) { return s.devices[0].handle; });
  }
  std::vector<Vec> forces() {
    return service.with([](Service::State& s) { return s.devices[0].forces; });
  }
  bool step() {
    scene.simulate();
    return device->step();
  }
  void run(int steps) {
    for (int i = 0; i < steps; i++) CHECK(step());
  }
  void to(const Vec& goal, int steps) {
    hold(goal);
    run(steps);
  }
  // Deep in contact, after the ramp.
  double press() {
    to({0, 0, kFree}, 200);
    to({0, 0, kInto}, runs_slowly() ? 600 : 1500);
    const double force = handle().force.length();
    CHECK(force > 2);
    return force;
  }
  // No force now, and a slow growth to the full force afterwards.
  void grows_again(double held) {
    run(2);
    CHECK(handle().force.length() < 0.1 * held);
    double before = 0;
    for (int i = 0; i < 700; i++) {
      run(1);
      const double force = handle().force.length();
      CHECK(force - before < 0.05 * held);
      before = force;
    }
    CHECK(before > 0.8 * held);
  }
};

void contact_and_free_space(double scale) {
  Rig rig(scale);
  CHECK(rig.device->open() && rig.device->is_open() && rig.device->id() == "049D" && rig.device->error()[0] == 0);
  rig.run(300);
  CHECK(rig.handle().force.length() < 0.02);
  // The hand pulls with 135 N/m from the face to 3 cm below its target.
  rig.to({0, 0, kInto / scale}, 2000);
  sim::pushes_out(rig.handle(), kUp, 0.8 * 135 * 0.03 / scale);
  CHECK(rig.device->loop().contacts() > 0 && rig.device->loop().failure() == VXS_OK);
  CHECK(!rig.device->senses_rotation() && rig.device->estimated() == 0 && rig.device->unreadable() == 0);
  rig.to({0, 0, kFree / scale}, 2000);
  CHECK(rig.handle().force.length() < 0.02 && rig.device->loop().contacts() == 0);
  rig.to({0, 0, kInto / scale}, 1000);
  rig.device->close();
  sim::lets_go(rig.handle());
  CHECK(!rig.device->is_open() && !rig.device->step() && logged("") == 0);
  CHECK(rig.service.with([](Service::State& s) { return s.profile; }) == "voxshell");
}

void limits() {
  const vxs_haptics_limits most = {2.5, INFINITY, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
  for (double own : {0.0, 1.5}) {
    Rig rig(1, &most);
    rig.options.max_force = own;
    rig.renew();
    CHECK(rig.device->open());
    rig.run(300);  // until the ramp is over
    rig.to({0, 0, -0.2}, 500);
    const double limit = own > 0 ? own : 2.5, reached = rig.handle().most_force;
    CHECK(reached > 0.96 * limit && reached < limit * (1 + 1e-9));
  }
}

// The forces of a contact, as they arrive at the service.
std::vector<Vec> trace(const sim::Faults& faults, bool has_others) {
  Rig rig;
  rig.service.with([&](Service::State& s) {
    s.faults = faults;
    if (!has_others) return;
    sim::Inverse3 other = s.devices[0];
    other.id = "1B00";
    other.handle.position = {0.1, 0.2, 0.3};
    s.devices.insert(s.devices.begin(), other);
    s.devices.push_back(other);
    s.devices.back().id = "049D0";
  });
  rig.options.device_id = "049D";
  rig.renew();
  CHECK(rig.device->open());
  std::vector<Vec> forces;
  for (int i = 0; i < 400; i++) {
    const double depth = i < 100 ? kFree : kInto;
    rig.service.with([&](Service::State& s) {
      for (sim::Inverse3& device : s.devices)
        if (device.id == "049D") device.handle.goal = {0, 0, depth};
    });
    rig.run(1);
  }
  rig.device->close();
  rig.service.with([&](Service::State& s) {
    for (const sim::Inverse3& device : s.devices) {
      if (device.id == "049D") forces = device.forces;
      else CHECK(device.forces.empty());
    }
  });
  CHECK(logged("") == 0);
  return forces;
}

// Frames of a few bytes with pings between them, unknown members and other devices change no force.
void pieces_and_unknown_members_change_nothing() {
  const std::vector<Vec> plain = trace({}, false);
  CHECK(plain.size() == 401 && plain[399].length() > 1);
  for (int variant = 0; variant < 4; variant++) {
    sim::Faults faults;
    if (variant == 0) faults.frame = 1;
    if (variant == 1) faults.frame = 61;
    if (variant == 2) faults.has_unknown_members = true;
    const std::vector<Vec> other = trace(faults, variant == 3);
    CHECK(other.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); i++)
      CHECK(other[i].x == plain[i].x && other[i].y == plain[i].y && other[i].z == plain[i].z);
  }
}

// Without cursor_velocity the adapter takes differences.
void unknown_velocities() {
  Rig rig;
  rig.faults([](sim::Faults& f) { f.has_velocity = false; });
  CHECK(rig.device->open());
  rig.to({0, 0, kInto}, 2000);
  CHECK(rig.device->estimated() == 2000 && rig.device->unreadable() == 0);
  sim::pushes_out(rig.handle(), kUp, 0.8 * 135 * 0.03);
}

// An answer that cannot be used costs the force at once, is logged once, and the force grows again.
void garbage() {
  Rig rig;
  CHECK(rig.device->open());
  const double held = rig.press();
  CHECK(logged("") == 0);
  const std::string deep(100000, '[');
  const char* const texts[] = {"{",
                               "\xff\xfe",
                               "[]",
                               "7",
                               "null",
                               "{\"inverse3\": {}}",
                               "{\"inverse3\": [{\"device_id\": \"0000\", \"state\": {}}]}",
                               "{\"inverse3\": [{\"device_id\": \"049D\"}]}",
                               "{\"inverse3\": [{\"device_id\": \"049D\", \"state\": []}]}",
                               "{\"inverse3\": [{\"device_id\": \"049D\", \"state\": {\"cursor_position\": "
                               "{\"x\": NaN, \"y\": 0, \"z\": 0}}}]}",
                               "{\"inverse3\": [{\"device_id\": \"049D\", \"state\": {\"cursor_position\": "
                               "{\"x\": \"0\", \"y\": 0, \"z\": 0}}}]}",
                               "{\"inverse3\": [{\"device_id\": \"049D\", \"state\": {\"cursor_position\": "
                               "{\"x\": 0, \"y\": 1e999, \"z\": 0}}}]}",
                               deep.c_str()};
  std::uint64_t count = 0;
  for (const char* text : texts) {
    // Beast refuses text that is not UTF-8 by closing the connection: see endings().
    if (text[0] == '\xff') continue;
    rig.faults([&](sim::Faults& f) { f.answer = text; });
    rig.run(3);
    sim::lets_go(rig.handle());
    CHECK((rig.device->loop().status() & VXS_HAPTICS_BAD_STATE) != 0 && rig.device->unreadable() == (count += 3));
    CHECK(logged("no force: ") == 1);
    rig.faults([](sim::Faults& f) { f.answer.clear(); });
    rig.run(20);
  }
  rig.faults([](sim::Faults& f) { f.has_position = false; });
  rig.run(3);
  rig.faults([](sim::Faults& f) { f.has_position = true; });
  rig.grows_again(held);
  CHECK(logged("no cursor_position") == 1 && rig.device->losses() == 0);
}

// If it goes on for longer than the timeout, the device is lost: so is one that is unplugged.
void lasting_garbage() {
  Rig rig;
  rig.options.timeout = 0.3;
  rig.renew();
  CHECK(rig.device->open());
  rig.run(50);
  rig.faults([](sim::Faults& f) { f.lists_devices = false; });
  int steps = 0;
  while (rig.step()) {
    steps++;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(steps > 3 && rig.device->losses() == 1 && !rig.device->is_open());
  CHECK(strstr(rig.device->error(), "no state of the device") != nullptr && logged("connection lost") == 1);
  CHECK(!rig.device->open() && strstr(rig.device->error(), "lists no Inverse3") != nullptr);
  rig.faults([](sim::Faults& f) { f.lists_devices = true; });
  CHECK(rig.device->open() && rig.device->error()[0] == 0);
  rig.run(10);
}

// Messages that answer nothing do not delay the states behind them: the adapter goes on with the newest.
void unasked_messages() {
  Rig rig;
  rig.options.period = 2e-3;
  rig.renew();
  CHECK(rig.device->open());
  rig.run(5);
  rig.faults([](sim::Faults& f) { f.unasked = 3; });
  for (int i = 0; i < 20; i++) CHECK(rig.step());
  rig.faults([](sim::Faults& f) { f.unasked = 0; });
  rig.run(3);
  // The tool is where the hand is in the newest state.
  rig.service.with([](Service::State& s) { s.devices[0].handle.held = false; });
  for (int i = 0; i < 30; i++) {
    const Vec here = {0.0005 * i, 0, kFree};
    rig.service.with([&](Service::State& s) {
      s.period = 0;
      s.devices[0].handle.position = here;
    });
    rig.run(1);
  }
  const vxs_pose tool = rig.device->loop().tool();
  const vxs_vec3& base = rig.scene.workspace.base.position;
  const vxs_vec3 off = voxshell::device::plus(tool.position, voxshell::device::scaled(-1, base));
  CHECK(std::sqrt(off.x * off.x + off.y * off.y + off.z * off.z) > 0.02);
  CHECK(rig.device->losses() == 0);
}

// A late answer is no force for a step; no answer at all is a lost connection.
void late_and_no_answers() {
  Rig rig;
  CHECK(rig.device->open());
  const double held = rig.press();
  rig.device->close();
  // By the clock.
  rig.options.time_step = 0, rig.options.period = 1e-3, rig.options.timeout = 0.5;
  rig.renew();
  CHECK(rig.device->open());
  rig.run(600);
  if (!runs_slowly()) CHECK(rig.handle().force.length() > 0.5 * held);
  logged("");
  rig.faults([](sim::Faults& f) { f.delay = 0.1; });
  rig.run(1);
  CHECK((rig.device->loop().status() & VXS_HAPTICS_BAD_TIME) != 0 && logged("came late") == 1);
  rig.faults([](sim::Faults& f) { f.delay = 0; });
  rig.run(1);
  sim::lets_go(rig.handle());
  rig.faults([](sim::Faults& f) { f.is_silent = true; });
  const auto begin = std::chrono::steady_clock::now();
  CHECK(!rig.step() && !rig.device->is_open() && rig.device->losses() == 1);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(took > 0.45 && took < (runs_slowly() ? 20 : 1.5) && logged("connection lost") == 1);
  rig.faults([](sim::Faults& f) { f.is_silent = false; });
  CHECK(rig.device->open());
  rig.run(5);
}

// The connection ends, politely, by a reset, or by text that is not UTF-8. The device has no force; open() connects
// again, and the force grows from zero.
void endings() {
  for (int how = 0; how < 3; how++) {
    Rig rig;
    CHECK(rig.device->open());
    const double held = rig.press();
    logged("");
    if (how == 0) rig.service.end(Service::End::close_frame);
    if (how == 1) rig.service.end(Service::End::abort);
    if (how == 2) rig.faults([](sim::Faults& f) { f.answer = "\xff\xfe"; });
    int more = 0;
    while (rig.step()) CHECK(more++ < 3);
    CHECK(!rig.device->is_open() && rig.device->losses() == 1 && rig.device->error()[0] != 0);
    CHECK(logged("connection lost, no force") == 1);
    // The service notices on its own thread.
    for (int i = 0; i < 2000 && rig.handle().force.length() > 0; i++)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sim::lets_go(rig.handle());
    rig.faults([](sim::Faults& f) { f.answer.clear(); });
    CHECK(!rig.device->step() && rig.device->open());
    rig.grows_again(held);
    CHECK(rig.service.with([](Service::State& s) { return s.connections; }) == 2);
  }
}

// run() waits for a service that starts later, and connects again after it was restarted.
void restarts() {
  Rig rig;
  rig.options.retry = 0.05, rig.options.period = 5e-4;
  rig.renew();
  rig.service.listen(false);
  CHECK(!rig.device->open() && strstr(rig.device->error(), "no connection") != nullptr);
  rig.hold({0, 0, kInto});
  std::atomic<bool> on{true}, simulated{true};
  bool was_there = false;
  std::thread servo([&] { was_there = rig.device->run(on); });
  std::thread simulation([&] {
    while (simulated) rig.scene.simulate();
  });
  const auto wait_for = [&](double newtons) {
    for (int i = 0; i < 20000 && rig.handle().force.length() < newtons; i++)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(rig.handle().force.length() >= newtons);
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(rig.service.with([](Service::State& s) { return s.messages; }) == 0);
  rig.service.listen(true);
  wait_for(2);
  CHECK(logged("no force: no connection") == 1);
  const double held = rig.handle().force.length();
  rig.service.listen(false);
  rig.service.end(Service::End::abort);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  sim::lets_go(rig.handle());
  const std::size_t before = rig.forces().size();
  rig.service.listen(true);
  wait_for(2);
  const std::vector<Vec> forces = rig.forces();
  // The first message of a connection has no force, and the steps after it count as 1 ms of a ramp of 100 ms.
  CHECK(forces[before].length() == 0);
  for (std::size_t i = before + 1; i < forces.size() && i < before + 60; i++)
    CHECK(forces[i].length() - forces[i - 1].length() < 0.05 * held);
  CHECK(rig.device->losses() == 1 && logged("connection lost, no force") == 1);
  on = false;
  servo.join();
  simulated = false;
  simulation.join();
  CHECK(was_there && !rig.device->is_open());
  sim::lets_go(rig.handle());
  CHECK(rig.forces().back().length() == 0);
}

void choice_of_the_device() {
  Rig rig;
  rig.service.with([](Service::State& s) {
    s.devices.push_back(s.devices[0]);
    s.devices[1].id = "0A0B";
  });
  rig.options.device_id = "0A0B";
  rig.renew();
  CHECK(rig.device->open() && rig.device->id() == "0A0B");
  rig.run(3);
  CHECK(rig.forces().empty());
  rig.options.device_id = "nobody";
  rig.renew();
  CHECK(!rig.device->open() && strstr(rig.device->error(), "device_id") != nullptr);
  // Nothing listens there; run() without retries says so.
  rig.options.port = 1, rig.options.retry = 0;
  rig.renew();
  std::atomic<bool> on{true};
  CHECK(!rig.device->open() && !rig.device->run(on) && rig.device->error()[0] != 0);
}

// The grip turns the tool, and its button is the deadman switch.
void grip() {
  Rig rig;
  rig.service.with([](Service::State& s) {
    s.grips.resize(2);
    s.grips[0].id = "other", s.grips[1].id = "mine";
  });
  rig.options.grip_id = "mine";
  rig.options.deadman_button = "a";
  rig.renew();
  CHECK(rig.device->open());
  rig.to({0, 0, kInto}, 1000);
  sim::lets_go(rig.handle());
  CHECK((rig.device->loop().status() & VXS_HAPTICS_DISENGAGED) != 0 && rig.device->senses_rotation());
  rig.to({0, 0, kFree}, 1000);
  rig.service.with([](Service::State& s) { s.grips[1].button_a = true; });
  rig.run(300);
  // It turns about x by a quarter, slowly, as the wrist does.
  const int steps = 300;
  for (int i = 1; i <= steps; i++) {
    const double half = 0.25 * 3.14159265358979 * i / steps;
    rig.service.with([&](Service::State& s) {
      s.grips[1].orientation[0] = std::sin(half), s.grips[1].orientation[3] = std::cos(half);
    });
    rig.run(1);
  }
  rig.run(200);
  const vxs_pose tool = rig.device->loop().tool();
  const sim::Quaternion base = rig.scene.workspace.turn();
  const sim::Quaternion turn = base.conjugate() * sim::Quaternion{tool.qx, tool.qy, tool.qz, tool.qw};
  CHECK(std::fabs(std::fabs(turn.x) - std::sqrt(0.5)) < 0.02 && std::fabs(std::fabs(turn.w) - std::sqrt(0.5)) < 0.02);
  CHECK((rig.device->loop().status() & (VXS_HAPTICS_TELEPORT | VXS_HAPTICS_BAD_STATE)) == 0);
  rig.to({0, 0, kInto}, 1500);
  sim::pushes_out(rig.handle(), kUp, 0.5 * 135 * 0.03);
  // It falls asleep: its button is not held any more.
  CHECK(logged("") == 0);
  rig.service.with([](Service::State& s) { s.grips[1].is_asleep = true; });
  rig.run(3);
  sim::lets_go(rig.handle());
  CHECK(!rig.device->senses_rotation() && logged("grip is lost") == 1);
}

// Random faults in contact: never more force than allowed, never a jump of it, and never a missing force without its
// reason.
void no_silent_loss_of_force() {
  const vxs_haptics_limits most = {3, INFINITY, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
  Rig rig(1, &most, VXS_RENDERER_GOD_OBJECT);
  CHECK(rig.device->open());
  std::uint32_t random = 12345;
  const auto next = [&] { return random = random * 1664525u + 1013904223u, random >> 24; };
  const auto is_inside = [&] { return rig.handle().position.z < sim::Scene::kHalfWidth - 0.005; };
  const char* const garbage[] = {"", "{}", "{\"inverse3\": [", "\xff", "{\"inverse3\": [{\"device_id\": \"049D\"}]}"};
  double before = 0;
  int interruptions = 0, pressed = 0, steps = runs_slowly() ? 300 : 6000;
  rig.to({0, 0, 0}, 400);
  before = rig.handle().force.length();
  for (int i = 0; i < steps; i++) {
    const std::uint32_t fault = next();
    rig.faults([&](sim::Faults& f) {
      f = sim::Faults();
      if (fault < 6) f.answer = garbage[fault % 5];
      if (fault == 7) f.unasked = 2;
      if (fault > 100 && fault < 120) f.frame = fault % 40 + 1;
      if (fault == 8) f.has_position = false;
      if (fault == 9) f.has_velocity = false;
    });
    if (fault == 10) rig.service.end(next() % 2 == 0 ? Service::End::abort : Service::End::close_frame);
    if (!rig.step()) {
      interruptions++;
      rig.faults([](sim::Faults& f) { f = sim::Faults(); });
      CHECK(!rig.device->is_open() && rig.device->error()[0] != 0 && logged("connection lost") == 1);
      CHECK(rig.device->open());
      rig.run(1);
      before = 0;
    }
    // Sent with the next message.
    const std::uint32_t status = rig.device->loop().status();
    const double force = rig.handle().force.length();
    CHECK(force < 3 * (1 + 1e-9));
    // The beginning of a contact at 0.1 m/s; a force that came back without a ramp would be above 1 N.
    CHECK(force - before < 0.3);
    if (force > 0.5) pressed++;
    rig.faults([](sim::Faults& f) { f = sim::Faults(); });
    const bool was_inside = is_inside();
    if (!rig.step()) {
      CHECK(logged("connection lost") == 1 && rig.device->open());
      before = 0;
      continue;
    }
    before = rig.handle().force.length();
    const std::uint32_t reasons = VXS_HAPTICS_BAD_STATE | VXS_HAPTICS_RAMPING | VXS_HAPTICS_TELEPORT;
    // The tool stays on its side of the face, also while the service is away.
    CHECK(rig.scene.height(rig.device->loop().tool()) > sim::Scene::kHalfWidth - 1e-4);
    if (before == 0 && was_inside) CHECK((status & reasons) != 0);
  }
  if (!runs_slowly()) CHECK(interruptions > 10 && pressed > 500 && rig.device->unreadable() > 50);
}

}  // namespace

int main() {
  OK(vxs_set_log(note, VXS_LOG_WARNING, nullptr));
  contact_and_free_space(1);
  contact_and_free_space(2.5);
  limits();
  pieces_and_unknown_members_change_nothing();
  unknown_velocities();
  garbage();
  lasting_garbage();
  unasked_messages();
  late_and_no_answers();
  endings();
  restarts();
  choice_of_the_device();
  grip();
  no_silent_loss_of_force();
  puts("haply: ok");
  return 0;
}
