// parley account epsilon|delta|curve|calibrate
#include "parley/report/account.h"

#include "commands.h"
#include "parley/base/files.h"
#include "parley/privacy/accounting/event_json.h"

namespace parley::cli {
namespace {

/// From a file, or from the flags for one kind of event.
Result<privacy::Events> events_of(const AccountOptions& options) {
  if (!options.events.empty())
    return privacy::events_from_json(TRY(read_file(options.events)), options.events.string(),
                                     options.dataset);
  if (options.gaussian > 0 && options.sampling_probability > 0)
    return privacy::Events{
        {privacy::SampledGaussianEvent{options.sampling_probability, options.gaussian},
         options.count}};
  if (options.gaussian > 0)
    return privacy::Events{{privacy::GaussianEvent{options.gaussian}, options.count}};
  if (options.laplace > 0)
    return privacy::Events{{privacy::LaplaceEvent{options.laplace}, options.count}};
  return Error{Code::kInvalid, "there are no events",
               "Give a file of events, or --gaussian or --laplace with a noise multiplier."};
}

}  // namespace

Result<Output> run(const AccountOptions& options, ProgressStyle) {
  const privacy::Events events = TRY(events_of(options));
  const auto adjacency = options.adjacency == "add_remove" ? privacy::Adjacency::kAddRemove
                                                           : privacy::Adjacency::kReplaceOne;
  if (options.action == AccountOptions::Action::kCalibrate) {
    const auto calibration =
        TRY(report::calibrate(events, adjacency, options.accountant, options.at_epsilon.front(),
                              options.at_delta.front()));
    return Output{report::to_text(calibration), report::to_json(calibration)};
  }
  const bool epsilon = options.action == AccountOptions::Action::kEpsilon;
  const auto account = TRY(
      report::account(events, adjacency,
                      {epsilon ? report::Account::Kind::kEpsilon : report::Account::Kind::kDelta,
                       epsilon ? options.at_delta : options.at_epsilon, options.accountant}));
  return Output{report::to_text(account), report::to_json(account)};
}

}  // namespace parley::cli
