// parley doctor [POLICY]
#include "parley/report/network/doctor.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/net/doctor/patient.h"

namespace parley::cli {
namespace {

struct DoctorOptions {
  net::PatientOptions patient{.policy = "/etc/parley/policy.toml"};
  std::filesystem::path charter;  // empty: none
  std::vector<std::string> set;
};

Result<Output> run(const DoctorOptions& options, ProgressStyle) {
  std::optional<charter::Charter> charter;
  if (!options.charter.empty())
    charter = TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  const auto patient = TRY(net::patient_of(options.patient, std::move(charter)));
  SystemClock clock;
  const net::Diagnosis diagnosis = net::diagnose(patient, clock);
  report::Diagnosis result;
  for (const auto& [check, said, wrong] : diagnosis.findings)
    result.findings.push_back({check, said, wrong});
  return Output{report::to_text(result), report::to_json(result), "", result.exit()};
}

}  // namespace

void add_doctor(Commands root) {
  const auto [app, options] =
      root.add<DoctorOptions>("doctor", "Find out what is wrong between you and the learner", run);
  net::PatientOptions& patient = options.patient;
  auto* policy = app.add_option("policy", patient.policy, "An owner's policy");
  policy->type_name("FILE")->capture_default_str();
  auto* charter = app.add_option("--charter", options.charter, "Charter that names the learner");
  charter->type_name("FILE");
  app.add_option("--dial", patient.dial, "Address to dial, in place of the policy's")
      ->type_name("HOST:PORT");
  app.add_option("--learner", patient.learner, "With protocol.copies or graph: the party to dial")
      ->type_name("NAME")
      ->needs(charter);
  auto* identity =
      app.add_option("--identity", patient.identity,
                     "Check a learner's credentials instead of a policy; dials with --dial only");
  identity->type_name("DIR")->excludes(policy)->needs(charter);
  auto* name = app.add_option("--name", patient.name, "The learner's name");
  name->needs(identity);
  identity->needs(name);
  set_option(app, options.set);
}

}  // namespace parley::cli
