// Splits a range over threads. Only for work whose result does not depend on the split.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "parley/base/result.h"

namespace parley {

/// Calls work(part, begin, end) for `threads` contiguous parts of [0, size), one thread each.
template <class Work>
void in_parallel(int threads, size_t size, const Work& work) {
  check(threads >= 0);
  const size_t parts =
      std::clamp<size_t>(static_cast<size_t>(threads), 1, std::max<size_t>(size, 1));
  std::vector<std::thread> others;
  for (size_t part = 1; part < parts; ++part)
    others.emplace_back([&, part] { work(part, size * part / parts, size * (part + 1) / parts); });
  work(size_t{0}, size_t{0}, size / parts);
  for (std::thread& other : others) other.join();
}

/// Calls work(k) for every k below `count`, each by whoever is free: for pieces of unequal length.
template <class Work>
void each_in_parallel(int threads, size_t count, const Work& work) {
  std::atomic<size_t> next = 0;
  in_parallel(threads, std::min(count, static_cast<size_t>(std::max(threads, 1))),
              [&](size_t, size_t, size_t) {
                for (size_t k = next++; k < count; k = next++) work(k);
              });
}

}  // namespace parley
