#include "studies/reproduce/data/standin_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/math/number.h"
#include "parley/base/math/seeded_random.h"

namespace parley::reproduce {
namespace {

/// a9a's attributes: age, work, weight, education, its years, marriage, occupation, family; race,
/// sex, gain, loss, hours, country.
constexpr int kCategories[] = {5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41};
constexpr size_t kAttributes = std::size(kCategories);

std::string source_text(const char* name, size_t train, size_t test) {
  return std::string("stand-in ") + name + ", " + grouped(train) + " records and " + grouped(test) +
         " to test";
}

/// What a category says of a person, and which persons have it.
struct Category {
  double common;     // log share where nothing is known
  double status[2];  // how it goes with two hidden numbers
  double income;
};

class Census {
 public:
  explicit Census(uint64_t seed) : random_(seed, 71) {
    for (size_t a = 0; a < kAttributes; ++a)
      for (int c = 0; c < kCategories[a]; ++c)
        categories_.push_back({-0.35 * c - (a == 13 && c > 0 ? 3 : 0),
                               {.7 * random_.normal(), .7 * random_.normal()},
                               (a < 8 ? 0.8 : 0.5) * random_.normal()});
  }

  data::AnyRows people(size_t count) {
    auto rows = std::make_shared<data::SparseRows>(categories_.size());
    const std::vector<double> ones(kAttributes, 1);
    for (size_t i = 0; i < count; ++i) {
      std::vector<uint32_t> at;
      double income = -1.8;
      const double status[2] = {random_.normal(), random_.normal()};
      for (size_t a = 0, first = 0; a < kAttributes; first += size_t(kCategories[a]), ++a) {
        at.push_back(uint32_t(first + size_t(choose(first, kCategories[a], status))));
        income += categories_[at.back()].income;
      }
      const bool above = random_.uniform() < 1 / (1 + std::exp(-income));
      rows->add(at, ones, above ? 1 : -1);
    }
    return std::shared_ptr<const data::SparseRows>(rows);
  }

 private:
  int choose(size_t first, int count, const double (&status)[2]) {
    std::vector<double> shares;
    for (int c = 0; c < count; ++c) {
      const Category& category = categories_[first + size_t(c)];
      shares.push_back(std::exp(category.common + category.status[0] * status[0] +
                                category.status[1] * status[1]));
    }
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return random_.choice(shares);
  }

  SeededRandom random_;
  std::vector<Category> categories_{};
};

/// A table, row after row.
struct Table {
  size_t columns;
  std::vector<double> values;
  std::vector<double> labels;
  double& at(size_t i, size_t j) { return values[i * columns + j]; }
};

/// Pixels: sums of some hidden numbers and noise, blank below what 87 % of them are.
Table pixels(SeededRandom& random, size_t rows, size_t columns) {
  constexpr size_t kHidden = 40, kPerPixel = 6;
  struct Load {
    size_t hidden;
    double by;
  };
  std::vector<Load> loads;
  for (size_t k = 0; k < columns * kPerPixel; ++k)
    loads.push_back({size_t(random.index(int(kHidden))), random.normal()});
  std::vector<double> direction(kHidden);
  for (double& value : direction) value = random.normal() / std::sqrt(double(kHidden));
  Table table{columns, std::vector<double>(rows * columns), {}};
  std::vector<double> hidden(kHidden);
  for (size_t i = 0; i < rows; ++i) {
    for (double& value : hidden) value = random.normal();
    const double score = std::inner_product(hidden.begin(), hidden.end(), direction.begin(), 0.0);
    table.labels.push_back(score + .05 * random.normal() > 0 ? 1 : -1);
    for (size_t j = 0; j < columns; ++j) {
      double value = .5 * random.normal();
      for (size_t k = 0; k < kPerPixel; ++k)
        value += loads[j * kPerPixel + k].by * hidden[loads[j * kPerPixel + k].hidden];
      table.at(i, j) = value;
    }
  }
  return table;
}

/// The value below which this share of the numbers lies.
double quantile(std::vector<double> numbers, double share) {
  const auto at = numbers.begin() + long(share * double(numbers.size() - 1));
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

void shuffle(SeededRandom& random, std::vector<size_t>& order) {
  for (size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[size_t(random.index(int(left)))]);
}

std::vector<size_t> some_order(SeededRandom& random, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  shuffle(random, order);
  return order;
}

/// Pixels and as many columns that are pixels of other records, in one order of columns.
std::vector<std::vector<double>> with_probes(SeededRandom& random, Table& table) {
  const size_t rows = table.labels.size(), half = table.columns;
  const double blank = quantile(table.values, .87), full = quantile(table.values, .998);
  const auto grey = [&](double value) {
    return 2 * std::clamp((value - blank) / (full - blank), 0.0, 1.0) - 1;
  };
  const std::vector<size_t> places = some_order(random, 2 * half);
  std::vector<std::vector<double>> result(rows, std::vector<double>(2 * half));
  for (size_t j = 0; j < half; ++j) {
    const std::vector<size_t> others = some_order(random, rows);
    for (size_t i = 0; i < rows; ++i) {
      result[i][places[j]] = grey(table.at(i, j));
      result[i][places[half + j]] = grey(table.at(others[i], j));
    }
  }
  return result;
}

data::AnyRows rows_of(const std::vector<std::vector<double>>& table,
                      const std::vector<double>& labels, size_t begin, size_t end) {
  auto rows = std::make_shared<data::Rows>(table[0].size());
  rows->reserve(end - begin);
  for (size_t i = begin; i < end; ++i) rows->add(table[i], labels[i]);
  return std::shared_ptr<const data::Rows>(rows);
}

}  // namespace

ColumnsApart standin_census(uint64_t seed, bool few) {
  const size_t train = few ? 3'000 : 32'561, test = few ? 1'500 : 16'281;
  Census census(seed);
  ColumnsApart result{.parties = {66, 57}, .source = source_text("census", train, test)};
  result.train = census.people(train);
  result.test = census.people(test);
  return result;
}

ColumnsApart standin_digits(uint64_t seed, bool few) {
  const size_t train = few ? 500 : 6'000, test = few ? 200 : 1'000, columns = few ? 100 : 5'000;
  SeededRandom random(seed, 72);
  Table table = pixels(random, train + test, columns / 2);
  const auto values = with_probes(random, table);
  return {.train = rows_of(values, table.labels, 0, train),
          .test = rows_of(values, table.labels, train, train + test),
          .parties = {columns * 2 / 5, columns * 2 / 5, columns / 5},
          .source = source_text("digits", train, test)};
}

}  // namespace parley::reproduce
