// Progress and cancellation of calls that take long.
//
//   std::stop_source stopping;                          // somebody calls stopping.request_stop()
//   parley::AuditOptions options;
//   options.progress = [](uint64_t done, uint64_t total) {
//     std::cerr << "\r" << 100 * done / total << " %";
//   };
//   options.stop = stopping.get_token();
//
// A call that takes a std::stop_token returns soon after a stop was requested. What was paid by
// then is in the owners' ledgers; nothing is lost, and nothing is paid twice.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace parley {

/// Hears that `done` of `total` parts of the work are done. Called from the thread that called the
/// function, or from one of its own, never from two at a time; it should return quickly. What it
/// hears is public.
using OnProgress = std::function<void(uint64_t done, uint64_t total)>;

/// Takes one line of a log, without a line break. States public facts only. It may be called from
/// several threads at once.
using OnLog = std::function<void(const std::string& line)>;

}  // namespace parley
