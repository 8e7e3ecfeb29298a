// Compiled once as is (must pass) and once per MISUSE (must fail), so that no case can rot. The
// number of a case and the error it must give stand in CMakeLists.txt.
#include "parley/base/files.h"
#include "parley/gate/clip_and_sum.h"
#include "parley/ledger/ledger.h"
#include "parley/privacy/mechanism/sampled_gaussian.h"
#include "parley/privacy/to_mask.h"
#include "parley/wire/message.h"

using namespace parley;
using namespace parley::privacy;

/// What a clever colleague might write: a mechanism that nobody reviewed.
struct NoNoise {
  using Norm = L1;
  static constexpr auto kName = "no noise";
  int64_t sample(Entropy&) const { return 0; }
  Cost cost(double) const { return {Track::kPure, 0}; }
  std::string event(double) const { return "{}"; }
};

/// Noise that is not for an answer of its owner alone over all records.
struct Partial {
  Drawn<GaussianShare> share;
  Drawn<SkellamShare> skellam_share;
  Drawn<SampledGaussian> sampled;
  Sample sample;
  Drawn<Gaussian> alone;
  Mask mask;
  ToMask<std::vector<int64_t>> columns;
};

struct Job {
  ledger::Ledger& ledger;
  ledger::DatasetId dataset;
  ledger::Query query;
  wire::Envelope envelope;
};

Result<void> misuse(Job job, const gate::Records& records, Bounded<L1> sum, Bounded<L2> square,
                    Drawn<Laplace> noise, Drawn<NoNoise> nothing, std::vector<double> numbers,
                    Partial partial) {
#if MISUSE == 1  // An epsilon of zero.
  const Epsilon epsilon{0.0};
#elif MISUSE == 2   // Delta where epsilon belongs.
  const auto budget = Budget::make(Delta{1e-5}, 1.0, 0.5);
#elif MISUSE == 3   // An error ignored.
  write_file("model.json", "{}");
#elif MISUSE == 4   // Raw records on the wire.
  wire::encode(job.envelope, records);
#elif MISUSE == 5   // An un-noised sum on the wire.
  wire::encode(job.envelope, sum);
#elif MISUSE == 6   // Numbers of unknown provenance on the wire.
  wire::encode(job.envelope, numbers);
#elif MISUSE == 7   // Raw records read outside the gate.
  const data::AnyRows& rows = records.value_;
#elif MISUSE == 8   // A getter that does not exist.
  const data::AnyRows& rows = records.value();
#elif MISUSE == 9   // A bound claimed instead of proved.
  const Bounded<L1> claimed(std::vector<int64_t>{1}, 1.0);
#elif MISUSE == 10  // A sum bounded in L2 with noise calibrated to L1.
  const auto released = job.ledger.pay(job.dataset, job.query, std::move(square), std::move(noise));
#elif MISUSE == 11  // A mechanism that nobody reviewed.
  const auto released = job.ledger.pay(job.dataset, job.query, std::move(sum), std::move(nothing));
#elif MISUSE == 12  // The same noise for two answers.
  const Drawn<Laplace> again(noise);
#elif MISUSE == 13  // A release without a payment.
  const Released released(std::vector<int64_t>{1}, Receipt{});
#elif MISUSE == 14  // Two ledgers for one budget.
  const ledger::Ledger copy(job.ledger);
#elif MISUSE == 15  // Private numbers declared public.
  const Public open(std::move(numbers));
#elif MISUSE == 16  // The noise of an answer looked at.
  const int64_t first = noise.noise_[0];
#elif MISUSE == 17  // A share of noise, charged for the sum of all, on an answer that leaves alone.
  const auto released =
      job.ledger.pay(job.dataset, job.query, std::move(square), std::move(partial.share));
#elif MISUSE == 18  // The same with Skellam noise.
  const auto released =
      job.ledger.pay(job.dataset, job.query, std::move(square), std::move(partial.skellam_share));
#elif MISUSE == 19  // The price of a sample for a sum over all records.
  const auto released =
      job.ledger.pay(job.dataset, job.query, std::move(square), std::move(partial.sampled));
#elif MISUSE == 20  // A sample looked at: who knows it gets the answer at a higher price.
  const bool in = partial.sample.chosen_[0];
#elif MISUSE == 21  // A sensitivity typed in.
  square.sensitivity_ = 0.5;
#elif MISUSE == 22  // A mask of zeros.
  const Mask none(std::vector<uint64_t>{0});
#elif MISUSE == 23  // A part of a sum that nobody masked or paid for.
  const Masked part(std::vector<int64_t>{1}, Receipt{});
#elif MISUSE == 24  // A mask looked at: with it the masked vector is open.
  const uint64_t first = partial.mask.words_[0];
#elif MISUSE == 25  // Noise of one owner alone charged for a part of a sum.
  const auto masked = job.ledger.pay_share(job.dataset, job.query, std::move(square),
                                           std::move(partial.alone), std::move(partial.mask));
#elif MISUSE == 26  // One mask for two vectors: their difference would be open.
  const Mask again(partial.mask);
#elif MISUSE == 27  // A mask on the wire.
  wire::encode(job.envelope, partial.mask);
#elif MISUSE == 28  // Columns read where they are not masked.
  const std::vector<int64_t>& plain = partial.columns.value_;
#elif MISUSE == 29  // Columns on the wire.
  wire::encode(job.envelope, partial.columns);
#elif MISUSE == 30  // Numbers that no gate has looked at put under masks.
  const ToMask<std::vector<double>> made(std::move(numbers));
#else
  [[maybe_unused]] const Epsilon epsilon{1.0};
  TRY(write_file("model.json", "{}"));
  const size_t rows = gate::ClipAndSum::rows(records);
  const Drawn<Laplace> moved(std::move(noise));
  const Public theta = Public::from_model(std::vector<double>(rows, 0.0));
  wire::encode(job.envelope, wire::Query{1, theta});
  (void)square, (void)nothing, (void)numbers, (void)partial;
  auto released = TRY(job.ledger.pay(job.dataset, job.query, std::move(sum),
                                     Drawn<Laplace>(*Laplace::make(1), 1, *(Entropy*)nullptr)));
  wire::encode(job.envelope, wire::Answer{std::move(released)});
#endif
  return {};
}
