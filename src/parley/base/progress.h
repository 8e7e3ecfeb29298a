// Progress of long work, on stderr: a bar that redraws itself on a terminal, a plain line per tenth
// elsewhere, nothing when quiet. Shows public facts only.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace parley {

enum class ProgressStyle { kQuiet, kLines, kBar };

/// kBar on a terminal that can redraw, else kLines; kQuiet when asked.
ProgressStyle progress_style(bool quiet, std::FILE* stream = stderr);

class Progress {
 public:
  Progress(ProgressStyle style, std::string title, uint64_t total, std::FILE* stream = stderr);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(uint64_t by = 1) { show(done_ += by); }
  void finish();

 private:
  void show(uint64_t done);
  void draw();

  ProgressStyle style_;
  std::string title_;
  uint64_t total_;
  std::FILE* stream_;
  uint64_t done_ = 0;
  uint64_t tenths_ = 0;
  bool finished_ = false;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace parley
