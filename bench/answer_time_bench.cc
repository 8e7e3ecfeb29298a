// Whether the time an owner takes to answer tells anything about its records:
//   answer_time_bench [QUERIES [dense|sparse]]
// Pairs of data sets of the same public size; the same questions go to both in turn, and only
// Gate::answer is timed: the pass over the records, the ledger (in memory, where nothing hides the
// pass) and the noise that was drawn ahead. For every pair: the medians, the largest difference of
// the two distributions (Kolmogorov-Smirnov), the probability that one is slower than the other,
// how many standard errors that is from a half, and the epsilon that the auditor certifies from the
// times alone at confidence 1 - 1e-6. The first pair is the same data twice: what is seen there
// comes from the machine. The last pair must be seen, or the bench is blind.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "parley/audit/two_world.h"
#include "parley/gate/gate.h"
#include "parley/ledger/simulated.h"
#include "parley/sim/engine/party.h"

namespace parley {
namespace {

using data::AnyRows, data::Rows, data::SparseRows;
using Times = std::vector<double>;

constexpr size_t kRows = 1000, kColumns = 16, kSparseColumns = 128;
constexpr double kClip = 1;
constexpr size_t kBlock = 500;  // queries of one pair of owners; then others, elsewhere in memory
constexpr uint32_t kWarmUp = 50;

double uniform(Entropy& entropy) { return double(entropy.word() >> 11) * 0x1p-52 - 1; }

/// Ordinary records: about half of them are clipped.
std::shared_ptr<Rows> ordinary(double size, double odd_record = 0) {
  sim::SeededEntropy entropy(3, "records");
  auto rows = std::make_shared<Rows>(kColumns);
  for (size_t i = 0; i < kRows; ++i) {
    std::vector<double> z(kColumns);
    for (double& value : z) value = size * uniform(entropy);
    const double y = uniform(entropy) < 0 ? -1 : 1;
    if (i == kRows / 2 && odd_record != 0) z.assign(kColumns, odd_record);
    rows->add(z, y);
  }
  return rows;
}

/// Records of which 10 features are not zero; in the last `odd` records it is `odd_given`.
std::shared_ptr<SparseRows> sparse(size_t odd, size_t odd_given) {
  auto rows = std::make_shared<SparseRows>(kSparseColumns);
  for (size_t i = 0; i < kRows; ++i) {
    const size_t count = i + odd >= kRows ? odd_given : 10;
    std::vector<uint32_t> at(count);
    for (size_t j = 0; j < count; ++j) at[j] = uint32_t(j);
    rows->add(at, std::vector<double>(count, 0.3), i % 2 == 0 ? 1 : -1);
  }
  return rows;
}

struct Question {
  learn::Losses loss;
  double theta = 0.01;  // every coordinate
};

/// An owner that answers at once, as often as it is asked.
class Owner {
 public:
  Owner(const AnyRows& rows, const Question& question)
      : ledger_(*ledger::Ledger::open_volatile("owner", clock_, ledger::Simulated{})),
        entropy_(5, "noise") {
    const auto epsilon = *privacy::Epsilon::make(1e6);
    const auto dataset = *ledger_.declare("data", *privacy::Budget::make(epsilon, 0, 1e6));
    const size_t columns = data::columns_of(rows);
    const auto lattice = *learn::Lattice::make(kClip, 24, columns);
    constexpr uint32_t kAnswers = kBlock + kWarmUp;
    const double sensitivity = plan::sensitivity<L1>(lattice, 1);
    const plan::Terms terms{
        .charter = {},
        .rows = data::size_of(rows),
        .answers = kAnswers,
        .box = 1,
        .unit_records = 1,
        .loss = question.loss,
        .lattice = lattice,
        .mechanism = *privacy::Laplace::calibrate(sensitivity, kAnswers, epsilon)};
    gate_.emplace(*gate::Gate::open(gate::Records(rows), terms, ledger_, dataset, entropy_, 1));
    theta_.assign(columns, question.theta);
    for (uint32_t i = 0; i < kWarmUp; ++i) answer();
  }

  /// Microseconds.
  double answer() {
    gate_->draw_ahead();
    const auto started = std::chrono::steady_clock::now();
    const auto released = gate_->answer(++round_, theta_);
    const auto ended = std::chrono::steady_clock::now();
    check(bool(released));
    return std::chrono::duration<double, std::micro>(ended - started).count();
  }

