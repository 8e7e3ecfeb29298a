#include "parley/sim/owners/shares.h"

#include "parley/plan/terms.h"
#include "parley/sim/ledger_files.h"

namespace parley::sim {

Result<std::unique_ptr<Party>> make_party(const SimulateInput& input,
                                          const SimulateOptions& options, size_t owner,
                                          uint64_t run, const std::optional<Secret32>& secret) {
  const bool keep = run == 0 && !options.out.empty();
  const std::string& name = input.charter.owners[owner].name;
  const auto policy = input.policies.find(name);
  return Party::make({.charter = input.charter,
                      .owner = owner,
                      .rows = input.owners[owner].rows,
                      .policy = policy == input.policies.end() ? nullptr : &policy->second,
                      .seed = options.seed,
                      .run = run,
                      .ledger = keep ? ledger_file(options.out, name) : std::filesystem::path(),
                      .threads = options.threads,
                      .records = input.owners[owner].records,
                      .keep = keep ? options.out / "simulated" / name : std::filesystem::path(),
                      .secret = secret});
}

Result<Outcome::Share> share_of(const charter::Charter& charter, size_t owner, double weight,
                                uint32_t answers, const protocol::JobSpent& spent) {
  const plan::Terms terms = TRY(plan::terms_for(charter, owner));
  const double scale =
      std::visit([](const auto& mechanism) { return static_cast<double>(mechanism.scale()); },
                 terms.mechanism);
  const double rows = terms.fine_tune ? 1 : static_cast<double>(terms.rows);
  return Outcome::Share{.spent = spent,
                        .answers = answers,
                        .weight = weight,
                        .noise_scale = scale * terms.lattice.gamma() / rows};
}

}  // namespace parley::sim
