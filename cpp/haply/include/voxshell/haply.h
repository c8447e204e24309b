// Forces from Voxshell on Haply's Inverse3, over the WebSocket of the Inverse Service, version 3.5. Header-only, C++17;
// needs Boost 1.70 (Beast) and nlohmann-json 3. See cpp/haply/README.md.
#ifndef VOXSHELL_HAPLY_H
#define VOXSHELL_HAPLY_H

#include "voxshell/device.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <nlohmann/json.hpp>

namespace voxshell {
namespace haply {

using Clock = std::chrono::steady_clock;

// A WebSocket, each of whose calls ends in the given time. For one thread.
class Connection {
 public:
  using Error = boost::system::error_code;

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { drop(); }

  bool open(const std::string& host, unsigned short port, double seconds) {
    namespace beast = boost::beast;
    drop();
    stream_.emplace(io_);
    buffer_.clear();
    has_message_ = false;
    read_error_ = Error();
    const std::string number = std::to_string(port);
    boost::asio::ip::tcp::resolver resolver(io_);
    const auto found = resolver.resolve(host, number, error_);
    if (error_) return false;
    const Clock::time_point deadline = in(seconds);
    beast::tcp_stream& tcp = beast::get_lowest_layer(*stream_);
    if (!finish(deadline, [&](auto done) { tcp.async_connect(found, done); })) return false;
    // Each message is small, and waits for nothing.
    tcp.socket().set_option(boost::asio::ip::tcp::no_delay(true), error_);
    stream_->read_message_max(kLargestMessage);
    stream_->text(true);
    if (!finish(deadline, [&](auto done) { stream_->async_handshake(host + ":" + number, "/", done); })) return false;
    read();
    return true;
  }

  bool send(const std::string& text, double seconds) {
    return finish(in(seconds), [&](auto done) { stream_->async_write(boost::asio::buffer(text), done); });
  }

  // Waits for a message: the newest one if several have arrived. Then text() is this message.
  bool receive(double seconds) {
    const Clock::time_point deadline = in(seconds);
    io_.restart();
    while (!has_message_ && !read_error_ && Clock::now() < deadline) io_.run_one_until(deadline);
    if (has_message_) poll();
    error_ = has_message_ ? Error() : read_error_ ? read_error_ : Error(boost::asio::error::timed_out);
    return std::exchange(has_message_, false);
  }
  const std::string& text() const { return text_; }

  // Drops messages that arrived before now, so that the next one is an answer to what is sent next.
  void discard() {
    io_.restart();
    poll();
    has_message_ = false;
  }

  // Says goodbye.
  void close(double seconds) {
    finish(in(seconds), [&](auto done) { stream_->async_close(boost::beast::websocket::close_code::normal, done); });
    drop();
  }

  // Closes the socket without a word. Operations that are under way end with an error.
  void drop() {
    if (!stream_) return;
    boost::beast::get_lowest_layer(*stream_).close();
    io_.restart();
    io_.run();
  }

  const Error& error() const { return error_; }

 private:
  // Inventories of several devices have some 10 kB.
  static constexpr std::size_t kLargestMessage = 1 << 20;
  // A peer that sends without end gets no more than this much attention at a time.
  static constexpr int kMostHandlers = 256;

