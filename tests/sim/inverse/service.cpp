#include "service.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <list>
#include <thread>
#include <utility>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <nlohmann/json.hpp>

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using Json = nlohmann::json;
using Error = boost::system::error_code;

namespace {

Json json(const sim::Vec& v) { return {{"x", v.x}, {"y", v.y}, {"z", v.z}}; }

Json state_of(const sim::Inverse3& device, const sim::Faults& faults) {
  Json state;
  if (faults.has_position) state["cursor_position"] = json(device.handle.position);
  if (faults.has_velocity) state["cursor_velocity"] = json(device.handle.velocity);
  state["current_cursor_force"] = json(device.handle.force);
  state["control_domain"] = "cartesian";
  state["control_mode"] = "force";
  return state;
}

// All devices, as in each message of the service; with their configuration in the first.
Json listing(const sim::Service::State& s, bool is_first) {
  Json message;
  if (is_first) message["session_id"] = 7;
  message["inverse3"] = Json::array();
  if (s.faults.lists_devices) {
    for (const sim::Inverse3& device : s.devices) {
      Json entry = {{"device_id", device.id}, {"state", state_of(device, s.faults)}, {"status", {{"ready", true}}}};
      if (is_first) entry["config"] = {{"type", "inverse3"}, {"basis", {{"permutation", "XYZ"}}}};
      message["inverse3"].push_back(entry);
    }
  }
  for (const sim::VerseGrip& grip : s.grips) {
    const double* const q = grip.orientation;
    Json entry = {{"device_id", grip.id}};
    if (!grip.is_asleep) {
      entry["state"]["orientation"] = {{"x", q[0]}, {"y", q[1]}, {"z", q[2]}, {"w", q[3]}};
      entry["state"]["buttons"] = {{"a", grip.button_a}, {"b", false}, {"c", false}};
    }
    message["wireless_verse_grip"].push_back(entry);
  }
  if (s.faults.has_unknown_members) {
    message["minverse"] = {{{"device_id", 12}}, "not an object"};
    message["inverse3"].insert(message["inverse3"].begin(), {nullptr, {{"config", 1.5}}, {{"device_id", nullptr}}});
    for (Json& entry : message["inverse3"])
      if (entry.is_object()) entry["novel"] = {{"deep", {{"x", "y"}}}};
  }
  return message;
}

}  // namespace

struct sim::Service::Session {
  explicit Session(tcp::socket socket) : ws(std::move(socket)) {}
  websocket::stream<tcp::socket> ws;
  boost::beast::flat_buffer buffer;
  bool is_first = true;
};

// One thread serves all connections.
struct sim::Service::Server {
  explicit Server(Service& s) : service(s) { open(0); }

