/* Voxshell for C++17: vectors and poses, errors, ownership of handles, log. voxshell.hpp describes the whole wrapper. */
#ifndef VOXSHELL_BASE_HPP
#define VOXSHELL_BASE_HPP

// GCC, Clang and MSVC define this where exceptions are enabled.
#if !defined(VOXSHELL_NO_EXCEPTIONS) && !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#define VOXSHELL_NO_EXCEPTIONS
#endif

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#ifdef VOXSHELL_NO_EXCEPTIONS
#include <atomic>
#include <cstdio>
#include <cstdlib>
#else
#include <stdexcept>
#endif

#include "base.h"

// The namespace of the wrapper. Without exceptions it is one of its own, so that files compiled with exceptions and
// without may be linked into one program.
#ifdef VOXSHELL_NO_EXCEPTIONS
#define VOXSHELL_NAMESPACE_BEGIN \
  namespace voxshell {           \
  inline namespace no_exceptions {
#define VOXSHELL_NAMESPACE_END    \
  } /* namespace no_exceptions */ \
  } /* namespace voxshell */
#else
#define VOXSHELL_NAMESPACE_BEGIN namespace voxshell {
#define VOXSHELL_NAMESPACE_END } /* namespace voxshell */
#endif

VOXSHELL_NAMESPACE_BEGIN

using Vec3 = vxs_vec3;
using Pose = vxs_pose;
using Aabb = vxs_aabb;

/** Identity pose. */
inline Pose identity() { return Pose{{0, 0, 0}, 0, 0, 0, 1}; }

#ifdef VOXSHELL_NO_EXCEPTIONS

/** Called when a call does not succeed. `message` is the text of `vxs_last_error()`. */
using ErrorHandler = void (*)(vxs_status status, const char* message);

namespace detail {

inline void print_and_abort(vxs_status status, const char* message) {
  std::fprintf(stderr, "voxshell: %s: %s\n", vxs_status_name(status), message);
  std::abort();
}

inline std::atomic<ErrorHandler> error_handler{print_and_abort};

inline void fail(vxs_status status, const char* message) { error_handler.load()(status, message); }

}  // namespace detail

/** Sets the function that is called when a call does not succeed, on any thread, and returns the previous one. Null: no
 * function is called, and the user gets the empty results and `vxs_last_error()`. */
inline ErrorHandler set_error_handler(ErrorHandler handler) {
  return detail::error_handler.exchange(handler ? handler : [](vxs_status, const char*) {});
}

#else

/** A call that did not succeed; `what()` is the text of `vxs_last_error()`. */
class Error : public std::runtime_error {
 public:
  Error(vxs_status status, const char* message) : std::runtime_error(message), status_(status) {}
  vxs_status status() const noexcept { return status_; }

 private:
  vxs_status status_;
};

namespace detail {

[[noreturn]] inline void fail(vxs_status status, const char* message) { throw Error(status, message); }

}  // namespace detail

#endif

namespace detail {

/** Returns true if the call has written its outputs. Otherwise it fails. */
inline bool check(vxs_status status) {
  if (status == VXS_OK || status == VXS_TRUNCATED) return true;
  fail(status, vxs_last_error());
  return false;
}

/** Returns `holds`. If it is false, fails with this message. */
inline bool require(bool holds, const char* message) {
  if (!holds) fail(VXS_INVALID_ARGUMENT, message);
  return holds;
}

/** Owns one handle. */
template <class T, vxs_status (*release)(T*)>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(T* handle) noexcept : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { release(handle_); }

  T* get() const noexcept { return handle_; }
  /** For the C functions that create a handle: releases the handle held and returns the address for the new one. */
  T** out() {
    release(std::exchange(handle_, nullptr));
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};

}  // namespace detail

/** Sets the function that gets the messages of the library up to `level`, for the whole process; an empty function removes
 * it. It is called on the thread that produces a message, by several threads at once; exceptions that it throws are
 * dropped. See `vxs_set_log`. */
inline void set_log(std::function<void(std::uint32_t level, const char* message)> log,
                    std::uint32_t level = VXS_LOG_WARNING) {
  using Function = decltype(log);
  // Removes itself before it is destroyed, at the latest at the end of the program.
  struct Hook {
    Function log;
    explicit Hook(Function f) : log(std::move(f)) {}
    ~Hook() { vxs_set_log(nullptr, 0, nullptr); }
    static void call(std::uint32_t level, const char* message, void* user) {
#ifndef VOXSHELL_NO_EXCEPTIONS
      try {
        static_cast<Hook*>(user)->log(level, message);
      } catch (...) {
      }
#else
      static_cast<Hook*>(user)->log(level, message);
#endif
    }
  };
  static std::mutex setting;
  static std::unique_ptr<Hook> current;
  const std::lock_guard<std::mutex> lock(setting);
  current.reset();
  if (!log) return;
  auto next = std::make_unique<Hook>(std::move(log));
  if (detail::check(vxs_set_log(Hook::call, level, next.get()))) current = std::move(next);
}

VOXSHELL_NAMESPACE_END

#endif
