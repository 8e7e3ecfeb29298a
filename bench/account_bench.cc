// One epsilon or one calibration, timed: account_bench EVENTS ADJACENCY DELTA ACCURACY REPEATS
// [TARGET_EPSILON]. bench/account.py runs it beside dp_accounting.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "parley/base/files.h"
#include "parley/privacy/accounting/calibrate.h"
#include "parley/privacy/accounting/event_json.h"
#include "parley/privacy/accounting/pld/pld.h"

namespace parley::privacy {
namespace {

template <class Work>
double best_seconds(int repeats, const Work& work) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

/// The largest size of this program; getrusage would count the one that started it, too.
double megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

int run(char** arguments, bool calibrated) {
  const Events events = *events_from_json(*read_file(arguments[1]), arguments[1]);
  const Adjacency adjacency =
      std::string(arguments[2]) == "add_remove" ? Adjacency::kAddRemove : Adjacency::kReplaceOne;
  const Delta delta = *Delta::make(std::atof(arguments[3]));
  const Accuracy accuracy{.relative = std::atof(arguments[4])};
  double value = 0;
  const double seconds = best_seconds(std::atoi(arguments[5]), [&] {
    if (calibrated)
      value = calibrate(events, *accountant_named("pld"), *Epsilon::make(std::atof(arguments[6])),
                        delta, adjacency)
                  ->factor;
    else
      value = *pld_epsilon(events, delta, adjacency, accuracy);
  });
  std::printf("{\"value\": %.17g, \"seconds\": %.9g, \"megabytes\": %.1f}\n", value, seconds,
              megabytes());
  return 0;
}

}  // namespace
}  // namespace parley::privacy

int main(int count, char** arguments) {
  if (count != 6 && count != 7) {
    std::fputs("usage: account_bench EVENTS ADJACENCY DELTA ACCURACY REPEATS [EPSILON]\n", stderr);
    return 2;
  }
  return parley::privacy::run(arguments, count == 7);
}
