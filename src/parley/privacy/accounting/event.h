// The events of the public header, under the names that this module uses. Their JSON form is in
// event_json.h; docs/reference/account.md lists both.
#pragma once

#include "parley/account.h"

namespace parley::privacy {

using parley::Adjacency;
using parley::ApproximateEvent;
using parley::DiscreteGaussianEvent;
using parley::DiscreteLaplaceEvent;
using parley::Event;
using parley::Events;
using parley::GaussianEvent;
using parley::LaplaceEvent;
using parley::Repeated;
using parley::SampledGaussianEvent;
using parley::SharesEvent;
using parley::SkellamEvent;
using parley::ZcdpEvent;

}  // namespace parley::privacy
