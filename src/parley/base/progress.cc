#include "parley/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace parley {
namespace {

int width_of(std::FILE* stream) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressStyle progress_style(bool quiet, std::FILE* stream) {
  if (quiet) return ProgressStyle::kQuiet;
  const char* terminal = std::getenv("TERM");
  const bool can_redraw = terminal != nullptr && std::string_view(terminal) != "dumb";
  return isatty(fileno(stream)) && can_redraw ? ProgressStyle::kBar : ProgressStyle::kLines;
}

Progress::Progress(ProgressStyle style, std::string title, uint64_t total, std::FILE* stream)
    : style_(style),
      title_(std::move(title)),
      total_(std::max<uint64_t>(total, 1)),
      stream_(stream) {
  if (style_ == ProgressStyle::kBar) draw();
}

void Progress::show(uint64_t done) {
  if (style_ == ProgressStyle::kLines) {
    const uint64_t tenths = std::min<uint64_t>(done * 10 / total_, 10);
    if (tenths > tenths_) std::fprintf(stream_, "%s: %d %%\n", title_.c_str(), int(tenths) * 10);
    tenths_ = std::max(tenths, tenths_);
  } else if (style_ == ProgressStyle::kBar) {
    const auto now = std::chrono::steady_clock::now();
    if (now - drawn_ >= std::chrono::milliseconds(100)) draw();  // 10 Hz is enough for eyes.
  }
}

void Progress::finish() {
  if (std::exchange(finished_, true)) return;
  if (style_ == ProgressStyle::kBar) std::fprintf(stream_, "\r\033[K");  // Leave no half bar.
  std::fflush(stream_);
}

void Progress::draw() {
  drawn_ = std::chrono::steady_clock::now();
  const int room = std::clamp(width_of(stream_) - int(title_.size()) - 10, 0, 40);
  const int full = static_cast<int>(std::min<uint64_t>(done_, total_) * room / total_);
  const std::string bar = std::string(full, '#') + std::string(room - full, '.');
  std::fprintf(stream_, "\r%s [%s] %3d %%", title_.c_str(), bar.c_str(),
               static_cast<int>(std::min<uint64_t>(done_ * 100 / total_, 100)));
  std::fflush(stream_);
}

}  // namespace parley