  static Clock::time_point in(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  // Starts an operation with a handler for its end, and waits for it. After the deadline the connection is dropped.
  template <class Operation>
  bool finish(Clock::time_point deadline, Operation operation) {
    bool is_done = false;
    error_ = Error();
    io_.restart();
    operation([this, &is_done](const Error& error, auto&&...) {
      error_ = error;
      is_done = true;
    });
    while (!is_done && Clock::now() < deadline) io_.run_one_until(deadline);
    if (!is_done) {
      drop();
      error_ = boost::asio::error::timed_out;
    }
    return !error_;
  }

  // Reads all the time, so that pings are answered and the newest message is known.
  void read() {
    stream_->async_read(buffer_, [this](const Error& error, std::size_t) {
      read_error_ = error;
      if (error) return;
      text_.assign(static_cast<const char*>(buffer_.data().data()), buffer_.size());
      buffer_.clear();
      has_message_ = true;
      read();
    });
  }

  void poll() {
    for (int i = 0; i < kMostHandlers && io_.poll_one() > 0; i++) continue;
  }

  boost::asio::io_context io_{1};
  std::optional<boost::beast::websocket::stream<boost::beast::tcp_stream>> stream_;
  boost::beast::flat_buffer buffer_;
  std::string text_;
  bool has_message_ = false;
  Error error_, read_error_;
};

struct Options {
  device::Workspace workspace;
  // Where the Inverse Service listens.
  std::string host = "localhost";
  unsigned short port = 10001;
  // device_id of the Inverse3, and of the VerseGrip on it. Empty: the first that the service lists. Without a grip the
  // tool does not turn.
  std::string device_id, grip_id;
  // The grip's button that must be held for forces to be shown: "a", "b" or "c". Empty: none is needed.
  std::string deadman_button;
  // Largest force that is sent, N. 0: that of the vxs_haptics.
  double max_force = 0;
  // Least time from message to message, seconds. 0: as fast as the service answers.
  double period = 1e-3;
  // Seconds of each step of the vxs_haptics. 0: measured by the clock.
  double time_step = 0;
  // Seconds without a usable answer after which the service counts as lost.
  double timeout = 0.1;
  // Seconds between attempts of run() to connect again. 0: run() ends with the connection.
  double retry = 0.5;
  // Name of the session in Haply's Hub.
  std::string profile = "voxshell";
};

// One Inverse3. All calls but the questions come from one thread.
class Device {
 public:
  // The vxs_haptics stays the caller's, and must outlive the device.
  Device(vxs_haptics* haptics, const Options& options = Options())
      : options_(options), loop_(haptics, options.workspace) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }

  // Connects to the service and finds the device. The force grows from zero; the tool begins at the hand, and after a
  // loss where it was. False: error() says why.
  bool open() {
    close();
    error_.clear();
    if (!connection_.open(options_.host, options_.port, kConnecting)) return fail("no connection to the service");
    // The service begins with a list of its devices.
    if (!connection_.receive(kConnecting)) return fail("the service lists no devices");
    const Json message = Json::parse(connection_.text(), nullptr, false);
    const Json* const found = listed(message, "inverse3", options_.device_id);
    const Json* const id = member(found, "device_id");
    if (id == nullptr || !id->is_string()) {
      connection_.close(kClosing);
      return fail(options_.device_id.empty() ? "the service lists no Inverse3"
                                             : "the service lists no Inverse3 with this device_id");
    }
    id_ = id->get<std::string>();
    // After a loss the tool stays where it is, on its side of a surface; a step without a state begins a new ramp.
    if (std::exchange(was_lost_, false)) {
      loop_.step(nowhere(), 1e-3);
    } else {
      vxs_haptics_reset(loop_.haptics(), nullptr);
    }
    force_ = {0, 0, 0};
    has_last_ = is_interrupted_ = false;
    is_first_ = true;
    grip_ = Grip();
    senses_rotation_ = false;
    time_ = usable_ = next_ = Clock::now();
    is_open_ = true;
    return true;
  }

  // Sends the force of the last step, waits for the state, and computes the next force. False: the connection is lost;
  // the service then holds no force on the device.
  bool step() {
    if (!is_open_) return false;
    std::this_thread::sleep_until(next_);
    const Clock::time_point begin = Clock::now();
    next_ = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.period));
    if (!exchange(force_)) return lose("no answer");
    const Clock::time_point now = Clock::now();
    const double dt = options_.time_step > 0 ? options_.time_step : seconds(now - time_);
    time_ = now;
    device::Sample sample;
    const char* const fault = read(sample, dt);
    if (fault != nullptr) {
      // The vxs_haptics answers to it with no force, and with a ramp afterwards.
      sample = nowhere();
      unreadable_++;
      if (seconds(now - usable_) > options_.timeout) return lose(fault);
    } else {
      usable_ = now;
      last_ = sample;
    }
    has_last_ = fault == nullptr;
    force_ = limited(loop_.step(sample, dt).force);
    report(fault);
    return true;
  }

