#include "parley/protocol/vertical/ids/search.h"

#include <map>
#include <utility>

#include "parley/protocol/vertical/exchange.h"
#include "parley/protocol/vertical/ids/intersection.h"
#include "parley/protocol/vertical/ids/joint_tokens.h"

namespace parley::protocol {
namespace {

enum Number : uint32_t { kPromise = 1, kList, kAnswer, kHash };

Bytes as_letter(const Hash& hash) { return {hash.begin(), hash.end()}; }

Error not_due() { return out_of_order("a letter about ids"); }

class OfTwo final : public IdSearch {
 public:
  OfTwo(const gate::ColumnsGate& gate, const Secret32& secret, KeepPromise keep)
      : other_(1 - gate.owner()),
        most_(gate.terms().list_max),
        keep_(std::move(keep)),
        ids_(gate.terms().charter, static_cast<uint32_t>(gate.owner()), gate.ids(), secret) {}

  IdsSaid begin() override { return said(kPromise, ids_.commitment()); }

  Result<IdsSaid> take(size_t, uint32_t number, const Bytes& letter) override {
    if (number != heard_ + 1) return not_due();
    heard_ = number;
    switch (number) {
      case kPromise:
        TRY(ids_.take_commitment(letter));
        TRY(keep_(other_, ids_.promised()));
        return said(kList, ids_.list());
      case kList:
        return said(kAnswer, TRY(ids_.take_list(letter, most_)));
      case kAnswer:
        TRY(ids_.take_answer(letter));
        return said(kHash, as_letter(ids_.hash_of_common()));
      case kHash:
        TRY(ids_.take_hash(letter));
        return IdsSaid{};
      default:
        return not_due();
    }
  }

  Result<IdsSaid> take_common(const learn::IdDigests&) override { return not_due(); }
  bool is_done() const override { return heard_ == kHash; }
  const std::vector<uint64_t>& common() const override { return ids_.common(); }
  Hash hash_of_common() const override { return ids_.hash_of_common(); }

 private:
  IdsSaid said(uint32_t number, Bytes bytes) const {
    return {{{other_, number, std::move(bytes)}}, {}};
  }

  size_t other_, most_;
  KeepPromise keep_;
  ot::Intersection ids_;
  uint32_t heard_ = 0;
};

class OfMore final : public IdSearch {
 public:
  OfMore(const gate::ColumnsGate& gate, size_t owners, const Secret32& secret, KeepPromise keep)
      : owners_(owners),
        self_(gate.owner()),
        most_(gate.terms().list_max),
        keep_(std::move(keep)),
        ids_(gate.terms().charter, static_cast<uint32_t>(self_), owners, gate.ids(), secret) {}

  IdsSaid begin() override { return {to_all(kPromise, ids_.promise()), {}}; }

  Result<IdsSaid> take(size_t from, uint32_t number, const Bytes& letter) override {
    switch (number) {
      case kPromise:
        TRY(ids_.take_promise(from, letter));
        TRY(keep_(from, ids_.promised(from)));
        return ids_.all_promised() ? IdsSaid{to_all(kList, ids_.list()), {}} : IdsSaid{};
      case kList:
        return IdsSaid{{{from, kAnswer, TRY(ids_.take_list(from, letter, most_))}}, {}};
      case kAnswer:
        TRY(ids_.take_answer(from, letter));
        return ids_.all_answered() ? IdsSaid{{}, TRY(ids_.tokens())} : IdsSaid{};
      case kHash:
        if (!hashes_.emplace(from, letter).second) return not_due();
        TRY(compare());
        return IdsSaid{};
      default:
        return not_due();
    }
  }

  Result<IdsSaid> take_common(const learn::IdDigests& tokens) override {
    TRY(ids_.take_common(tokens));
    found_ = true;
    TRY(compare());
    return IdsSaid{to_all(kHash, as_letter(ids_.hash_of_common())), {}};
  }

  bool is_done() const override { return found_ && hashes_.size() + 1 == owners_; }
  const std::vector<uint64_t>& common() const override { return ids_.common(); }
  Hash hash_of_common() const override { return ids_.hash_of_common(); }

 private:
  std::vector<IdLetter> to_all(uint32_t number, const Bytes& bytes) const {
    std::vector<IdLetter> letters;
    for (size_t to = 0; to < owners_; ++to)
      if (to != self_) letters.push_back({to, number, bytes});
    return letters;
  }

  /// A learner that names other ids to each would pair people wrongly.
  Result<void> compare() const {
    if (!found_) return {};
    for (const auto& [from, hash] : hashes_)
      if (hash != as_letter(ids_.hash_of_common()))
        return Error{Code::kIntegrity, "owners were told different records in common",
                     "Do not go on, and ask who runs the learner."};
    return {};
  }

  size_t owners_, self_, most_;
  KeepPromise keep_;
  ot::JointTokens ids_;
  std::map<size_t, Bytes> hashes_{};
  bool found_ = false;
};

}  // namespace

std::unique_ptr<IdSearch> id_search(const gate::ColumnsGate& gate, size_t owners,
                                    const Secret32& secret, IdSearch::KeepPromise keep) {
  if (owners == 2) return std::make_unique<OfTwo>(gate, secret, std::move(keep));
  return std::make_unique<OfMore>(gate, owners, secret, std::move(keep));
}

}  // namespace parley::protocol
