#include "parley/sim/monte_carlo/columns.h"

#include <algorithm>

namespace parley::sim::monte_carlo {

Notes::Notes(const Job& job, uint64_t rounds, size_t columns)
    : job_(job), rounds_(rounds), finished_(columns) {}

bool Notes::wanted(uint64_t round) const {
  return round == rounds_ || std::binary_search(job_.rounds.begin(), job_.rounds.end(), round);
}

void Notes::take(uint64_t round, std::vector<double> models) {
  const std::vector<double> relative = job_.population.relative(models);
  const size_t p = job_.population.columns();
  for (size_t c = 0; c < finished_.size(); ++c) {
    finished_[c].noted.push_back(relative[c]);
    if (round == rounds_ && job_.keep_models)
      finished_[c].model.assign(&models[c * p], &models[c * p] + p);
  }
}

NoiseAhead::NoiseAhead(const Job& job, const Draws& draws, std::span<const Column> columns,
                       size_t per_round)
    : job_(job), draws_(draws), columns_(columns), per_round_(per_round) {
  constexpr size_t kNumbers = 1024;  // of a column: enough that asking for them costs nothing
  ahead_ = std::max<size_t>(1, kNumbers / per_round);
  numbers_.resize(ahead_ * per_round * columns.size());
}

std::span<const double> NoiseAhead::of(size_t column, uint64_t round) {
  if (round >= end_) draw(round);
  const uint64_t place = (column * ahead_ + (round - first_)) * per_round_;
  return {&numbers_[place], per_round_};
}

void NoiseAhead::draw(uint64_t round) {
  first_ = round, end_ = round + ahead_;
  for (size_t c = 0; c < columns_.size(); ++c)
    draws_.noise(job_.cells[columns_[c].cell].stream, columns_[c].run, round * per_round_,
                 std::span(numbers_).subspan(c * ahead_ * per_round_, ahead_ * per_round_));
}

}  // namespace parley::sim::monte_carlo
