// Events as JSON: the trees of dp_accounting's DpEvents, as a ledger stores them.
//
//   {"gaussian": {"noise_multiplier": 5}}        with "variance" and "sensitivity": discrete
//   {"laplace": {"noise_multiplier": 10}}        with "scale" and "sensitivity": discrete, exactly
//   {"discrete_laplace": {"noise_parameter": .5, "sensitivity": 1}}
//   {"discrete_gaussian": {"sigma": 4, "sensitivity": 1}}
//   {"poisson_sampled": {"sampling_probability": .01, "event": {"gaussian": ...}}}
//   {"gaussian_shares": {"variance": 400, "honest": 6, "present": 10, "dimension": 100,
//                        "sensitivity": 16}}
//   {"skellam": {"variance": 1000, "dimension": 100, "sensitivity": 16}}
//   {"zcdp": {"rho": .1}}    {"approximate_dp": {"epsilon": .1, "delta": 1e-9}}    {"no_op": {}}
//   {"self_composed": {"count": 20, "event": ...}}    {"composed": {"events": [...]}}
#pragma once

#include <string>
#include <string_view>

#include "parley/base/result.h"
#include "parley/privacy/accounting/event.h"

namespace parley::privacy {

/// `text` is an event, a list of events, an object with "events" (what `parley account` prints) or
/// a ledger (what `parley ledger show --json` prints), of which `dataset` chooses the charges; it
/// may be empty if there is one data set. Equal events are counted together.
Result<Events> events_from_json(std::string_view text, const std::string& file,
                                const std::string& dataset = "");

/// One event tree, on one line.
std::string events_to_json(const Events& events);

}  // namespace parley::privacy
