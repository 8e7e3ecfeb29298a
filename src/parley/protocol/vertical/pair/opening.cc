#include "parley/protocol/vertical/pair/opening.h"

#include <algorithm>
#include <utility>

#include "parley/protocol/vertical/moments.h"
#include "parley/protocol/vertical/pads.h"
#include "parley/protocol/vertical/pair/kept.h"

namespace parley::protocol {
namespace {

constexpr size_t kLetterBytes = size_t{1} << 24;  // about as long as the longest letter may be

learn::MomentsLayout layout_of(const plan::VerticalTerms& terms) {
  return {terms.columns, terms.label_holder};
}

ot::PairOwner owner_of(const plan::VerticalTerms& terms, size_t place) {
  return {.place = static_cast<uint32_t>(place),
          .cells = terms.cells[place].cells(),
          .columns = terms.cells[place].columns(),
          .pool = terms.grid ? terms.rounds * ot::pool_size(terms.columns[place],
                                                            static_cast<unsigned>(terms.grid->bits))
                             : 0};
}

/// Transfers of as many records as make a letter of that length.
size_t chunk_of(const ot::PairPlan& plan) {
  const size_t words =
      std::max(plan.m.cells.size() * plan.k.columns, plan.k.cells.size() * ot::kTests);
  const size_t records = std::max<size_t>(1, kLetterBytes / (sizeof(Word) * words));
  const size_t transfers =
      std::max(learn::transfers_of(plan.m.cells), learn::transfers_of(plan.k.cells));
  return std::clamp(records * transfers + 128, transfers + 128, ot::kChunk);
}

/// Where a letter's words with each other owner begin, by its place.
std::vector<size_t> starts_of(const learn::MomentsLayout& layout, size_t owner) {
  std::vector<size_t> starts;
  size_t at = layout.own(owner);
  for (size_t other = 0; other < layout.parties(); ++other) {
    starts.push_back(at);
    if (other != owner) at += layout.width(owner) * layout.width(other);
  }
  starts.push_back(at);
  return starts;
}

}  // namespace

ot::PairPlan pair_plan(const plan::VerticalTerms& terms, PairPlaces pair, const Hash& session) {
  ot::PairOwner first = owner_of(terms, std::min(pair.first, pair.second));
  ot::PairOwner second = owner_of(terms, std::max(pair.first, pair.second));
  if (!ot::first_receives(first, second)) std::swap(first, second);
  ot::PairPlan plan{.session = session,
                    .records = terms.plan.rows,
                    .m = std::move(first),
                    .k = std::move(second)};
  plan.chunk = chunk_of(plan);
  return plan;
}

ot::Role role_in(const ot::PairPlan& plan, size_t owner) {
  return plan.m.place == owner ? ot::Role::kM : ot::Role::kK;
}

Opening::~Opening() { wipe(noise_.data(), noise_.size()); }

void Opening::add(size_t other, const privacy::ToMask<ot::PairShare>& share, ot::Role role,
                  const Hash& session) {
  Share kept{session, share.value_.share};
  if (role == ot::Role::kK)
    for (uint64_t& word : kept.words.values) word = -word;
  ot::reduce(kept.words.values);
  check(shares_.emplace(other, std::move(kept)).second);
}

Hash Opening::session(size_t other) const {
  const auto found = shares_.find(other);
  return found == shares_.end() ? Hash{} : found->second.session;
}

Hash Opening::name() const {
  TupleBytes tuple;
  tuple.add("opening");
  for (const auto& [other, share] : shares_) tuple.add(uint64_t{other}).add(share.session);
  return tuple.sha256();
}

Words<Word> Opening::letter(const gate::ColumnsGate& gate) const {
  const plan::VerticalTerms& terms = gate.terms();
  check(shares_.size() + 1 == terms.cells.size());
  KeyedEntropy own(derived(noise_, TupleBytes().add("own")));
  Words<Word> words = MomentsParty(gate.columns(), layout_of(terms), gate.owner())
                          .own(terms.noise, *terms.beside, own);
  for (const auto& [other, share] : shares_) {
    KeyedEntropy pair(derived(noise_, TupleBytes().add("pair").add(uint64_t{other})));
    Words<Word> noisy(share.words.values.begin(), share.words.values.end());
    for (Word& word : noisy) word += static_cast<Word>(terms.beside->sample(pair));
    ot::reduce(noisy);
    words.insert(words.end(), noisy.begin(), noisy.end());
  }
  return words;
}

Bytes Opening::sealed(const Secret32& key, const Hash& charter) const {
  Bytes bytes(noise_.begin(), noise_.end());
  append_little_endian(bytes, shares_.size());
  for (const auto& [other, share] : shares_) {
    append_little_endian(bytes, other);
    bytes.insert(bytes.end(), share.session.begin(), share.session.end());
    append_little_endian(bytes, share.words.rows);
    append_little_endian(bytes, share.words.columns);
    for (const uint64_t word : share.words.values) append_little_endian(bytes, word);
  }
  Bytes box = seal(key, 0, charter, bytes);
  wipe(bytes.data(), bytes.size());
  return box;
}

Result<Opening> Opening::unsealed(const Secret32& key, const Hash& charter, ByteView box) {
  const Error wrong{Code::kIntegrity, "is not what this owner kept of its sessions"};
  Bytes bytes = TRY(open(key, 0, charter, box));
  Kept kept(bytes);
  const auto read = [&]() -> Result<Opening> {
    const auto noise = kept.hash();
    const auto pairs = kept.number();
    if (!noise || !pairs) return wrong;
    Opening opening(*noise);
    for (uint64_t i = 0; i < *pairs; ++i) {
      const auto other = kept.number();
      const auto session = kept.hash();
      auto words = kept.words();
      if (!other || !session || !words) return wrong;
      if (!opening.shares_.emplace(*other, Share{*session, *std::move(words)}).second) return wrong;
    }
    if (!kept.is_at_end()) return wrong;
    return opening;
  };
  auto opening = read();
  wipe(bytes.data(), bytes.size());
  return opening;
}

size_t letter_size(const plan::VerticalTerms& terms, size_t owner) {
  return starts_of(layout_of(terms), owner).back();
}

Result<Opened> opened_from(const plan::VerticalTerms& terms, std::span<const Words<Word>> letters) {
  const learn::MomentsLayout layout = layout_of(terms);
  std::vector<std::vector<size_t>> starts;
  for (size_t m = 0; m < layout.parties(); ++m) {
    starts.push_back(starts_of(layout, m));
    if (letters[m].size() != starts[m].back()) return out_of_order("moments of another length");
  }
  Opened opened;
  for (size_t m = 0; m < layout.parties(); ++m) {
    opened.insert(opened.end(), letters[m].begin(), letters[m].begin() + long(layout.own(m)));
    for (size_t k = m + 1; k < layout.parties(); ++k) {
      const Word *a = letters[m].data() + starts[m][k], *b = letters[k].data() + starts[k][m];
      const bool turned = pair_plan(terms, {m, k}, {}).m.place == k;  // C is that of k by m.
      const size_t rows = layout.width(m), columns = layout.width(k);
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
          const size_t at = turned ? j * rows + i : i * columns + j;
          if ((a[at] | b[at]) >> ot::kWordBits != 0) return out_of_order("a share beyond 56 bits");
          opened.push_back(ot::signed_number((a[at] + b[at]) & ((Word{1} << ot::kWordBits) - 1)));
        }
    }
  }
  return opened;
}

}  // namespace parley::protocol
