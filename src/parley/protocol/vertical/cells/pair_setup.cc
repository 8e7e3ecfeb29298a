#include "parley/protocol/vertical/cells/pair_setup.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parley::protocol::ot {
namespace {

size_t cost_of(const PairOwner& receiver, const PairOwner& sender) {
  return receiver.cells.size() * sender.columns;
}

size_t records_of_chunk(const PairOwner& receiver, const PairPlan& plan) {
  return (plan.chunk - 128) / transfers_of(receiver.cells);
}

size_t cell_chunks(const PairOwner& receiver, const PairPlan& plan) {
  const size_t at_once = records_of_chunk(receiver, plan);
  return (plan.records + at_once - 1) / at_once;
}

/// Transfers of each chunk of a direction: whole records, then the pool.
std::vector<size_t> chunks_of(const PairOwner& receiver, const PairPlan& plan) {
  std::vector<size_t> chunks;
  const size_t at_once = records_of_chunk(receiver, plan);
  for (size_t at = 0; at < plan.records; at += at_once)
    chunks.push_back(std::min(at_once, plan.records - at) * transfers_of(receiver.cells));
  for (size_t at = 0; at < receiver.pool; at += plan.chunk - 128)
    chunks.push_back(std::min(plan.chunk - 128, receiver.pool - at));
  return chunks;
}

WipedVector<uint8_t> random_bits(size_t count, Entropy& entropy) {
  WipedVector<uint8_t> bits(count);
  for (uint8_t& bit : bits) bit = entropy.word() & 1;
  return bits;
}

WipedVector<uint8_t> joined(WipedVector<uint8_t> a, const WipedVector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The extension of one direction, and the words into its trees.
void add_transfers(const PairPlan& plan, bool back, std::vector<PairStep>& steps) {
  const PairOwner& receiver = back ? plan.k : plan.m;
  const Role receives = back ? Role::kK : Role::kM, sends = back ? Role::kM : Role::kK;
  const size_t chunks = chunks_of(receiver, plan).size(), cells = cell_chunks(receiver, plan);
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    steps.push_back({Letter::kColumns, back, chunk, receives});
    steps.push_back({Letter::kChallenge, back, chunk, sends});
    steps.push_back({Letter::kProof, back, chunk, receives});
    if (chunk < cells) steps.push_back({Letter::kWords, back, chunk, sends});
  }
}

Bytes letter_of_words(const ProductLetter& letter) {
  const auto corrections = as_bytes(letter.corrections);
  const size_t size = letter.words.size() * sizeof(uint64_t);
  Bytes bytes(corrections.size() + size);
  std::copy(corrections.begin(), corrections.end(), bytes.begin());
  std::memcpy(bytes.data() + corrections.size(), letter.words.data(), size);
  return bytes;
}

}  // namespace

bool first_receives(const PairOwner& first, const PairOwner& second) {
  return cost_of(first, second) <= cost_of(second, first);
}

std::vector<PairStep> steps_of(const PairPlan& plan) {
  std::vector<PairStep> steps{
      {Letter::kOffer, false, 0, Role::kM},  {Letter::kOffer, true, 0, Role::kK},
      {Letter::kChoice, false, 0, Role::kK}, {Letter::kChoice, true, 0, Role::kM},
      {Letter::kPromise, true, 0, Role::kK},
  };
  add_transfers(plan, false, steps);
  steps.push_back({Letter::kSeed, false, 0, Role::kM});
  add_transfers(plan, true, steps);
  steps.push_back({Letter::kFirst, false, 0, Role::kK});
  steps.push_back({Letter::kAnswer, false, 0, Role::kM});
  steps.push_back({Letter::kReply, false, 0, Role::kK});
  steps.push_back({Letter::kOpened, false, 0, Role::kM});
  return steps;
}

PairSetup::PairSetup(PairPlan plan, Role role, const privacy::ToMask<WipedVector<uint32_t>>& leaves,
                     Entropy& entropy)
    : plan_(std::move(plan)),
      role_(role),
      leaves_(leaves.value_),
      entropy_(entropy),
      steps_(steps_of(plan_)),
      share_{{}, random_bits(own().pool, entropy), {}, {}},
      receiving_(is_m() ? plan_.forward() : plan_.back(),
                 joined(choices_of(own().cells, leaves_), share_.choices), chunks_of(own(), plan_),
                 entropy),
      sending_(is_m() ? plan_.back() : plan_.forward(), chunks_of(peer(), plan_)),
      product_out_(is_m() ? plan_.back() : plan_.forward(), peer().cells, peer().columns,
                   is_m() ? kTests : own().columns),
      product_in_(is_m() ? plan_.forward() : plan_.back(), own().cells, own().columns,
                  is_m() ? peer().columns : kTests) {
  check(leaves_.size() == plan_.records * own().cells.size());
}

std::vector<Bytes> PairSetup::write() {
  std::vector<Bytes> letters;
  while (!is_done() && steps_[at_].writer == role_) letters.push_back(written(steps_[at_++]));
  if (is_done() && !done_) finish();
  return letters;
}

Result<void> PairSetup::take(ByteView letter) {
  if (is_done() || steps_[at_].writer == role_)
    return Error{Code::kIntegrity, "a letter of the other owner that is not due"};
  TRY(taken(steps_[at_], letter));
  ++at_;
  if (is_done()) finish();
  return {};
}

/// Which of this owner's records a chunk of its transfers has.
std::span<const uint32_t> PairSetup::leaves_of(uint32_t chunk) const {
  const size_t at_once = records_of_chunk(own(), plan_), cells = own().cells.size();
  const size_t first = chunk * at_once, count = std::min(at_once, plan_.records - first);
  return std::span(leaves_).subspan(first * cells, count * cells);
}

