// V-A: every round each owner sends one noisy number per record to the one that holds the labels,
// and hears from it one number per record. There are no masks: the dealer's seed only names the
// round, so that other data cannot be put in its place. The noise follows from the round as well: a
// dealer that gives one seed for two rounds does not get one noise twice.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "parley/protocol/vertical/exchange.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol {
namespace {

/// Of a round an owner keeps its own share, then what it was told; the one with the labels keeps
/// the sum of all shares instead.
class NoisyExchange final : public Exchange {
 public:
  NoisyExchange(gate::ColumnsGate& gate, const Secret32& noise)
      : gate_(gate), noise_(noise), parties_(gate.terms().columns.size()) {}

  void begin_session() override {
    first_told_.reset();
    forget();
  }

  std::vector<Post> setup(const Secret32&) override {
    if (coordinates()) first_told_ = to_words(gate_.noisy().told_after({}));
    std::vector<Post> posts;
    for (size_t k = 0; k < parties_; ++k)
      if (k != self()) posts.push_back({k, first_told_.value_or(Words<Word>())});
    return posts;
  }

  Result<void> take_setup(size_t from, Words<Word> words) override {
    if (words.size() != (from == holder() ? rows() : 0))
      return out_of_order("a letter of another length");
    if (!finite(words)) return out_of_order("a number that is not finite");
    if (from == holder()) first_told_ = std::move(words);
    return {};
  }

  void return_to(std::span<const Opened> opened) override {
    forget();
    published_.assign(rows(), 0);
    told_.reset();
    sums_.clear();
    for (const Opened& round : opened) {
      const auto middle = round.begin() + long(rows());
      published_.assign(round.begin(), middle);
      if (coordinates())
        sums_.emplace_back(middle, round.end());
      else
        told_ = Words<Word>(middle, round.end());
    }
  }

  Result<std::vector<Post>> begin_round(const wire::DealerShare& share) override {
    if (!first_told_) return out_of_order("a round before the first message of all");
    if (!share.correction.empty()) return out_of_order("masks of another length");
    const auto name = TupleBytes().add(uint64_t{share.round}).add(ByteView(share.seed));
    KeyedEntropy entropy(derived(noise_, name));
    own_ = gate_.noisy().share(published_, told_now(), entropy);
    model_ = gate_.noisy().model();
    return std::vector<Post>{{holder(), Words<Word>(own_->begin(), own_->end())}};
  }

  Result<std::vector<Post>> take(size_t from, Words<Word> words) override {
    const bool due = coordinates() ? !shares_.contains(from) : from == holder() && !heard_;
    if (!due || words.size() != rows()) return out_of_order("a letter of another length");
    if (!coordinates()) {
      if (!finite(words)) return out_of_order("a number that is not finite");
      heard_ = std::move(words);
      return std::vector<Post>();
    }
    shares_[from] = std::move(words);
    return has_all() ? tell() : std::vector<Post>();
  }

  std::optional<Opened> result() override {
    if (!own_ || (coordinates() ? !has_all() : !heard_)) return std::nullopt;
    Opened opened = *own_;
    if (coordinates()) {
      const auto sum = sum_of_all();
      opened.insert(opened.end(), sum.begin(), sum.end());
    } else {
      opened.insert(opened.end(), heard_->begin(), heard_->end());
    }
    return opened;
  }

  std::vector<double> model() const override { return model_; }

 private:
  size_t self() const { return gate_.owner(); }
  size_t holder() const { return gate_.terms().label_holder; }
  bool coordinates() const { return self() == holder(); }
  size_t rows() const { return gate_.terms().plan.rows; }
  bool has_all() const { return shares_.size() + 1 == parties_; }

  static bool finite(const Words<Word>& words) {
    return std::all_of(words.begin(), words.end(),
                       [](const Word word) { return std::isfinite(std::bit_cast<double>(word)); });
  }
  static Words<Word> to_words(std::span<const double> numbers) {
    Words<Word> words;
    for (const double each : numbers) words.push_back(std::bit_cast<Word>(each));
    return words;
  }
  std::vector<double> told_now() {
    std::vector<double> told;
    const Words<Word> words =
        coordinates() ? to_words(gate_.noisy().told_after(sums_)) : told_.value_or(*first_told_);
    for (const Word each : words) told.push_back(std::bit_cast<double>(each));
    return told;
  }
  std::vector<int64_t> sum_of_all() const {
    Words<Word> sum(own_->begin(), own_->end());
    for (const auto& [owner, share] : shares_) add_to<Word>(sum, share);
    return {sum.begin(), sum.end()};
  }
  std::vector<Post> tell() {
    sums_.push_back(sum_of_all());
    const Words<Word> words = to_words(gate_.noisy().told_after(sums_));
    std::vector<Post> posts;
    for (size_t k = 0; k < parties_; ++k)
      if (k != self()) posts.push_back({k, words});
    return posts;
  }
  void forget() {
    own_.reset();
    heard_.reset();
    shares_.clear();
  }

  gate::ColumnsGate& gate_;
  Secret32 noise_;
  size_t parties_;
  std::optional<Words<Word>> first_told_{}, told_{};  // before round 1, and after the last
  std::vector<int64_t> published_{};                  // by this owner, in the last round
  std::vector<std::vector<int64_t>> sums_{};          // of all shares, where the labels are
  std::optional<std::vector<int64_t>> own_{};         // of this round
  std::optional<Words<Word>> heard_{};
  std::map<size_t, Words<Word>> shares_{};
  std::vector<double> model_{};
};

}  // namespace

std::unique_ptr<Exchange> exchange_noisily(gate::ColumnsGate& gate, const Secret32& noise) {
  return std::make_unique<NoisyExchange>(gate, noise);
}

}  // namespace parley::protocol
