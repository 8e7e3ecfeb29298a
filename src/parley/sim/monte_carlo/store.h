// A file of finished runs, one line of CSV each: cell, run, relative fitness after each recorded
// round, and the model if it is kept. The file names its job, so that a job that was interrupted,
// or gets more runs, continues where it stopped.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parley/sim/monte_carlo/columns.h"

namespace parley::sim::monte_carlo {

class Store {
 public:
  /// A file, or a folder for a file of the job's own. Without a path it is kept in memory only.
  /// kInvalid if the file belongs to another job.
  static Result<Store> open(const Job& job, std::filesystem::path path);

  bool has(size_t cell, uint64_t run) const { return runs_.contains({cell, run}); }
  Result<void> add(std::span<const Column> columns, std::span<const Finished> finished);
  /// Puts the lines in order.
  Result<std::vector<Sample>> finish() const;

 private:
  Store(const Job& job, std::filesystem::path path) : job_(job), path_(std::move(path)) {}
  std::string heading() const;
  size_t notes() const;
  /// A line that was not written to its end is not there.
  bool read_line(std::string_view line);
  std::vector<Sample> samples() const;

  const Job& job_;
  std::filesystem::path path_;
  std::map<std::pair<size_t, uint64_t>, Finished> runs_{};
};

}  // namespace parley::sim::monte_carlo
