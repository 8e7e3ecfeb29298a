// Terms of owners, as golden text: lattices, sensitivities, noise and its price.
#include "parley/ledger/simulated.h"
#include "parley/plan/moments.h"
#include "parley/plan/terms.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/plan_parts.h"
#include "support/plan_print.h"

namespace parley::test {
namespace plan_terms {

using test::text_of, charter::Charter;

template <class Norm>
PlanText text_of(const learn::StatisticsMap<Norm>& map) {
  PlanText out;
  out.add("norm", Norm::kName);
  out.add("size", map.size());
  out.add("sensitivity", map.sensitivity());
  // One record shows how labels are bounded and weighted, and where records are shrunk.
  std::vector<int64_t> sum(map.size());
  map.add(std::vector<double>(map.columns(), 7.5), 1e6, sum.data());
  out.add("of a long record", sha256(parley::bytes_of(std::span<const int64_t>(sum))));
  return out;
}

PlanText text_of(const plan::FineTune& tune) {
  PlanText out;
  out.add("lattice", text_of(tune.lattice()));
  out.add("sensitivity in L1", tune.sensitivity<L1>());
  out.add("sensitivity in L2", tune.sensitivity<L2>());
  return out;
}

}  // namespace plan_terms

PlanText text_of(const plan::Terms& terms) {
  PlanText out;
  out.add_detail("job", terms.charter);
  out.add("rows", terms.rows);
  out.add("answers", terms.answers);
  out.add("numbers", terms.numbers());
  out.add("box", terms.box);
  out.add("unit_records", terms.unit_records);
  out.add("may_end_early", terms.may_end_early);
  out.add_details("loss", text_of(terms.loss));
  out.add("lattice", text_of(terms.lattice));
  const auto noise = [&]<class M>(const M& mechanism) {
    return text_of_mechanism(mechanism, terms.sensitivity<typename M::Norm>());
  };
  out.add("mechanism", std::visit(noise, terms.mechanism));
  if (terms.statistics)
    std::visit([&](const auto& map) { out.add("statistics", plan_terms::text_of(map)); },
               *terms.statistics);
  if (terms.fine_tune) out.add("fine_tune", plan_terms::text_of(*terms.fine_tune));
  if (!terms.evaluation) return out;
  out.add_details("evaluation", text_of(terms.evaluation->map));
  const auto last = [&]<class M>(const M& mechanism) {
    return text_of_mechanism(mechanism, terms.evaluation_sensitivity<typename M::Norm>());
  };
  out.add("evaluation.mechanism", std::visit(last, terms.evaluation->mechanism));
  return out;
}

namespace plan_terms {

/// What would be paid for moments in place of a pilot, at a price that no charter names.
PlanText text_of_moments(const Charter& charter, size_t place) {
  PlanText out;
  const privacy::Epsilon price(0.25);
  add_result(out, "whole", plan::moments_terms(charter, place, {price, std::nullopt}),
             [](PlanText& part, const plan::Terms& terms) { part = text_of(terms); });
  add_result(out, "shrunk", plan::moments_terms(charter, place, {price, 1.5}),
             [](PlanText& part, const plan::Terms& terms) {
               const PlanText whole = text_of(terms);
               for (const PlanText::Line& line : whole.lines())
                 if (line.key == "job" || line.key.starts_with("mechanism."))
                   part.add(line.key, line.value);
             });
  return out;
}

/// The release itself, from made records and seeded noise.
Result<data::PaidMoments> paid(const Charter& charter, size_t place) {
  StoppedClock clock;
  SeededEntropy entropy(place, "moments");
  const charter::Owner& owner = charter.owners[place];
  auto ledger = TRY(ledger::Ledger::open_volatile(owner.name, clock, ledger::Simulated{}));
  const bool pure = owner.delta == 0;
  const auto budget = TRY(privacy::Budget::make(privacy::Epsilon(1.0), owner.delta, pure ? 1 : 0));
  const auto data = TRY(ledger.declare("people", budget));
  const auto terms =
      TRY(plan::moments_terms(charter, place, {privacy::Epsilon(0.25), std::nullopt}));
  const auto rows = made_rows(charter.schema, static_cast<size_t>(owner.rows));
  auto wide = std::make_shared<const data::Rows>(TRY(data::moment_rows(rows, charter.schema)));
  auto gate = TRY(gate::Gate::open(gate::Records(data::AnyRows(std::move(wide))), terms, ledger,
                                   data, entropy, 1));
  const auto answer = TRY(gate.answer(1, std::vector<double>(terms.lattice.dimension())));
  return plan::paid_moments(charter, place, terms, answer);
}

void print_paid(PlanText& out, const data::PaidMoments& moments) {
  out.add("columns", moments.columns);
  out.add("rows", moments.rows);
  out.add("epsilon", moments.epsilon);
  out.add("delta", moments.delta);
  out.add("deviation", moments.deviation);
  out.add("beside", moments.beside);
  out.add("upper", moments.upper);
}

}  // namespace plan_terms

void print_owner_terms(PlanText& out, const charter::Charter& charter) {
  std::vector<PlanText> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    PlanText& text = owners.emplace_back();
    add_rho(text, charter, charter.owners[i]);
    add_result(text, "terms", plan::terms_for(charter, i),
               [](PlanText& part, const plan::Terms& terms) { part = text_of(terms); });
  }
  out.add_owners(owner_names(charter), owners);
}

void print_paid_moments(PlanText& out, const charter::Charter& charter) {
  std::vector<PlanText> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i)
    owners.push_back(plan_terms::text_of_moments(charter, i));
  PlanText part;
  part.add_owners(owner_names(charter), owners);
  out.add_details("paid moments", part);
  if (charter.owners[0].rows <= 1000)
    add_result(out, "paid moments.released", plan_terms::paid(charter, 0), plan_terms::print_paid);
}

}  // namespace parley::test