bool PairSetup::is_pool(bool of_own, uint32_t chunk) const {
  return chunk >= cell_chunks(of_own ? own() : peer(), plan_);
}

Bytes PairSetup::written(const PairStep& step) {
  switch (step.letter) {
    case Letter::kOffer:
      return receiving_.offer();
    case Letter::kChoice:
      return sending_.choice();
    case Letter::kPromise:
      return receiving_.promise();
    case Letter::kColumns:
      return receiving_.columns();
    case Letter::kChallenge:
      return sending_.challenge();
    case Letter::kProof: {
      Bytes proof = receiving_.proof();
      keep_strings(step.chunk);
      return proof;
    }
    case Letter::kWords:
      return words(step.chunk);
    case Letter::kSeed:
      for (uint8_t& byte : seed_) byte = static_cast<uint8_t>(entropy_.word());
      vectors_ = test_vectors(seed_, plan_.m.columns);
      return letter_of(std::span<const uint8_t>(seed_));
    case Letter::kFirst:
      test_begun_ = true;
      first_.emplace(plan_.forward(), compared(), entropy_);
      element_ = first_->letter();
      break;
    case Letter::kAnswer:
      return letter_of(std::span<const EqualityAnswer>(&answer_, 1));
    case Letter::kReply:
    case Letter::kOpened:
      break;
  }
  return letter_of(std::span<const Element>(&element_, 1));
}

Result<void> PairSetup::taken(const PairStep& step, ByteView letter) {
  switch (step.letter) {
    case Letter::kOffer:
      return sending_.take_offer(letter, entropy_);
    case Letter::kChoice:
      return receiving_.take_choice(letter);
    case Letter::kPromise:
      return sending_.take_promise(letter);
    case Letter::kColumns:
      return sending_.take_columns(letter, entropy_);
    case Letter::kChallenge:
      return receiving_.take_challenge(letter);
    case Letter::kProof:
      TRY(sending_.take_proof(letter));
      pairs_ = sending_.strings();
      if (is_pool(false, step.chunk))
        share_.others.insert(share_.others.end(), pairs_.begin(), pairs_.end());
      return {};
    case Letter::kWords:
      return take_words(step.chunk, letter);
    case Letter::kSeed:
      TRY(read_letter(letter, std::span(seed_), "a seed"));
      vectors_ = test_vectors(seed_, plan_.m.columns);
      return {};
    case Letter::kFirst: {
      TRY(read_letter(letter, std::span(&element_, 1), "a comparison"));
      test_begun_ = true;
      second_.emplace(plan_.forward(), compared(), entropy_);
      answer_ = TRY(second_->answer(element_));
      return {};
    }
    case Letter::kAnswer: {
      TRY(read_letter(letter, std::span(&answer_, 1), "a comparison"));
      element_ = TRY(first_->reply(answer_));
      return {};
    }
    case Letter::kReply:
    case Letter::kOpened:
      break;
  }
  Element element;
  TRY(read_letter(letter, std::span(&element, 1), "a comparison"));
  const auto opened = is_m()                      ? second_->conclude(element)
                      : first_->conclude(element) ? std::optional(element)
                                                  : std::nullopt;
  if (!opened)
    return Error{Code::kIntegrity,
                 "the test of rows failed: one of the two owners has not kept to "
                 "the protocol"};
  element_ = *opened;
  return {};
}

void PairSetup::keep_strings(uint32_t chunk) {
  Blocks strings = receiving_.strings();
  if (is_pool(true, chunk))
    share_.strings.insert(share_.strings.end(), strings.begin(), strings.end());
  else
    strings_ = std::move(strings);
}

/// k sends its rows, m its rows times the vectors of the test; of the records of this chunk of the
/// *peer's* transfers.
Bytes PairSetup::words(uint32_t chunk) {
  const size_t cells = own().cells.size(), at_once = records_of_chunk(peer(), plan_);
  const size_t first = chunk * at_once, count = std::min(at_once, plan_.records - first);
  const WipedVector<int64_t> rows =
      rows_of(own().cells, std::span(leaves_).subspan(first * cells, count * cells), own().columns);
  return letter_of_words(
      product_out_.add(pairs_, is_m() ? tested_numbers(rows, vectors_)
                                      : WipedVector<uint64_t>(rows.begin(), rows.end())));
}

Result<void> PairSetup::take_words(uint32_t chunk, ByteView letter) {
  const std::span<const uint32_t> leaves = leaves_of(chunk);
  const size_t records = leaves.size() / own().cells.size();
  const size_t corrections = 2 * records * (transfers_of(own().cells) - own().cells.size());
  const size_t columns = is_m() ? peer().columns : kTests;
  ProductLetter words{Blocks(corrections), WipedVector<uint64_t>(leaves.size() * columns)};
  const size_t split = corrections * sizeof(Block);
  if (letter.size() != split + words.words.size() * sizeof(uint64_t))
    return wrong_length("words of a shared product");
  TRY(read_letter(letter.first(split), std::span(words.corrections), "corrections"));
  TRY(read_letter(letter.subspan(split), std::span(words.words), "words"));
  return product_in_.add(strings_, leaves, words);
}

WipedVector<uint64_t> PairSetup::compared() {
  return is_m() ? compared_words(product_in_.share(), vectors_, product_out_.share())
                : compared_words(product_out_.share(), vectors_, product_in_.share());
}

void PairSetup::finish() {
  share_.share = is_m() ? product_in_.share() : product_out_.share();
  reduce(share_.share.values);
  done_.emplace(privacy::ToMask<PairShare>(std::move(share_)));
}

}  // namespace parley::protocol::ot
