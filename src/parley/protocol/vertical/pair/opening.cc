#include "parley/protocol/vertical/pair/opening.h"

#include <algorithm>
#include <utility>

#include "parley/protocol/vertical/moments.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol {
namespace {

constexpr size_t kLetterBytes = size_t{1} << 24;  // about as long as the longest letter may be
constexpr size_t kHeadBytes = sizeof(Hash) + sizeof(Secret32) + 16;

learn::MomentsLayout layout_of(const plan::VerticalTerms& terms) {
  return {terms.columns, terms.label_holder};
}

ot::PairOwner owner_of(const plan::VerticalTerms& terms, size_t place) {
  return {.place = static_cast<uint32_t>(place),
          .cells = terms.cells[place].cells(),
          .columns = terms.cells[place].columns(),
          .pool = 0};
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

}  // namespace

ot::PairPlan pair_plan(const plan::VerticalTerms& terms, const Hash& session) {
  check(terms.cells.size() == 2);
  ot::PairOwner first = owner_of(terms, 0), second = owner_of(terms, 1);
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

PairOpening::PairOpening(const privacy::ToMask<ot::PairShare>& share, ot::Role role,
                         const Hash& session, const Secret32& noise)
    : share_(share.value_.share), session_(session), noise_(noise) {
  if (role == ot::Role::kK)
    for (uint64_t& word : share_.values) word = -word;
  ot::reduce(share_.values);
}

PairOpening::~PairOpening() { wipe(noise_.data(), noise_.size()); }

Words<Word> PairOpening::letter(const gate::ColumnsGate& gate) const {
  const plan::VerticalTerms& terms = gate.terms();
  KeyedEntropy own(derived(noise_, TupleBytes().add("own")));
  Words<Word> words = MomentsParty(gate.columns(), layout_of(terms), gate.owner())
                          .own(terms.noise, *terms.beside, own);
  KeyedEntropy pair(derived(noise_, TupleBytes().add("pair")));
  Words<Word> share(share_.values.begin(), share_.values.end());
  for (Word& word : share) word += static_cast<Word>(terms.beside->sample(pair));
  ot::reduce(share);
  words.insert(words.end(), share.begin(), share.end());
  return words;
}

Bytes PairOpening::sealed(const Secret32& key, const Hash& charter) const {
  Bytes bytes;
  bytes.insert(bytes.end(), session_.begin(), session_.end());
  bytes.insert(bytes.end(), noise_.begin(), noise_.end());
  append_little_endian(bytes, share_.rows);
  append_little_endian(bytes, share_.columns);
  for (const uint64_t word : share_.values) append_little_endian(bytes, word);
  Bytes box = seal(key, 0, charter, bytes);
  wipe(bytes.data(), bytes.size());
  return box;
}

Result<PairOpening> PairOpening::unsealed(const Secret32& key, const Hash& charter, ByteView box) {
  Bytes bytes = TRY(open(key, 0, charter, box));
  const Error other{Code::kIntegrity, "is not what this owner kept of a session"};
  if (bytes.size() < kHeadBytes || (bytes.size() - kHeadBytes) % sizeof(Word) != 0) return other;
  PairOpening opening;
  const uint8_t* at = bytes.data();
  std::copy_n(at, sizeof(Hash), opening.session_.begin());
  std::copy_n(at + sizeof(Hash), sizeof(Secret32), opening.noise_.begin());
  at += sizeof(Hash) + sizeof(Secret32);
  opening.share_.rows = read_little_endian(at);
  opening.share_.columns = read_little_endian(at + 8);
  const size_t words = (bytes.size() - kHeadBytes) / sizeof(Word);
  for (size_t i = 0; i < words; ++i)
    opening.share_.values.push_back(read_little_endian(at + 16 + 8 * i));
  wipe(bytes.data(), bytes.size());
  if (opening.share_.rows * opening.share_.columns != words) return other;
  return opening;
}

size_t letter_size(const plan::VerticalTerms& terms, size_t owner) {
  return layout_of(terms).own(owner) + terms.cells[0].columns() * terms.cells[1].columns();
}

Result<Opened> opened_from(const plan::VerticalTerms& terms, std::span<const Word> first,
                           std::span<const Word> second) {
  if (first.size() != letter_size(terms, 0) || second.size() != letter_size(terms, 1))
    return out_of_order("moments of another length");
  const learn::MomentsLayout layout = layout_of(terms);
  const auto own = first.first(layout.own(0)), other = second.first(layout.own(1));
  const auto a = first.subspan(own.size()), b = second.subspan(other.size());
  const bool turned = pair_plan(terms, {}).m.place == 1;  // C is second by first.
  const size_t rows = layout.width(0), columns = layout.width(1);
  Opened opened(own.begin(), own.end());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      const size_t at = turned ? j * rows + i : i * columns + j;
      if ((a[at] | b[at]) >> ot::kWordBits != 0) return out_of_order("a share beyond 56 bits");
      opened.push_back(ot::signed_number((a[at] + b[at]) & ((Word{1} << ot::kWordBits) - 1)));
    }
  opened.insert(opened.end(), other.begin(), other.end());
  return opened;
}

}  // namespace parley::protocol
