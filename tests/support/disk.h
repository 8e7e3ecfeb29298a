// A disk that remembers and fails on command: a SQLite VFS over the real one that records every
// write, sync, truncation and removal, and can make any of them fail. It never really syncs, so
// that thousands of crashes can be tried; what a sync has made durable is known from the record.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace parley::test {

struct DiskStep {
  enum class Kind { kWrite, kSync, kTruncate, kRemove } kind;
  std::string file;     // without its folder
  size_t offset = 0;    // of a truncation: the new size
  std::string bytes{};  // of a write
};

/// From the next step on; step 1 is the next.
struct DiskFault {
  size_t at = 1;
  int code = 0;           // of SQLite, which the step returns
  bool for_good = false;  // every later step fails, too
  double written = 0;     // the share of a failing write that reaches the disk
};

/// Every database that is opened while it lives uses it. One at a time.
class Disk {
 public:
  Disk();
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  const std::vector<DiskStep>& steps() const;
  void forget_steps();
  void fail(const DiskFault& fault);
  /// Ends the fault; whether it was met.
  bool heal();

 private:
  struct Shim;
  std::unique_ptr<Shim> shim_;
};

/// One file of a disk that is about to lose power.
class Platter {
 public:
  void apply(const DiskStep& step);
  /// Each is the content, or nothing if there is no file.
  std::optional<std::string> as_written() const { return current_; }
  std::optional<std::string> as_synced() const { return durable_; }
  /// What was not synced arrives in part: any of the steps, writes cut at sectors.
  std::optional<std::string> as_chance_has_it(std::mt19937_64& random) const;
  /// As written, and the first bytes of `step`.
  std::optional<std::string> torn(const DiskStep& step, size_t bytes) const;

 private:
  std::optional<std::string> durable_, current_;
  std::vector<DiskStep> pending_;
};

}  // namespace parley::test
