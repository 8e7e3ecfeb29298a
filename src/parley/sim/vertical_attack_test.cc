// The attack by predictions (theory (V3)). All owners but one work together. They
// know their columns, the labels, their parts of the model, and they ask for predictions of people
// whose columns at the last owner they know: the opened sums less their own scores are that owner's
// part of the model. After one round this part is its gradient, the products of its columns with
// the labels, plus noise. Whoever knows the noise has the products exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "parley/base/files.h"
#include "parley/learn/vertical/model_part.h"
#include "parley/plan/vertical_terms.h"
#include "parley/protocol/vertical/gradients.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "support/columns_charter.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/to_mask.h"

namespace parley::sim {
namespace sharing_attack_test {

constexpr size_t kRecords = 80, kVictim = 0, kColumns = 2;
constexpr double kStep = .05;

SimulateInput one_round() {
  const auto text = test::columns_charter(1, kRecords, "gradients", 1, "0.05");
  SimulateInput input{.charter = *charter::parse_charter(text, "columns.toml", {}),
                      .owners = {},
                      .pilot = nullptr,
                      .policies = {}};
  test::SeededEntropy entropy(11, "columns");
  for (size_t m = 0; m < 3; ++m) {
    auto rows = std::make_shared<data::Rows>(kColumns);
    for (size_t i = 0; i < kRecords; ++i) {
      std::vector<double> z(kColumns);
      for (double& value : z) value = double(int64_t(entropy.word() % 2001) - 1000) / 2500;
      rows->add(z, i % 3 ? 1 : -1);
    }
    input.owners.push_back({std::shared_ptr<const data::Rows>(rows), "test", Hash{1}});
  }
  return input;
}

/// What the attack is after: the products of the victim's columns with the labels.
std::vector<double> secret_of(const SimulateInput& input, const plan::VerticalTerms& terms) {
  const learn::IntegerRows rows(input.owners[kVictim].rows, terms.plan.bits,
                                terms.plan.row_norms[kVictim]);
  std::vector<double> products(kColumns);
  for (size_t i = 0; i < kRecords; ++i)
    for (size_t k = 0; k < rows.at(i).size(); ++k)
      products[rows.at(i)[k]] += std::ldexp(double(rows.values(i)[k]), -terms.plan.bits) *
                                 std::get<0>(input.owners[1].rows)->label(i);
  return products;
}

/// The part of the model after one step from zero along a gradient, turned back.
std::vector<double> gradient_of(const std::vector<double>& part) {
  std::vector<double> gradient;
  for (const double x : part) gradient.push_back(-x * double(kRecords) / kStep);
  return gradient;
}

/// One part as its owner's file has it; of the victim nobody else reads it.
learn::PartOfModel part_in(const std::filesystem::path& out, const std::string& owner,
                           std::string& text) {
  text = *read_file(out / "simulated" / owner / "part.json");
  return *learn::part_from_json(text, "part.json");
}

/// People whose columns are known: at the victim one column is .5 and the other 0.
std::vector<double> victims_part_by_predictions(const SimulateInput& input,
                                                const std::filesystem::path& out) {
  const auto manifest = *learn::manifest_from_json(*read_file(out / "manifest.json"), "manifest");
  std::vector<learn::MaskedScores> given;
  std::vector<double> own(kColumns);
  for (size_t m = 0; m < 3; ++m) {
    std::string text;
    const auto part = part_in(out, input.charter.owners[m].name, text);
    auto rows = std::make_shared<data::Rows>(kColumns);
    for (size_t j = 0; j < kColumns; ++j) {
      std::vector<double> z(kColumns);
      if (m == kVictim) z[j] = .5;
      rows->add(z, 0);
    }
    given.push_back(learn::masked_scores(part, std::shared_ptr<const data::Rows>(rows), {"a", "b"},
                                         "attack", sha256(as_bytes(text))));
  }
  auto found = *learn::opened(manifest, given);  // The attackers' own columns are 0 here.
  for (double& value : found) value /= .5;
  return found;
}

/// Thirty runs of two numbers each: the sum of squares of 60 normal numbers lies between 18 and 150
/// but for a probability of 1e-7.
TEST(SharingAttack, ByPredictionsFindsTheNoisyGradientAndNothingBehindIt) {
  const SimulateInput input = one_round();
  const auto terms = *plan::vertical_terms(input.charter);
  const auto secret = secret_of(input, terms);
  const double deviation = terms.noise.scale() * terms.plan.unit();
  const auto out = test::fresh_folder();
  double squares = 0, rounding = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    ASSERT_TRUE(clear_ledgers(input.charter, out));
    const SimulateOptions options{.seed = seed, .out = out};
    const auto run = run_job({.input = input, .options = options});
    ASSERT_TRUE(run) << describe(run.error());
    ASSERT_TRUE(write_file(out / "manifest.json", *run->trained.manifest));
    const auto part = victims_part_by_predictions(input, out);
    const auto gradient = gradient_of(part);
    for (size_t j = 0; j < kColumns; ++j) {
      rounding = std::max(rounding, std::fabs(part[j] - run->parts[kVictim][j]));
      squares += std::pow((gradient[j] + secret[j]) / deviation, 2);
    }
  }
  EXPECT_LT(rounding, 1e-6) << "predictions do give the part away";
  EXPECT_GT(squares, 18) << "but not what is behind its noise";
  EXPECT_LT(squares, 150);
  std::filesystem::remove_all(out);
}

/// The same attack where the noise is drawn by another party than the dealer: it takes it off.
TEST(SharingAttack, WithNoiseThatAPartyKnowsFindsTheProductsExactly) {
  const SimulateInput input = one_round();
  const auto terms = *plan::vertical_terms(input.charter);
  const auto secret = secret_of(input, terms);
  test::SeededEntropy entropy(3, "attackers");
  std::vector<privacy::ToMask<learn::IntegerColumns>> columns;
  std::vector<Secret32> setups, seeds;
  for (size_t m = 0; m < 3; ++m) {
    columns.push_back(privacy::ToMaskForTest::make(learn::IntegerColumns{
        learn::IntegerRows(input.owners[m].rows, terms.plan.bits, terms.plan.row_norms[m])}));
    setups.push_back(protocol::draw_secret(entropy));
    seeds.push_back(protocol::draw_secret(entropy));
  }
  std::vector<protocol::GradientParty> parties;
  for (size_t m = 0; m < 3; ++m) parties.emplace_back(columns[m], m, 3);
  for (size_t m = 0; m < 3; ++m) {
    const auto masked = parties[m].setup(setups[m]);
    for (size_t k = 0; k < 3; ++k)
      if (k != m) parties[k].take_setup(m, masked);
  }
  protocol::GradientDealer dealer(kRecords, {kColumns, kColumns, kColumns}, setups);
  dealer.begin_round(seeds);
  std::map<size_t, protocol::Words<protocol::Word>> masked, shares;
  for (size_t k = 0; k < 3; ++k) {
    std::vector<int64_t> scores(kRecords);  // At zero: minus the labels, where they are.
    for (size_t i = 0; k == 1 && i < kRecords; ++i)
      scores[i] =
          -int64_t(std::ldexp(std::get<0>(input.owners[1].rows)->label(i), terms.plan.fraction));
    const auto sent = parties[k].begin_round(privacy::ToMaskForTest::make(std::move(scores)),
                                             protocol::round_seeds(seeds[k], k, 3));
    if (k != kVictim) masked[k] = sent.masked, shares[k] = sent.shares.at(kVictim);
  }
  std::vector<double> known;
  const auto correction = dealer.correction_for(kVictim, [&] {
    const int64_t drawn = terms.noise.sample(entropy);
    known.push_back(double(drawn) * terms.plan.unit());
    return drawn;
  });
  const auto opened = parties[kVictim].end_round(correction, masked, shares);
  learn::PartyDescent descent(terms.steps, kColumns, terms.plan.balls[kVictim]);
  std::vector<double> noisy;
  for (const int64_t units : opened) noisy.push_back(double(units) * terms.plan.unit());
  descent.take(noisy, kRecords);
  const auto gradient = gradient_of(descent.model());
  for (size_t j = 0; j < kColumns; ++j)
    EXPECT_NEAR(known[j] - gradient[j], secret[j], 1e-6 * std::fabs(secret[j]) + 1e-6);
}

}  // namespace sharing_attack_test
}  // namespace parley::sim
