// V-value: what a party sends in an epoch of ADMM sharing.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "studies/reproduce/curve.h"
#include "studies/reproduce/data/standin_columns.h"
#include "studies/reproduce/figures.h"
#include "studies/reproduce/sharing/traces.h"

namespace parley::reproduce {
namespace sharing {
namespace {

using Message = std::string;

Message sent(std::span<const double> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

std::vector<double> received(const Message& message) {
  std::vector<double> numbers(message.size() / sizeof(double));
  std::memcpy(numbers.data(), message.data(), message.size());
  return numbers;
}

struct Traffic {
  double up = 0, down = 0;  // bytes of the first party, and to it
  std::vector<std::vector<double>> models{};
};

/// Algorithm 1 where all that goes from one side to the other are bytes, which are counted.
Result<Traffic> by_messages(const std::vector<data::AnyRows>& columns,
                            const std::vector<double>& labels, const learn::AdmmOptions& options) {
  std::vector<learn::PartyStep> parties;
  for (const data::AnyRows& block : columns)
    parties.push_back(
        TRY(learn::PartyStep::make(block, options.penalty, options.lam, options.rho)));
  learn::Coordinator coordinator(options, labels, columns.size());
  Traffic traffic;
  for (int round = 0; round < options.rounds_max; ++round) {
    const Message pulled = sent(coordinator.message());
    std::vector<double> sum(labels.size());
    for (size_t m = 0; m < parties.size(); ++m) {
      parties[m].step(received(pulled));
      const Message pushed = sent(parties[m].share());
      if (m == 0) traffic.up += double(pushed.size()), traffic.down += double(pulled.size());
      const std::vector<double> share = received(pushed);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += share[i];
    }
    coordinator.step(sum);
  }
  for (const auto& party : parties)
    traffic.models.emplace_back(party.model().begin(), party.model().end());
  return traffic;
}

}  // namespace
}  // namespace sharing

using namespace sharing;

Result<Figure> sharing_values(const Study& study) {
  const ColumnsApart columns = standin_census(study.seed, true);
  const auto labels = labels_of(columns.train);
  const learn::AdmmOptions options{.rounds_max = 5};
  const Traffic traffic = TRY(by_messages(blocks_of(columns), labels, options));
  const auto whole = TRY(learn::share_by_admm(blocks_of(columns), labels, options));
  double off = 0;
  for (size_t m = 0; m < whole.models.size(); ++m)
    for (size_t j = 0; j < whole.models[m].size(); ++j)
      off = std::max(off, std::fabs(whole.models[m][j] - traffic.models[m][j]));
  Figure figure = sharing_figure(
      study, "V-value", "abstract", "what a party sends in an epoch",
      "We propose an ADMM sharing framework to approach risk minimization over distributed "
      "features, where each party only needs to share a single value for each sample in the "
      "training process, thus minimizing the data leakage risk.");
  const double messages = double(labels.size()) * options.rounds_max * sizeof(double);
  Measure values =
      between("numbers that a party sends per record and epoch", {traffic.up / messages, 0}, 1, 1);
  values.paper = 1;
  figure.measures = {
      values, beside("numbers that it gets, sum and dual in one", {traffic.down / messages, 0}),
      beside("largest difference of a coefficient to training in one memory", {off, 0})};
  figure.settings = {{"counted",
                      "bytes of all messages of 5 epochs, 8 for a number; parties and "
                      "coordinator have nothing else of each other"}};
  figure.note =
      "One number by construction: the bytes are those of this study's own messages, with which "
      "the "
      "same models come out as in one memory; the product's rule \"admm\" has no wire, for it is "
      "simulated only. One number, and yet enough to read columns and labels from (V-T1): the "
      "leakage risk is not minimal.";
  figure.data = columns.source;
  return figure;
}

}  // namespace parley::reproduce
