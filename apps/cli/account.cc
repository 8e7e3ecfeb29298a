// parley account epsilon|delta|curve|calibrate
#include "parley/account.h"

#include "commands.h"
#include "parley/base/files.h"

namespace parley::cli {
namespace {

/// From a file, or from the flags for one kind of event.
Result<Events> events_of(const AccountOptions& options) {
  if (!options.events.empty())
    return events_from_json(TRY(read_file(options.events)), options.events.string(),
                            options.dataset);
  if (options.gaussian > 0 && options.sampling_probability > 0)
    return Events{
        {SampledGaussianEvent{options.sampling_probability, options.gaussian}, options.count}};
  if (options.gaussian > 0) return Events{{GaussianEvent{options.gaussian}, options.count}};
  if (options.laplace > 0) return Events{{LaplaceEvent{options.laplace}, options.count}};
  return Error{Code::kInvalid, "there are no events",
               "Give a file of events, or --gaussian or --laplace with a noise multiplier."};
}

}  // namespace

Result<Output> run(const AccountOptions& options, ProgressStyle) {
  const Events events = TRY(events_of(options));
  const auto adjacency =
      options.adjacency == "add_remove" ? Adjacency::kAddRemove : Adjacency::kReplaceOne;
  if (options.action == AccountOptions::Action::kCalibrate) {
    const Calibration calibration =
        TRY(calibrate(events, options.at_epsilon.front(), options.at_delta.front(),
                      options.accountant, adjacency));
    return Output{calibration.to_text(), calibration.to_json()};
  }
  const bool epsilon = options.action == AccountOptions::Action::kEpsilon;
  const Account found =
      TRY(account(events,
                  {.kind = epsilon ? Account::Kind::kEpsilon : Account::Kind::kDelta,
                   .at = epsilon ? options.at_delta : options.at_epsilon,
                   .accountant = options.accountant},
                  adjacency));
  return Output{found.to_text(), found.to_json()};
}

}  // namespace parley::cli