  void open(unsigned short number) {
    const tcp::endpoint here(asio::ip::address_v4::loopback(), number);
    acceptor.open(here.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(here);
    acceptor.listen();
    port = acceptor.local_endpoint().port();
    accept();
  }
  void accept() {
    acceptor.async_accept([this](const Error& error, tcp::socket socket) {
      if (error) return;
      socket.set_option(tcp::no_delay(true));
      sessions.emplace_back(std::move(socket));
      const auto session = std::prev(sessions.end());
      session->ws.async_accept([this, session](const Error& failed) {
        if (failed) return ended(session);
        service.with([](State& s) { s.connections++; });
        send(*session, service.inventory());
        read(session);
      });
      accept();
    });
  }
  void read(std::list<Session>::iterator session) {
    session->ws.async_read(session->buffer, [this, session](const Error& error, std::size_t) {
      if (error) return ended(session);
      const std::string text = boost::beast::buffers_to_string(session->buffer.data());
      session->buffer.clear();
      const std::string answer = service.answer(text, std::exchange(session->is_first, false));
      const Faults faults = service.with([](State& s) { return s.faults; });
      std::this_thread::sleep_for(std::chrono::duration<double>(faults.delay));
      for (int i = 0; i < faults.unasked; i++) send(*session, R"({"warning": "nobody asked"})");
      if (!faults.is_silent) send(*session, faults.answer.empty() ? answer : faults.answer);
      read(session);
    });
  }
  void ended(std::list<Session>::iterator session) {
    sessions.erase(session);
    service.let_go();
  }
  void send(Session& session, const std::string& text) {
    const std::size_t frame = service.with([](State& s) { return s.faults.frame; });
    Error ignored;
    session.ws.text(true);
    if (frame == 0) {
      session.ws.write(asio::buffer(text), ignored);
      return;
    }
    for (std::size_t i = 0; i < text.size(); i += frame) {
      const std::size_t size = std::min(frame, text.size() - i);
      session.ws.write_some(i + size == text.size(), asio::buffer(text.data() + i, size), ignored);
      if (i / frame % 3 == 2) session.ws.ping("still there?", ignored);
    }
  }
  // Runs on the server's thread, and is done when this returns.
  template <class Action>
  void run(Action action) {
    std::promise<void> done;
    asio::post(io, [&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }

  Service& service;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::list<Session> sessions;
  unsigned short port = 0;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::thread thread;
};

sim::Service::Service() : server_(std::make_unique<Server>(*this)) {
  server_->thread = std::thread([this] { server_->io.run(); });
}
sim::Service::~Service() {
  server_->io.stop();
  server_->thread.join();
}
unsigned short sim::Service::port() const { return server_->port; }

void sim::Service::end(End how) {
  server_->run([&] {
    for (Session& session : server_->sessions) {
      if (how == End::close_frame) {
        session.ws.async_close(websocket::close_code::going_away, [](const Error&) {});
      } else {
        // The peer gets a reset.
        session.ws.next_layer().set_option(asio::socket_base::linger(true, 0));
        session.ws.next_layer().close();
      }
    }
  });
}
void sim::Service::listen(bool on) {
  server_->run([&] {
    server_->acceptor.close();
    if (on) server_->open(server_->port);
  });
}

std::string sim::Service::inventory() {
  std::lock_guard<std::mutex> lock(mutex_);
  return listing(state_, true).dump();
}

std::string sim::Service::answer(const std::string& text, bool is_first) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto violated = [this](const char* rule) { state_.violations.push_back(rule); };
  state_.messages++;
  for (Inverse3& device : state_.devices) device.handle.force = {};
  const Json message = Json::parse(text, nullptr, false);
  if (!message.is_object()) {
    violated("a message is an object");
    return listing(state_, false).dump();
  }
  if (message.contains("session") != is_first) violated("the first message, and no other one, names the session");
  if (is_first) {
    state_.profile = message.value(Json::json_pointer("/session/configure/profile/name"), "");
    const std::string basis = message.value(Json::json_pointer("/session/configure/basis/permutation"), "XYZ");
    if (basis != "XYZ") violated("this service knows the basis XYZ only");
  }
  if (!message.contains("inverse3") || !message["inverse3"].is_array()) violated("inverse3 is an array");
  for (const Json& entry : message.value("inverse3", Json::array())) {
    const std::string id = entry.value("device_id", "");
    const Json force = entry.value(Json::json_pointer("/commands/set_cursor_force/vector"), Json());
    if (!force.is_object()) violated("set_cursor_force has a vector");
    bool is_known = false;
    for (Inverse3& device : state_.devices) {
      if (device.id != id || !force.is_object()) continue;
      is_known = true;
      const double none = std::numeric_limits<double>::quiet_NaN();
      const Vec newtons = {force.value("x", none), force.value("y", none), force.value("z", none)};
      if (!std::isfinite(newtons.length())) violated("a force has three numbers");
      device.handle.command(newtons, {});
      device.forces.push_back(newtons);
    }
    if (!is_known) violated("a device_id is one of the listed");
  }
  for (Inverse3& device : state_.devices) device.handle.advance(state_.period);
  return listing(state_, false).dump();
}

void sim::Service::let_go() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Inverse3& device : state_.devices) device.handle.command({}, {});
}
