// Owners of columns without a dealer whose pairs have passed, with no post between them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parley/protocol/secagg/secrets.h"
#include "parley/protocol/vertical/pair/opening.h"
#include "parley/protocol/vertical/pair/rounds.h"
#include "support/cells_charter.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::protocol::pair_test {

inline constexpr size_t kFewRecords = 40;

inline std::string steps(uint32_t rounds) {
  return "rule = \"gradients\"\nrounds = " + std::to_string(rounds) +
         "\nstep = 1.0\nmodel_bits = 6\n";
}

struct Owners {
  charter::Charter charter;
  plan::VerticalTerms terms;
  std::vector<std::unique_ptr<test::StoppedClock>> clocks{};
  std::vector<std::unique_ptr<ledger::Ledger>> ledgers{};
  std::vector<std::unique_ptr<gate::ColumnsGate>> gates{}, quiet{};  // next to no noise
  std::vector<Rounds> rounds{};
  std::map<std::pair<size_t, size_t>, Secret32> masks{};

  std::vector<std::shared_ptr<const data::Rows>> data{};

  explicit Owners(const std::string& text)
      : Owners(text, [](size_t m) { return test::cells_rows(m, kFewRecords); }) {}
  template <class RowsOf>
  Owners(const std::string& text, const RowsOf& rows_of)
      : charter(*charter::parse_charter(text, "cells.toml", {})),
        terms(*plan::vertical_terms(charter)) {
    test::SeededEntropy entropy(1, "owners");
    for (size_t m = 0; m < terms.cells.size(); ++m) {
      data.push_back(rows_of(m));
      clocks.push_back(std::make_unique<test::StoppedClock>());
      ledgers.push_back(std::make_unique<ledger::Ledger>(
          test::memory_ledger(charter.owners[m].name, *clocks[m])));
      const auto dataset =
          *ledgers[m]->declare("data", *privacy::Budget::make(privacy::Epsilon{2e4}, 1e-5, 0));
      gates.push_back(gate(m, dataset, terms.noise));
      quiet.push_back(gate(m, dataset, *privacy::Gaussian::make(16)));
      rounds.emplace_back(draw_secret(entropy), draw_secret(entropy));
    }
    for (size_t a = 0; a < gates.size(); ++a)
      for (size_t b = a + 1; b < gates.size(); ++b) pass(a, b, entropy);
  }

  std::unique_ptr<gate::ColumnsGate> gate(size_t m, ledger::DatasetId dataset,
                                          const privacy::Gaussian& noise) {
    plan::VerticalTerms own = terms;
    own.noise = noise;
    if (noise.variance() < terms.noise.variance()) own.sensitivity = 1;  // Nothing is paid here.
    auto gate = gate::ColumnsGate::open(gate::Records(data::AnyRows(data[m])), own, m, *ledgers[m],
                                        dataset);
    EXPECT_TRUE(gate) << (gate ? "" : describe(gate.error()));
    return std::make_unique<gate::ColumnsGate>(*std::move(gate));
  }

  void pass(size_t a, size_t b, Entropy& entropy) {
    const Hash session{uint8_t(1 + a), uint8_t(b)};
    const Secret32 key = masks[{a, b}] = draw_secret(entropy);
    const ot::PairPlan plan = pair_plan(terms, {a, b}, session);
    const size_t m = plan.m.place, k = plan.k.place;
    ot::PairSetup first(plan, ot::Role::kM, gates[m]->leaves(), entropy);
    ot::PairSetup second(plan, ot::Role::kK, gates[k]->leaves(), entropy);
    while (!first.is_done() || !second.is_done()) {
      for (const Bytes& letter : first.write()) ASSERT_TRUE(second.take(letter));
      for (const Bytes& letter : second.write()) ASSERT_TRUE(first.take(letter));
    }
    rounds[m].add(k, first.share(), ot::Role::kM, session, key, terms);
    rounds[k].add(m, second.share(), ot::Role::kK, session, key, terms);
  }

  /// Coefficients of an owner in a round: many at the ends of the box.
  std::vector<int64_t> n(size_t owner, uint32_t round) const {
    test::SeededEntropy entropy(round, "n" + std::to_string(owner));
    std::vector<int64_t> n;
    for (size_t j = 0; j < terms.columns[owner]; ++j) {
      const int64_t half = terms.grid->half();
      n.push_back(entropy.word() % 2   ? int64_t(entropy.word() % uint64_t(2 * half)) - half
                  : entropy.word() % 2 ? half - 1
                                       : -half);
    }
    return n;
  }

  /// An owner's rows, with the label last at its holder.
  WipedVector<int64_t> rows(size_t m) const {
    const learn::CellColumns& cells = terms.cells[m];
    return learn::rows_of(cells.cells(), cells.leaves(data[m]), cells.columns());
  }

  /// What owner k's columns and coefficients add to owner m's gradient, without noise.
  std::vector<int64_t> part(size_t m, size_t k, uint32_t round) const {
    const auto own = rows(m), all = rows(k);
    const auto x = n(k, round);
    const size_t width = terms.cells[k].columns();
    std::vector<int64_t> sum(terms.columns[m]);
    for (size_t i = 0; i < kFewRecords; ++i) {
      int64_t score = 0;
      for (size_t j = 0; j < x.size(); ++j) score += all[i * width + j] * x[j];
      if (k == terms.label_holder) score -= terms.grid->kappa * all[i * width + width - 1];
      for (size_t j = 0; j < sum.size(); ++j)
        sum[j] += own[i * terms.cells[m].columns() + j] * score;
    }
    return sum;
  }
  std::vector<int64_t> exact(size_t m, uint32_t round) const {
    std::vector<int64_t> sum(terms.columns[m]);
    for (size_t k = 0; k < terms.cells.size(); ++k) {
      const auto added = part(m, k, round);
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += added[j];
    }
    return sum;
  }

  /// Letters 3 of all others to owner m, and what it takes off.
  std::map<size_t, Rounds::Heard> heard(size_t m, uint32_t round) const {
    std::map<size_t, Rounds::Heard> heard;
    for (size_t k = 0; k < gates.size(); ++k) {
      if (k == m) continue;
      const Bytes bits = rounds[k].bits(*gates[k], m, round, n(k, round));
      auto answer = rounds[m].words(*gates[m], k, round, bits);
      EXPECT_TRUE(answer);
      const auto sum = rounds[k].sum(*gates[k], m, round, n(k, round), answer->letter);
      EXPECT_TRUE(sum);
      heard[k] = {*sum, std::move(answer->off)};
    }
    return heard;
  }
  Opened gradient(size_t m, uint32_t round) const {
    return *rounds[m].gradient(*gates[m], round, n(m, round), heard(m, round));
  }
};

}  // namespace parley::protocol::pair_test
