#include "parley/protocol/sync.h"

#include <utility>
#include <variant>

namespace parley::protocol {

Hash model_hash(std::span<const double> theta) {
  TupleBytes tuple;
  for (double value : theta) tuple.add(value);
  return tuple.sha256();
}

// The learner.

SyncLearner::SyncLearner(SyncPlan plan, size_t runs)
    : plan_(std::move(plan)),
      descent_(plan_.schedule, plan_.box, plan_.l2, runs),
      streams_(plan_.owners.size() * runs, wire::Stream(plan_.charter)),
      answers_(plan_.owners.size() * runs) {}

Result<std::vector<Outgoing>> SyncLearner::step(size_t owner, size_t run, ByteView message) {
  check(owner < plan_.owners.size() && run < descent_.runs());
  auto received = TRY(streams_[slot(owner, run)].receive_from_owner(message));
  if (const auto* refusal = std::get_if<wire::Refusal>(&received.body))
    return Error{refusal->code, plan_.owners[owner].name + " refused: " + refusal->text};
  TRY(take(owner, run, std::get<wire::ReceivedAnswer>(std::move(received.body))));
  if (answered_ < answers_.size()) return std::vector<Outgoing>{};
  descent_.step(mean_gradients());
  answers_.assign(answers_.size(), std::nullopt);
  answered_ = 0;
  return ask();
}

Result<void> SyncLearner::take(size_t owner, size_t run, wire::ReceivedAnswer answer) {
  const auto wrong = [&](const std::string& what) {
    return Error{Code::kIntegrity, plan_.owners[owner].name + " sent " + what};
  };
  if (finished()) return wrong("an answer after the last round");
  if (answer.round != rounds_done() + 1 || answer.receipt.round != answer.round)
    return wrong("an answer to round " + std::to_string(answer.round) + " in round " +
                 std::to_string(rounds_done() + 1));
  if (answer.values.size() != descent_.dimension())
    return wrong(std::to_string(answer.values.size()) + " numbers instead of " +
                 std::to_string(descent_.dimension()));
  auto& place = answers_[slot(owner, run)];
  if (place) return wrong("a second answer to round " + std::to_string(answer.round));
  place = std::move(answer.values);
  ++answered_;
  return {};
}

std::vector<Outgoing> SyncLearner::ask() {
  std::vector<Outgoing> out;
  const auto round = static_cast<uint32_t>(rounds_done() + 1);
  for (size_t run = 0; run < descent_.runs(); ++run)
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
      wire::Stream& stream = streams_[slot(owner, run)];
      if (finished()) {
        out.push_back({owner, run, stream.send(wire::Finished{model_hash(model(run))})});
      } else {
        const auto theta = descent_.theta(run);
        const auto query = privacy::Public::from_model({theta.begin(), theta.end()});
        out.push_back({owner, run, stream.send(wire::Query{round, query})});
      }
    }
  return out;
}

/// Sum over owners of v_i (gamma / n_i) answer_i, always in the order of the charter.
std::vector<double> SyncLearner::mean_gradients() const {
  const size_t p = descent_.dimension();
  std::vector<double> mean(p * descent_.runs());
  for (size_t run = 0; run < descent_.runs(); ++run)
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
      const SyncPlan::Owner& who = plan_.owners[owner];
      const double factor = who.weight * (plan_.gamma / static_cast<double>(who.rows));
      const std::vector<int64_t>& answer = *answers_[slot(owner, run)];
      for (size_t j = 0; j < p; ++j) mean[run * p + j] += factor * static_cast<double>(answer[j]);
    }
  return mean;
}

// The owner.

Result<std::optional<Bytes>> SyncOwner::step(ByteView message) {
  const auto received = TRY(stream_.receive_to_owner(message));
  const auto* query = std::get_if<wire::ReceivedQuery>(&received.body);
  if (query == nullptr) return std::optional<Bytes>();
  auto released = gate_.answer(query->round, query->theta);
  if (!released)
    return std::optional(stream_.send(wire::Refusal{released.error().code, released.error().what}));
  return std::optional(stream_.send(wire::Answer{*std::move(released)}));
}

}  // namespace parley::protocol
