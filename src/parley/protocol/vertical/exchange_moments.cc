// V-C: all second moments, once. First every owner sends the moments of its own columns, with
// noise, to all, and its shares of the products with earlier owners' columns to these; then these
// open the products and send them to all. In the end everyone has the same noisy moments.
#include <algorithm>
#include <map>

#include "parley/protocol/vertical/exchange.h"
#include "parley/protocol/vertical/moments.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol {
namespace {

class MomentsExchange final : public Exchange {
 public:
  MomentsExchange(gate::ColumnsGate& gate, const Secret32& noise)
      : gate_(gate),
        layout_(gate.terms().columns, gate.terms().label_holder),
        noise_(noise),
        party_(gate.columns(), layout_, gate.owner()) {}

  void begin_session() override {
    party_ = MomentsParty(gate_.columns(), layout_, self());
    forget();
  }

  std::vector<Post> setup(const Secret32& seed) override {
    return to_all(party_.setup(seed).words);
  }

  Result<void> take_setup(size_t from, Words<Word> words) override {
    if (words.size() != gate_.terms().plan.rows * layout_.width(from))
      return out_of_order("a letter of another length");
    party_.take_setup(from, std::move(words));
    return {};
  }

  void return_to(std::span<const Opened> opened) override {
    forget();
    if (opened.empty()) return;
    const plan::VerticalTerms& terms = gate_.terms();
    const auto theta = learn::fit_moments(layout_, terms.plan, terms.fit(), opened.front());
    size_t first = 0;
    for (size_t m = 0; m < self(); ++m) first += layout_.columns(m);
    model_.assign(theta.begin() + long(first), theta.begin() + long(first + gate_.width()));
  }

  Result<std::vector<Post>> begin_round(const wire::DealerShare& share) override {
    if (!party_.is_set_up()) return out_of_order("a round before all masked columns");
    if (share.correction.size() != layout_.with_later(self()))
      return out_of_order("masks of another length");
    correction_ = share.correction;
    KeyedEntropy entropy(derived(noise_, TupleBytes().add(ByteView(share.seed))));
    const plan::VerticalTerms& terms = gate_.terms();
    own_[self()] = party_.own(terms.noise, *terms.beside, entropy);
    std::vector<Post> posts = to_all(own_[self()]);
    const RoundSeeds seeds = round_seeds(share.seed, self(), layout_.parties());
    for (size_t m = 0; m < self(); ++m) {
      const Words<Word> product = party_.share_for(m, seeds);
      posts[m].words.insert(posts[m].words.end(), product.begin(), product.end());
    }
    return posts;
  }

  /// First its own moments, with its share where it is a later owner; then what it has opened.
  Result<std::vector<Post>> take(size_t from, Words<Word> words) override {
    std::vector<Post> reply;
    const size_t own = layout_.own(from);
    const bool first = !own_.contains(from);
    const size_t beside = first ? product_with(from) : layout_.with_later(from);
    if (words.size() != (first ? own : 0) + beside ||
        (!first && (products_.contains(from) || beside == 0)))
      return out_of_order("a letter of another length");
    if (!first) {
      products_[from] = std::move(words);
      return reply;
    }
    shares_[from] = {words.begin() + long(own), words.end()};
    words.resize(own);
    own_[from] = std::move(words);
    if (!has_all_shares()) return reply;
    products_[self()] = open_products();
    return to_all(products_[self()]);
  }

  std::optional<Opened> result() override {
    Opened all;
    for (size_t m = 0; m < layout_.parties(); ++m) {
      if (!own_.contains(m) || (layout_.with_later(m) > 0 && !products_.contains(m)))
        return std::nullopt;
      all.insert(all.end(), own_[m].begin(), own_[m].end());
      all.insert(all.end(), products_[m].begin(), products_[m].end());
    }
    return all;
  }

  std::vector<double> model() const override { return model_; }

 private:
  size_t self() const { return gate_.owner(); }
  size_t product_with(size_t other) const {
    return other > self() ? layout_.width(self()) * layout_.width(other) : 0;
  }
  std::vector<Post> to_all(const Words<Word>& words) const {
    std::vector<Post> posts;
    for (size_t k = 0; k < layout_.parties(); ++k)
      if (k != self()) posts.push_back({k, words});
    return posts;
  }
  /// Of all later owners, there being some.
  bool has_all_shares() const {
    if (self() + 1 == layout_.parties() || products_.contains(self())) return false;
    for (size_t k = self() + 1; k < layout_.parties(); ++k)
      if (!own_.contains(k)) return false;
    return true;
  }
  Words<Word> open_products() {
    Words<Word> all;
    std::span<const Word> correction(correction_);
    for (size_t k = self() + 1; k < layout_.parties(); ++k) {
      const auto opened = party_.opened_with(k, shares_.at(k), correction.first(product_with(k)));
      correction = correction.subspan(product_with(k));
      all.insert(all.end(), opened.begin(), opened.end());
    }
    return all;
  }
  void forget() {
    own_.clear();
    shares_.clear();
    products_.clear();
  }

  gate::ColumnsGate& gate_;
  learn::MomentsLayout layout_;
  Secret32 noise_;
  MomentsParty party_;
  Words<Word> correction_{};
  std::map<size_t, Words<Word>> own_{}, shares_{}, products_{};  // as they have come
  std::vector<double> model_{};
};

}  // namespace

std::unique_ptr<Exchange> exchange_moments(gate::ColumnsGate& gate, const Secret32& noise) {
  return std::make_unique<MomentsExchange>(gate, noise);
}

}  // namespace parley::protocol