 private:
  sim::SimulatedClock clock_;
  ledger::Ledger ledger_;
  sim::SeededEntropy entropy_;
  std::optional<gate::Gate> gate_;
  std::vector<double> theta_;
  uint32_t round_ = 0;
};

/// The same questions to both, in turn.
void ask(Owner& one, Owner& two, Times& of_one, Times& of_two, Entropy& coin) {
  for (size_t i = 0; i < kBlock; ++i) {
    const bool two_first = coin.word() & 1;
    if (two_first) of_two.push_back(two.answer());
    of_one.push_back(one.answer());
    if (!two_first) of_two.push_back(two.answer());
  }
}

/// Twice as many questions as a block has. Where in memory an owner lies makes a difference, and
/// whether it was made first; so each is made first once.
void ask_both_ways(const std::function<AnyRows(bool)>& data, const Question& question, Times& first,
                   Times& second, Entropy& coin) {
  for (const bool swap : {false, true}) {
    Owner one(data(swap), question), two(data(!swap), question);
    ask(one, two, swap ? second : first, swap ? first : second, coin);
  }
}

double median(Times times) {
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// How the two distributions differ.
struct Difference {
  double largest = 0;  // of the distribution functions
  double slower = 0;   // P[second > first], ties as halves
};

Difference difference(Times first, Times second) {
  std::sort(first.begin(), first.end()), std::sort(second.begin(), second.end());
  Difference result;
  const double n = double(first.size());
  for (const double time : second) {
    const auto [low, high] = std::equal_range(first.begin(), first.end(), time);
    result.slower += (double(low - first.begin()) + double(high - first.begin())) / (2 * n * n);
  }
  for (const double time : first) {
    const auto below = [&](const Times& times) {
      return double(std::upper_bound(times.begin(), times.end(), time) - times.begin()) / n;
    };
    result.largest = std::max(result.largest, std::fabs(below(first) - below(second)));
  }
  return result;
}

/// What the auditor makes of the times, in the better direction.
double certified(const Times& first, const Times& second) {
  size_t next[2] = {};
  const audit::Play play = [&](audit::World world, Entropy&) -> Result<double> {
    const bool is_second = world == audit::World::kSecond;
    return (is_second ? second : first)[next[is_second]++];
  };
  return audit::two_world(play, {0, 0}, {.runs = first.size(), .alpha = 1e-6})->clopper_pearson;
}

/// By how many standard errors P[second > first] is away from a half, from block to block: times
/// of one block share their place in memory, so they are not independent.
double errors_of(const Times& first, const Times& second) {
  constexpr size_t kBoth = 2 * kBlock;
  const size_t blocks = first.size() / kBoth;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < blocks; ++i) {
    const auto part = [&](const Times& times) {
      return Times(times.begin() + long(i * kBoth), times.begin() + long((i + 1) * kBoth));
    };
    const double off = difference(part(first), part(second)).slower - 0.5;
    sum += off, squares += off * off;
  }
  const double n = double(blocks), mean = sum / n;
  return mean / std::sqrt((squares / n - mean * mean) / (n - 1));
}

void report(const char* name, size_t queries, const Question& question,
            const std::function<AnyRows(bool)>& data) {
  Times first, second;
  SystemEntropy coin;
  while (first.size() < queries) ask_both_ways(data, question, first, second, coin);
  const Difference d = difference(first, second);
  std::printf("%-46s %8.2f %8.2f %8.4f %8.4f %8.1f %9.4f\n", name, median(first), median(second),
              d.largest, d.slower, errors_of(first, second), certified(first, second));
  std::fflush(stdout);
}

void report_dense(size_t queries) {
  const Question squared{learn::Squared{}}, logistic{learn::Logistic{}};
  const auto pair = [&](const char* name, const Question& question,
                        const std::shared_ptr<Rows>& first, const std::shared_ptr<Rows>& second) {
    report(name, queries, question, [=](bool is_second) -> AnyRows {
      return std::make_shared<Rows>(is_second ? *second : *first);
    });
  };
  pair("the same records", squared, ordinary(1), ordinary(1));
  pair("one record replaced by a huge one", squared, ordinary(1), ordinary(1, 1e100));
  pair("the same, logistic loss", logistic, ordinary(1), ordinary(1, 1e100));
  pair("no record clipped, every record clipped", squared, ordinary(1e-4), ordinary(1e4));
  pair("the same, logistic loss", logistic, ordinary(1e-4), ordinary(1e4));
  pair("theta of 1e-300, products below 1e-308 or not", Question{learn::Squared{}, 1e-300},
       ordinary(1e-10), ordinary(1));
}

void report_sparse(size_t queries) {
  const auto pair = [&](const char* name, size_t odd, size_t odd_given) {
    report(name, queries, Question{learn::Squared{}}, [=](bool is_second) -> AnyRows {
      return is_second ? sparse(odd, odd_given) : sparse(0, 0);
    });
  };
  pair("sparse, the same records", 0, 0);
  pair("sparse, one record of 11 features, not 10", 1, 11);
  pair("sparse, one record of 128 features, not 10", 1, 128);
  pair("sparse, all records of 20 features, not 10", kRows, 20);
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  const long queries = argc > 1 ? std::atol(argv[1]) : 100'000;
  const std::string which = argc > 2 ? argv[2] : "";
  std::printf("%ld answers of each, %zu records; microseconds\n%-46s %8s %8s %8s %8s %8s %9s\n",
              queries, parley::kRows, "", "median", "median'", "KS", "P[']", "errors", "epsilon");
  if (which != "sparse") parley::report_dense(static_cast<size_t>(std::max(10'000L, queries)));
  if (which != "dense") parley::report_sparse(static_cast<size_t>(std::max(10'000L, queries)));
}
