// V-B: every round a noisy gradient, each owner's part to itself.
#include <map>

#include "parley/protocol/vertical/exchange.h"
#include "parley/protocol/vertical/gradients.h"

namespace parley::protocol {
namespace {

class GradientExchange final : public Exchange {
 public:
  explicit GradientExchange(gate::ColumnsGate& gate)
      : gate_(gate),
        parties_(gate.terms().columns.size()),
        party_(gate.columns(), gate.owner(), parties_),
        descent_(from_zero()) {}

  void begin_session() override {
    party_ = GradientParty(gate_.columns(), gate_.owner(), parties_);
    forget();
  }

  std::vector<Post> setup(const Secret32& seed) override {
    const Words<Word> masked = party_.setup(seed).words;
    std::vector<Post> posts;
    for (size_t k = 0; k < parties_; ++k)
      if (k != gate_.owner()) posts.push_back({k, masked});
    return posts;
  }

  Result<void> take_setup(size_t from, Words<Word> words) override {
    const size_t columns = gate_.terms().columns[from];
    if (words.size() != rows() * columns) return out_of_order("a letter of another length");
    party_.take_setup(from, {rows(), columns, std::move(words)});
    return {};
  }

  void return_to(std::span<const Opened> opened) override {
    descent_ = from_zero();
    const double unit = gate_.terms().plan.unit();
    for (const Opened& units : opened) {
      std::vector<double> gradient;
      for (const int64_t each : units) gradient.push_back(static_cast<double>(each) * unit);
      descent_.take(gradient, rows());
    }
    forget();
  }

  Result<std::vector<Post>> begin_round(const wire::DealerShare& share) override {
    if (!party_.is_set_up()) return out_of_order("a round before all masked columns");
    if (share.correction.size() != gate_.width()) return out_of_order("masks of another length");
    correction_ = share.correction;
    const auto sent = party_.begin_round(gate_.scores(descent_.point()),
                                         round_seeds(share.seed, gate_.owner(), parties_));
    std::vector<Post> posts;
    for (const auto& [other, product] : sent.shares) {
      posts.push_back({other, sent.masked});
      posts.back().words.insert(posts.back().words.end(), product.begin(), product.end());
    }
    return posts;
  }

  Result<std::vector<Post>> take(size_t from, Words<Word> words) override {
    if (words.size() != rows() + gate_.width() || masked_.contains(from))
      return out_of_order("a letter of another length");
    shares_[from] = {words.begin() + static_cast<long>(rows()), words.end()};
    words.resize(rows());
    masked_[from] = std::move(words);
    return std::vector<Post>();
  }

  std::optional<Opened> result() override {
    if (masked_.size() + 1 < parties_) return std::nullopt;
    return party_.end_round(correction_, masked_, shares_);
  }

  std::vector<double> model() const override { return descent_.model(); }

 private:
  size_t rows() const { return gate_.terms().plan.rows; }
  learn::PartyDescent from_zero() const {
    const plan::VerticalTerms& terms = gate_.terms();
    return {terms.steps, gate_.width(), terms.plan.balls[gate_.owner()]};
  }
  void forget() {
    masked_.clear();
    shares_.clear();
  }

  gate::ColumnsGate& gate_;
  size_t parties_;
  GradientParty party_;
  learn::PartyDescent descent_;
  Words<Word> correction_{};
  std::map<size_t, Words<Word>> masked_{}, shares_{};  // of this round
};

}  // namespace

std::unique_ptr<Exchange> exchange_gradients(gate::ColumnsGate& gate) {
  return std::make_unique<GradientExchange>(gate);
}

}  // namespace parley::protocol
