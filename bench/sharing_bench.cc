// Times ADMM sharing of rows from a file, for bench/sharing.py:
//   sharing_bench FILE SPARSE LAM RHO ROUNDS THREADS REPEATS COLUMNS...
//
// FILE is that of rows_file.h; with SPARSE = 1 the rows are held compressed. COLUMNS are the
// numbers of columns of the parties, one after the other. Prints one JSON object: the best seconds
// of factoring and of all rounds, and the objective after the last.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parley/learn/vertical/admm/admm.h"
#include "parley/learn/vertical/admm/columns.h"
#include "rows_file.h"

namespace {

using namespace parley;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

data::AnyRows compressed(const data::Rows& rows) {
  auto sparse = std::make_shared<data::SparseRows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<uint32_t> at;
    std::vector<double> values;
    const auto row = rows.row(i);
    for (size_t j = 0; j < row.size(); ++j)
      if (row[j] != 0) at.push_back(uint32_t(j)), values.push_back(row[j]);
    sparse->add(at, values, rows.label(i));
  }
  return std::shared_ptr<const data::SparseRows>(sparse);
}

}  // namespace

int main(int argc, char** argv) {
  check(argc >= 9);
  const auto rows = std::make_shared<const data::Rows>(rows_of_file(argv[1]));
  const data::AnyRows all = std::string(argv[2]) == "1" ? compressed(*rows) : data::AnyRows(rows);
  learn::AdmmOptions options{.lam = std::atof(argv[3]),
                             .rho = std::atof(argv[4]),
                             .rounds_max = 1,
                             .threads = std::atoi(argv[6])};
  std::vector<data::AnyRows> parts;
  for (size_t k = 8, from = 0; k < size_t(argc); ++k) {
    const size_t columns = size_t(std::atoi(argv[k]));
    parts.push_back(learn::columns_between(all, from, from + columns));
    from += columns;
  }
  const std::span labels(rows->labels(), rows->size());
  double factored = 1e9, whole = 1e9, objective = 0;
  for (int i = 0; i < std::atoi(argv[7]); ++i) {
    const auto start = Clock::now();
    double first = 0;
    options.rounds_max = std::atoi(argv[5]);
    const auto result = learn::share_by_admm(
        parts, labels, options, {.after_round = [&](const learn::AdmmHooks::View& view) {
          if (view.round.round == 1) first = since(start);
        }});
    check(bool(result));
    factored = std::min(factored, first), whole = std::min(whole, since(start));
    objective = result->rounds.back().objective;
  }
  std::printf("{\"first\": %.6f, \"seconds\": %.6f, \"objective\": %.9f}\n", factored, whole,
              objective);
}
