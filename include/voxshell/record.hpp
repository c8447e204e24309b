/* Voxshell for C++17: recordings of all calls of a program, which are replayed to the same bytes. */
#ifndef VOXSHELL_RECORD_HPP
#define VOXSHELL_RECORD_HPP

#include <utility>

#include "base.hpp"
#include "record.h"

VOXSHELL_NAMESPACE_BEGIN

/** `vxs_record_options` with its defaults. */
struct RecordOptions : vxs_record_options {
  RecordOptions() : vxs_record_options{} { detail::check(vxs_record_options_init(this, sizeof(vxs_record_options))); }
};

/** The recording of the process: from its construction until `stop`, or until it is destroyed. */
class Recording {
 public:
  explicit Recording(const char* path, const RecordOptions& options = {})
      : runs_(detail::check(vxs_record_start(path, &options))) {}
  Recording(Recording&& other) noexcept : runs_(std::exchange(other.runs_, false)) {}
  Recording& operator=(Recording&& other) noexcept {
    if (this != &other) {
      end();
      runs_ = std::exchange(other.runs_, false);
    }
    return *this;
  }
  /** Drops the error of a file that cannot be written; `stop` reports it. */
  ~Recording() { end(); }

  vxs_record_report stop() {
    vxs_record_report report{};
    runs_ = false;
    if (detail::check(vxs_record_report_init(&report, sizeof report))) detail::check(vxs_record_stop(&report));
    return report;
  }
  /** False after `stop`, and if it was moved from. */
  explicit operator bool() const noexcept { return runs_; }

 private:
  void end() noexcept {
    if (std::exchange(runs_, false)) static_cast<void>(vxs_record_stop(nullptr));
  }

  bool runs_;
};

VOXSHELL_NAMESPACE_END

#endif