  // Steps until `on` is false, and connects again whenever the service is lost. Then no force is left on the device.
  // True if the device was there to the end.
  bool run(const std::atomic<bool>& on) {
    bool has_told = false;
    while (on.load(std::memory_order_relaxed)) {
      if (is_open_ || open()) {
        has_told = false;
        if (!step() && !(options_.retry > 0)) return false;
        continue;
      }
      if (!(options_.retry > 0)) return false;
      if (!std::exchange(has_told, true)) warn("no force: " + error_);
      const Clock::time_point begin = Clock::now();
      while (on.load(std::memory_order_relaxed) && seconds(Clock::now() - begin) < options_.retry)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const bool was_open = is_open_;
    close();
    return was_open;
  }

  void close() {
    if (!is_open_) return;
    is_open_ = false;
    exchange({0, 0, 0}) ? connection_.close(kClosing) : connection_.drop();
  }

  // Status and failures of the steps, for any thread.
  const device::Loop& loop() const { return loop_; }
  bool is_open() const { return is_open_; }
  // Why the device was not opened or was lost; "" if neither has happened since open().
  const char* error() const { return error_.c_str(); }
  // device_id of the open device.
  const std::string& id() const { return id_; }
  // Whether the last state had a grip's rotation.
  bool senses_rotation() const { return senses_rotation_; }
  // Lost connections, answers that could not be used, and answers without velocity, for which the difference of the
  // last two positions was used. For any thread.
  std::uint64_t losses() const { return losses_; }
  std::uint64_t unreadable() const { return unreadable_; }
  std::uint64_t estimated() const { return estimated_; }

 private:
  using Json = nlohmann::json;

  // Seconds for a connection, and for a farewell.
  static constexpr double kConnecting = 2, kClosing = 0.2;
  // A rotation that has not changed for this many seconds is at rest. Grips report less often than the service answers.
  static constexpr double kGripPause = 0.05;

  // Rotation of the grip as reported, the seconds since its last change, and the velocity between the last two changes.
  struct Grip {
    bool is_known = false;
    device::Quaternion rotation;
    double age = 0;
    vxs_vec3 angular{0, 0, 0};
  };

  static device::Sample nowhere() {
    device::Sample sample;
    sample.position.x = std::numeric_limits<double>::quiet_NaN();
    return sample;
  }
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  // Null if there is no such member.
  static const Json* member(const Json* object, const std::string& name) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(name);
    return found == object->end() ? nullptr : &*found;
  }
  static bool number(const Json* object, const char* name, double& value) {
    const Json* const found = member(object, name);
    if (found == nullptr || !found->is_number()) return false;
    value = found->get<double>();
    return true;
  }
  static bool vector(const Json* object, vxs_vec3& v) {
    return number(object, "x", v.x) && number(object, "y", v.y) && number(object, "z", v.z);
  }
  static bool is_true(const Json* value) { return value != nullptr && value->is_boolean() && value->get<bool>(); }

  // Finds a device in a message, by its kind and its device_id; an empty id stands for the first of its kind.
  static const Json* listed(const Json& message, const char* kind, const std::string& id) {
    const Json* const devices = member(&message, kind);
    if (devices == nullptr || !devices->is_array()) return nullptr;
    for (const Json& device : *devices) {
      const Json* const its = member(&device, "device_id");
      if (its != nullptr && its->is_string() && (id.empty() || *its == id)) return &device;
    }
    return nullptr;
  }

