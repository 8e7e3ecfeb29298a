#include "parley/data/sql/log1p.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/portable.h"

namespace parley::data::sql {
namespace {

/// One step of frexp: where `condition` holds of mantissa m, it is multiplied by 2^-by.
struct Scale {
  std::string above;  // " >= " or " < "
  double limit;
  int by;
};

std::vector<Scale> scales() {
  std::vector<Scale> list;
  for (const int by : {256, 128, 64, 32, 16, 8, 4, 2, 1, 1})
    list.push_back({" >= ", std::ldexp(1.0, by - 1), by});
  for (const int by : {32, 16, 8, 4, 2, 1}) list.push_back({" < ", std::ldexp(1.0, -by), -by});
  list.push_back({" < ", .70710678118654752, -1});
  return list;
}

}  // namespace

void write_log1p(Writer& w, const std::vector<std::string>& keep,
                 const std::vector<std::string>& columns) {
  if (columns.empty()) return;
  using Made = std::vector<Writer::Column>;
  std::vector<std::string> all = keep;
  const auto step = [&](const auto& add) {
    Made made;
    for (const std::string& x : columns) add(x, made);
    std::vector<std::string> stay = all;
    for (const auto& [column, expression] : made) {
      std::erase(stay, column);
      if (std::find(all.begin(), all.end(), column) == all.end()) all.push_back(column);
    }
    w.step(stay, made);
  };
  step([&](const std::string& x, Made& made) {
    made.emplace_back(x + "_sum", "(" + w.real(1) + " + " + x + ")");
    made.emplace_back(x + "_m", "(" + w.real(1) + " + " + x + ")");
    made.emplace_back(x + "_k", w.real(0));
  });
  for (const Scale& scale : scales())
    step([&](const std::string& x, Made& made) {
      const std::string m = x + "_m", k = x + "_k", when = m + scale.above + w.real(scale.limit);
      made.emplace_back(m, choose(when, m + " * " + w.real(std::ldexp(1.0, -scale.by)), m));
      made.emplace_back(k, choose(when, "(" + k + " + " + w.real(scale.by) + ")", k));
    });
  step([&](const std::string& x, Made& made) {
    const std::string m = x + "_m";
    made.emplace_back(x + "_s",
                      "((" + m + " - " + w.real(1) + ") / (" + m + " + " + w.real(1) + "))");
    made.emplace_back(m, "(" + m + " - " + w.real(1) + ")");  // f
  });
  step([&](const std::string& x, Made& made) {
    made.emplace_back(x + "_q", "(" + x + "_s * " + x + "_s)");
  });
  step([&](const std::string& x, Made& made) {
    const std::string square = x + "_q", f = x + "_m", k = x + "_k", sum = x + "_sum";
    const std::string rest =
        "((" + w.real(2) + " * " + square + ") * " + polynomial(w, kLogSeries, square) + ")";
    const std::string log = "(" + k + " * " + w.real(kLogTwoHigh) + " + (" + f + " - (" + x +
                            "_s * (" + f + " - " + rest + ") - " + k + " * " + w.real(kLogTwoLow) +
                            ")))";
    made.emplace_back(x, choose(sum + " = " + w.real(1), x,
                                log + " * (" + x + " / (" + sum + " - " + w.real(1) + "))"));
  });
}

}  // namespace parley::data::sql
