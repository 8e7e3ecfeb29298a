#include "parley/protocol/vertical/pair/rounds.h"

#include <algorithm>
#include <cstring>

#include "parley/protocol/vertical/gradients.h"
#include "parley/protocol/vertical/pads.h"
#include "parley/protocol/vertical/pair/kept.h"

namespace parley::protocol {
namespace {

constexpr size_t kShortWord = 7;  // bytes of a word modulo 2^56

ByteView text_of(const Hash& hash) { return {hash.data(), hash.size()}; }

/// Rows and columns exchanged, and every number's sign.
ot::Words turned(const ot::Words& words) {
  ot::Words turned(words.columns, words.rows);
  for (size_t i = 0; i < words.rows; ++i)
    for (size_t j = 0; j < words.columns; ++j) turned.at(j, i) = -words.at(i, j);
  return turned;
}

/// The first rows: products with an owner's features, without its label.
ot::Words first_rows(const ot::Words& words, size_t rows) {
  ot::Words first(rows, words.columns);
  std::copy_n(words.values.begin(), rows * words.columns, first.values.begin());
  return first;
}

Bytes packed(std::span<const uint8_t> bits) {
  Bytes bytes((bits.size() + 7) / 8);
  for (size_t t = 0; t < bits.size(); ++t)
    bytes[t / 8] = static_cast<uint8_t>(bytes[t / 8] | bits[t] << t % 8);
  return bytes;
}

/// Nothing for another length, or for bits beyond the last.
std::optional<WipedVector<uint8_t>> unpacked(ByteView bytes, size_t count) {
  WipedVector<uint8_t> bits(count);
  if (bytes.size() != (count + 7) / 8) return std::nullopt;
  for (size_t t = 0; t < count; ++t) bits[t] = bytes[t / 8] >> t % 8 & 1;
  if (!std::ranges::equal(packed(bits), bytes)) return std::nullopt;
  return bits;
}

Bytes short_words(std::span<const uint64_t> words) {
  Bytes bytes;
  for (const uint64_t word : words)
    for (size_t i = 0; i < kShortWord; ++i) bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
  return bytes;
}

std::optional<WipedVector<uint64_t>> words_of(ByteView bytes, size_t count) {
  if (bytes.size() != kShortWord * count) return std::nullopt;
  WipedVector<uint64_t> words(count);
  for (size_t at = 0; at < bytes.size(); ++at)
    words[at / kShortWord] |= uint64_t{bytes[at]} << 8 * (at % kShortWord);
  return words;
}

/// words += times * column of `share`.
void add_column(std::span<uint64_t> words, const ot::Words& share, size_t column, uint64_t times) {
  for (size_t row = 0; row < words.size(); ++row) words[row] += times * share.at(row, column);
}

/// The direction of the transfers with which `chooser` tells its coefficients to `block`.
ot::Direction direction(const Hash& session, size_t chooser, size_t block) {
  return {session, static_cast<uint32_t>(chooser), static_cast<uint32_t>(block)};
}

size_t pool_of(const plan::VerticalTerms& terms, size_t owner) {
  return ot::pool_size(terms.columns[owner], static_cast<unsigned>(terms.grid->bits));
}

template <class T>
std::span<const uint8_t> memory(const T& all) {
  return {reinterpret_cast<const uint8_t*>(all.data()), all.size() * sizeof(all[0])};
}

void append(Bytes& bytes, std::span<const uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// Fills `all` from the front of `bytes`, which are taken off.
template <class T>
void take(T& all, ByteView& bytes) {
  const size_t size = all.size() * sizeof(all[0]);
  if (size > 0) std::memcpy(all.data(), bytes.data(), size);
  bytes = bytes.subspan(size);
}

}  // namespace

Rounds::~Rounds() {
  wipe(noise_.data(), noise_.size());
  wipe(ratchet_.data(), ratchet_.size());
  for (auto& [other, pair] : pairs_) wipe(pair.masks.data(), pair.masks.size());
}

void Rounds::add(size_t other, const privacy::ToMask<ot::PairShare>& share, ot::Role role,
                 const Hash& session, const Secret32& masks, const plan::VerticalTerms& terms) {
  const ot::PairShare& kept = share.value_;
  Pair pair{session, masks, role == ot::Role::kM ? kept.share : turned(kept.share)};
  ot::reduce(pair.share.values);
  const size_t theirs = kept.others.size() / terms.rounds, own = kept.strings.size() / terms.rounds;
  check(theirs == pool_of(terms, other) && own * terms.rounds == kept.choices.size());
  for (uint32_t round = 1; round <= terms.rounds; ++round) {
    const auto part = [&](const auto& all, size_t size) {
      const auto first = all.begin() + long((round - 1) * size);
      return std::decay_t<decltype(all)>(first, first + long(size));
    };
    pair.strings[round] = {part(kept.choices, own), part(kept.strings, own),
                           part(kept.others, theirs)};
  }
  check(pairs_.emplace(other, std::move(pair)).second);
}

Hash Rounds::session(size_t other) const {
  const auto found = pairs_.find(other);
  return found == pairs_.end() ? Hash{} : found->second.session;
}

const Rounds::Strings& Rounds::strings_of(size_t other, uint32_t round) const {
  return pairs_.at(other).strings.at(round);
}

void Rounds::conclude(Opened opened) {
  opened_.push_back(std::move(opened));
  drop_before(done());
}

void Rounds::drop_before(uint32_t round) {
  for (auto& [other, pair] : pairs_)
    std::erase_if(pair.strings, [&](const auto& each) { return each.first < round; });
  std::erase_if(heard_, [&](const auto& each) { return each.first.first < round; });
  if (round <= first_) return;
  ratchet_ = key_of(round);
  first_ = round;
}

void Rounds::note_paid(uint32_t round, const Hash& commitment) {
  check(round >= 1 && round <= paid_.size() + 1);
  paid_.resize(std::max<size_t>(paid_.size(), round));
  paid_[round - 1] = commitment;
}

bool Rounds::hear(uint32_t round, size_t from, uint8_t letter, ByteView text) {
  const Hash hash = sha256(text);
  return heard_.emplace(std::pair(round, std::pair(from, letter)), hash).first->second == hash;
}

// A round's letters.

Bytes Rounds::bits(const gate::ColumnsGate& gate, size_t to, uint32_t round,
                   std::span<const int64_t> n) const {
  const auto bits = static_cast<unsigned>(gate.terms().grid->bits);
  return packed(ot::BlockChooser(n, bits, strings_of(to, round).choices).flips());
}

Result<Rounds::Answer> Rounds::words(const gate::ColumnsGate& gate, size_t to, uint32_t round,
                                     ByteView letter1) const {
  const plan::VerticalTerms& terms = gate.terms();
  const auto flips = unpacked(letter1, pool_of(terms, to));
  if (!flips) return out_of_order("bits of a round of another length");
  const Pair& pair = pairs_.at(to);
  const ot::Words p = first_rows(pair.share, gate.width());
  const ot::LeafWords hash(direction(pair.session, to, gate.owner()), gate.width());
  auto answer = TRY(ot::answer_block(hash, strings_of(to, round).others, p, terms.columns[to],
                                     static_cast<unsigned>(terms.grid->bits), *flips));
  if (to == terms.label_holder)
    add_column(answer.mask, p, terms.columns[to], static_cast<uint64_t>(terms.grid->kappa));
  return Answer{bytes_of_words(answer.words), std::move(answer.mask)};
}

Result<Bytes> Rounds::sum(const gate::ColumnsGate& gate, size_t to, uint32_t round,
                          std::span<const int64_t> n, ByteView letter2) const {
  const plan::VerticalTerms& terms = gate.terms();
  const size_t rows = terms.columns[to], count = pool_of(terms, gate.owner()) * rows;
  if (letter2.size() != sizeof(Word) * count)
    return out_of_order("words of a round of another length");
  const Pair& pair = pairs_.at(to);
  const Strings& strings = strings_of(to, round);
  const ot::Words q = first_rows(turned(pair.share), rows);
  const ot::LeafWords hash(direction(pair.session, gate.owner(), to), rows);
  const ot::BlockChooser chooser(n, static_cast<unsigned>(terms.grid->bits), strings.choices);
  auto sum = TRY(chooser.conclude(hash, strings.own, q, words_in(letter2)));
  if (gate.owner() == terms.label_holder)
    add_column(sum, q, gate.width(), static_cast<uint64_t>(terms.grid->kappa));
  add_noise(gate, round, to, sum);
  add_masks(gate.owner(), round, to, sum);
  ot::reduce(sum);
  return short_words(sum);
}

Result<Opened> Rounds::gradient(const gate::ColumnsGate& gate, uint32_t round,
                                std::span<const int64_t> n,
                                const std::map<size_t, Heard>& heard) const {
  const learn::IntegerColumns& own = gate.columns().value_;
  std::vector<uint64_t> scores(own.rows.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t k = 0; k < own.rows.at(i).size(); ++k)
      scores[i] += static_cast<uint64_t>(own.rows.values(i)[k] * n[own.rows.at(i)[k]]);
    if (!own.labels.empty())
      scores[i] -= static_cast<uint64_t>(gate.terms().grid->kappa * own.labels[i]);
  }
  std::vector<uint64_t> sum = own.rows.combination(scores);
  add_noise(gate, round, gate.owner(), sum);
  check(heard.size() == pairs_.size());
  for (const auto& [from, each] : heard) {
    const auto words = words_of(each.letter3, sum.size());
    if (!words) return out_of_order("a sum of a round of another length");
    for (size_t j = 0; j < sum.size(); ++j) sum[j] += (*words)[j] - each.off[j];
  }
  Opened opened;
  ot::reduce(sum);
  for (const uint64_t word : sum) opened.push_back(ot::signed_number(word));
  return opened;
}

void Rounds::add_noise(const gate::ColumnsGate& gate, uint32_t round, size_t block,
                       std::span<uint64_t> words) const {
  KeyedEntropy entropy(
      derived(noise_, TupleBytes().add("round").add(uint64_t{round}).add(uint64_t{block})));
  for (uint64_t& word : words) word += static_cast<uint64_t>(gate.terms().noise.sample(entropy));
}

/// Two owners that send to a third add and take off the same words.
void Rounds::add_masks(size_t owner, uint32_t round, size_t block,
                       std::span<uint64_t> words) const {
  for (const auto& [other, pair] : pairs_) {
    if (other == block) continue;
    const auto mask = stream_of(
        derived(pair.masks, TupleBytes().add("mask").add(uint64_t{round}).add(uint64_t{block})),
        words.size());
    for (size_t j = 0; j < words.size(); ++j) words[j] += owner < other ? mask[j] : -mask[j];
  }
}

void Rounds::name_of_round(TupleBytes& tuple, uint32_t round, std::span<const int64_t> n) const {
  tuple.add("round")
      .add(uint64_t{round})
      .add(text_of(derived(noise_, TupleBytes().add("name of this key"))));
  for (const auto& [other, pair] : pairs_) tuple.add(uint64_t{other}).add(text_of(pair.session));
  for (const int64_t each : n) tuple.add(static_cast<uint64_t>(each));
}

// On disk.

Secret32 Rounds::key_of(uint32_t round) const {
  check(round >= first_);
  Secret32 key = ratchet_;
  for (uint32_t at = first_; at < round; ++at) key = derived(key, TupleBytes().add("next round"));
  return key;
}

Bytes Rounds::state() const {
  Bytes bytes(noise_.begin(), noise_.end());
  append(bytes, ratchet_);
  append_little_endian(bytes, first_);
  append_little_endian(bytes, pairs_.size());
  for (const auto& [other, pair] : pairs_) {
    append_little_endian(bytes, other);
    append(bytes, pair.session);
    append(bytes, pair.masks);
    append_little_endian(bytes, pair.share.rows);
    append_little_endian(bytes, pair.share.columns);
    for (const uint64_t word : pair.share.values) append_little_endian(bytes, word);
  }
  append_little_endian(bytes, opened_.size());
  for (const Opened& opened : opened_) {
    append_little_endian(bytes, opened.size());
    append(bytes, bytes_of(opened));
  }
  append_little_endian(bytes, paid_.size());
  for (const Hash& paid : paid_) append(bytes, paid);
  append_little_endian(bytes, heard_.size());
  for (const auto& [place, hash] : heard_) {
    append_little_endian(bytes, place.first);
    append_little_endian(bytes, place.second.first);
    append_little_endian(bytes, place.second.second);
    append(bytes, hash);
  }
  return bytes;
}

std::optional<Rounds> Rounds::from_state(ByteView state) {
  Kept kept(state);
  const auto noise = kept.hash(), ratchet = kept.hash();
  const auto first = kept.number(), pairs = kept.number();
  if (!noise || !ratchet || !first || !pairs) return std::nullopt;
  Rounds rounds(*noise, *ratchet);
  rounds.first_ = static_cast<uint32_t>(*first);
  for (uint64_t i = 0; i < *pairs; ++i) {
    const auto other = kept.number();
    const auto session = kept.hash(), masks = kept.hash();
    auto share = kept.words();
    if (!other || !session || !masks || !share) return std::nullopt;
    rounds.pairs_.emplace(*other, Pair{*session, *masks, *std::move(share)});
  }
  const auto opened = kept.number();
  for (uint64_t i = 0; opened && i < *opened; ++i) {
    auto values = kept.values();
    if (!values) return std::nullopt;
    rounds.opened_.push_back(*std::move(values));
  }
  const auto paid = kept.number();
  for (uint64_t i = 0; paid && i < *paid; ++i) {
    const auto hash = kept.hash();
    if (!hash) return std::nullopt;
    rounds.paid_.push_back(*hash);
  }
  const auto heard = kept.number();
  for (uint64_t i = 0; heard && i < *heard; ++i) {
    const auto round = kept.number(), from = kept.number(), letter = kept.number();
    const auto hash = kept.hash();
    if (!round || !from || !letter || !hash) return std::nullopt;
    rounds.heard_[{static_cast<uint32_t>(*round), {*from, static_cast<uint8_t>(*letter)}}] = *hash;
  }
  if (!heard || !kept.is_at_end() || rounds.paid_.size() < rounds.opened_.size())
    return std::nullopt;
  return rounds;
}

std::vector<Bytes> Rounds::sealed_pool(size_t other, const Hash& charter) const {
  const Pair& pair = pairs_.at(other);
  std::vector<Bytes> sealed;
  Secret32 key = ratchet_;
  for (const auto& [round, strings] : pair.strings) {
    Bytes bytes;
    append(bytes, strings.choices);
    append(bytes, memory(strings.own));
    append(bytes, memory(strings.others));
    const TupleBytes what =
        TupleBytes().add("pool").add(uint64_t{other}).add(text_of(pair.session));
    sealed.push_back(seal(derived(key, what), 0, charter, bytes));
    wipe(bytes.data(), bytes.size());
    key = derived(key, TupleBytes().add("next round"));
  }
  wipe(key.data(), key.size());
  return sealed;
}

bool Rounds::unseal_pool(size_t other, std::span<const Bytes> pool, const Hash& charter,
                         const plan::VerticalTerms& terms) {
  const auto found = pairs_.find(other);
  if (found == pairs_.end() || pool.size() != terms.rounds) return false;
  Pair& pair = found->second;
  Secret32 key = ratchet_;
  for (uint32_t round = first_; round <= terms.rounds; ++round) {
    const TupleBytes what =
        TupleBytes().add("pool").add(uint64_t{other}).add(text_of(pair.session));
    auto bytes = open(derived(key, what), 0, charter, pool[round - 1]);
    key = derived(key, TupleBytes().add("next round"));
    const size_t theirs = pool_of(terms, other), at = sizeof(ot::Block);
    if (!bytes || bytes->size() < 2 * at * theirs) return false;
    const size_t own = (bytes->size() - 2 * at * theirs) / (1 + at);
    if (own * (1 + at) + 2 * at * theirs != bytes->size()) return false;
    Strings strings{WipedVector<uint8_t>(own), ot::Blocks(own), ot::BlockPairs(theirs)};
    ByteView left(*bytes);
    take(strings.choices, left);
    take(strings.own, left);
    take(strings.others, left);
    wipe(bytes->data(), bytes->size());
    pair.strings[round] = std::move(strings);
  }
  wipe(key.data(), key.size());
  return true;
}

}  // namespace parley::protocol
