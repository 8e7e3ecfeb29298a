// The integers that the kernel makes of a CSV file, for tests that compare databases with it.
//
//   kernel_sums CHARTER CSV [THETA...]   a line for the answer and one for the evaluation, if the
//                                        charter has one: the number of rows, then the sums
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/readers/csv.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/terms.h"

namespace {

using namespace parley;

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "%s\n", describe(result.error()).c_str());
  if (!result) std::exit(1);
  return *std::move(result);
}

data::Rows read(const char* file, const charter::Charter& charter) {
  data::CsvOptions options;
  if (charter.privacy.unit != "record")
    options.select.unit = {charter.privacy.unit,
                           static_cast<uint64_t>(charter.privacy.unit_records)};
  return must(data::read_csv(file, charter.schema, options));
}

std::vector<int64_t> answer(const plan::Terms& terms, const data::Rows& rows,
                            const std::vector<double>& theta) {
  if (terms.statistics)
    return std::visit(
        [&](const auto& map) { return learn::statistics_sum(map, rows, 0, rows.size()); },
        *terms.statistics);
  check(theta.size() == terms.lattice.dimension());
  return std::visit(
      [&]<class M>(const M&) {
        return learn::lattice_sum<typename M::Norm>(terms.loss, terms.lattice, theta, rows, 0,
                                                    rows.size());
      },
      terms.mechanism);
}

void print(uint64_t rows, const std::vector<int64_t>& sums) {
  std::printf("%llu", static_cast<unsigned long long>(rows));
  for (const int64_t sum : sums) std::printf(" %lld", static_cast<long long>(sum));
  std::printf("\n");
}

}  // namespace

int main(int count, char** words) {
  check(count >= 3);
  charter::Charter charter = must(charter::read_charter(words[1]));
  if (const auto loaded = charter::load_bundle(charter, std::array{charter.folder}); !loaded) {
    std::fprintf(stderr, "%s\n", describe(loaded.error()).c_str());
    return 1;
  }
  const auto terms = must(plan::terms_for(charter, 0));
  const data::Rows rows = read(words[2], charter);
  std::vector<double> theta;
  for (int i = 3; i < count; ++i) theta.push_back(std::strtod(words[i], nullptr));
  print(rows.size(), answer(terms, rows, theta));
  if (terms.evaluation)
    print(rows.size(), learn::evaluation_sum(terms.evaluation->map, theta, rows, 0, rows.size()));
  return 0;
}