  // The first message names the session, and chooses the axes in which the service counts: x right, y forward, z up.
  std::string command(const vxs_vec3& force) {
    Json message;
    Json& device = message["inverse3"][0];
    device["device_id"] = id_;
    device["commands"]["set_cursor_force"]["vector"] = {{"x", force.x}, {"y", force.y}, {"z", force.z}};
    if (std::exchange(is_first_, false)) {
      Json& configure = message["session"]["configure"];
      configure["profile"]["name"] = options_.profile;
      configure["basis"]["permutation"] = "XYZ";
    }
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  // The service answers each message with one state.
  bool exchange(const vxs_vec3& force) {
    connection_.discard();
    return connection_.send(command(force), options_.timeout) && connection_.receive(options_.timeout);
  }

  // Reads the state in the last message; returns what is wrong with it, or null.
  const char* read(device::Sample& sample, double dt) {
    const Json message = Json::parse(connection_.text(), nullptr, false);
    if (message.is_discarded()) return "the service's answer is not JSON";
    const Json* const state = member(listed(message, "inverse3", id_), "state");
    if (state == nullptr) return "the service's answer has no state of the device";
    if (!vector(member(state, "cursor_position"), sample.position)) return "the state has no cursor_position";
    if (!vector(member(state, "cursor_velocity"), sample.linear)) {
      estimated_++;
      sample.linear = {0, 0, 0};
      if (has_last_ && dt > 0) {
        const vxs_vec3 motion = device::plus(sample.position, device::scaled(-1, last_.position));
        sample.linear = device::scaled(1 / dt, motion);
      }
    }
    read_grip(message, sample, dt);
    return nullptr;
  }

  // A grip that is not listed, or asleep, keeps its rotation; its button is not held.
  void read_grip(const Json& message, device::Sample& sample, double dt) {
    const Json* grip = nullptr;
    for (const char* kind : {"wireless_verse_grip", "verse_grip", "custom_verse_grip"})
      if (grip == nullptr) grip = listed(message, kind, options_.grip_id);
    const Json* const state = member(grip, "state");
    const Json* const orientation = member(state, "orientation");
    device::Quaternion q;
    const bool is_turning = number(orientation, "x", q.x) && number(orientation, "y", q.y) &&
                            number(orientation, "z", q.z) && number(orientation, "w", q.w);
    grip_.age += dt;
    if (is_turning) turn(q.cleaned());
    if (senses_rotation_.exchange(is_turning) && !is_turning) warn("the grip is lost, and the tool turns no more");
    sample.rotation = grip_.rotation;
    if (grip_.age < kGripPause) sample.angular = grip_.angular;
    sample.engaged =
        options_.deadman_button.empty() || is_true(member(member(state, "buttons"), options_.deadman_button));
  }

  void turn(const device::Quaternion& q) {
    const device::Quaternion& last = grip_.rotation;
    if (grip_.is_known && q.x == last.x && q.y == last.y && q.z == last.z && q.w == last.w) return;
    const bool is_moving = grip_.is_known && grip_.age > 0 && grip_.age < kGripPause;
    grip_.angular = is_moving ? device::angular_velocity(last, q, grip_.age) : vxs_vec3{0, 0, 0};
    grip_.rotation = q;
    grip_.age = 0;
    grip_.is_known = true;
  }

  vxs_vec3 limited(const vxs_vec3& force) const {
    const double length = std::sqrt(force.x * force.x + force.y * force.y + force.z * force.z);
    return options_.max_force > 0 && length > options_.max_force ? device::scaled(options_.max_force / length, force)
                                                                 : force;
  }

  // Logs the begin of each interruption of the force, not each of its steps. vxs_haptics_simulate logs jumps.
  void report(const char* fault) {
    const std::uint32_t status = loop_.status();
    if (fault == nullptr && (status & VXS_HAPTICS_BAD_STATE) != 0) fault = "a reading is not valid";
    if (fault == nullptr && (status & VXS_HAPTICS_BAD_TIME) != 0) fault = "an answer came late";
    if (loop_.failure() != VXS_OK && !std::exchange(has_failed_, true)) warn("no force: a step of vxs_haptics failed");
    if (fault != nullptr && !is_interrupted_) warn(std::string("no force: ") + fault);
    is_interrupted_ = fault != nullptr;
  }

  static void warn(const std::string& text) { vxs_log(VXS_LOG_WARNING, ("haply: " + text).c_str()); }

  bool fail(const char* why) {
    error_ = why;
    if (connection_.error()) error_ += " (" + connection_.error().message() + ")";
    connection_.drop();
    return false;
  }
  bool lose(const char* why) {
    is_open_ = false;
    losses_++;
    was_lost_ = true;
    fail(why);
    warn("connection lost, no force: " + error_);
    return false;
  }

  Options options_;
  device::Loop loop_;
  Connection connection_;
  std::string id_, error_;
  vxs_vec3 force_{0, 0, 0};
  // Of the last step, of the last usable answer, and the earliest of the next step.
  Clock::time_point time_, usable_, next_;
  device::Sample last_;
  Grip grip_;
  bool is_first_ = true, has_last_ = false, is_interrupted_ = false, has_failed_ = false, was_lost_ = false;
  std::atomic<bool> is_open_{false}, senses_rotation_{false};
  std::atomic<std::uint64_t> losses_{0}, unreadable_{0}, estimated_{0};
};

}  // namespace haply
}  // namespace voxshell

#endif
