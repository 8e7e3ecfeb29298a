#include "studies/paper/federated.h"

namespace parley::paper {
namespace {

using Models = std::vector<std::vector<double>>;

std::vector<double> average(const Models& models) {
  std::vector<double> mean(models[0].size());
  for (const auto& model : models)
    for (size_t j = 0; j < mean.size(); ++j) mean[j] += model[j] / double(models.size());
  return mean;
}

}  // namespace

double claimed_deviation(const FederatedRule& rule, size_t parties, uint64_t smallest) {
  const double records = double(parties) * double(smallest) * rule.epsilon;
  return rule.lipschitz * std::sqrt(8 * double(rule.rounds) * std::log(1 / rule.delta)) / records;
}

NotPrivate<std::vector<double>> federated(const FederatedRule& rule, size_t parties,
                                          uint64_t smallest, size_t dimension,
                                          const PartyGradient& gradient, Entropy& entropy,
                                          const AfterStep& after) {
  const double sigma = claimed_deviation(rule, parties, smallest);
  Models models(parties, std::vector<double>(dimension));
  for (int64_t t = 1; t <= rule.rounds; ++t) {
    for (size_t party = 0; party < parties; ++party) {
      const std::vector<double> slope = gradient(party, models[party]);
      for (size_t j = 0; j < dimension; ++j)
        models[party][j] -= rule.step(t) * (slope[j] + sigma * real_normal(entropy));
    }
    if (t % rule.local_steps == 0) models.assign(parties, average(models));
    after(t, models);
  }
  return {average(models)};
}

}  // namespace parley::paper
