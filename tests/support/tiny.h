// The five records of the golden vectors of docs/checks.md: two owners, p = 2.
#pragma once

#include <array>

#include "parley/data/rows.h"

namespace parley::test {

inline data::Rows tiny_owner(int owner) {
  data::Rows rows(2);
  const auto add = [&](double a, double b, double y) { rows.add(std::array{a, b}, y); };
  if (owner == 1) add(1, .5, .5), add(-.5, 1, -.25), add(.25, -1, 1);
  if (owner == 2) add(2, 0, 1), add(-1, -.5, -.75);
  return rows;
}

/// The same records with their classes.
inline data::Rows tiny_classes(int owner) {
  const data::Rows numbers = tiny_owner(owner);
  data::Rows rows(2);
  for (size_t i = 0; i < numbers.size(); ++i) rows.add(numbers.row(i), i == 1 ? -1 : 1);
  return rows;
}

/// The fixed "noise" w(owner, k) of the golden vectors.
inline std::array<double, 2> tiny_noise(int owner, int k) {
  return {(k % 2 == 0 ? 1 : -1) * owner / (10.0 * k), .05 * k - .1 * owner};
}

}  // namespace parley::test
