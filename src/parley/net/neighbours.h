// An owner in a job without a central learner (protocol/peers/gossip.h): it accepts connections
// from some of its neighbours, dials the others, and computes the model by itself.
//
// Of two neighbours the one that is later in the charter dials and shows its owner's certificate,
// as to a learner. The other one is a learner too and shows a certificate of role learner. So its
// server checks connections as a learner's does, and an owner that is last among its neighbours
// opens no port.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "parley/net/owner.h"
#include "parley/net/takeover.h"

namespace parley::net {

struct NeighbourOptions {
  std::string listen{};         // host:port; empty: as policy and charter say
  std::filesystem::path out{};  // journal, transcript and model
  std::filesystem::path receipts{};
  Patience patience{};
  std::chrono::milliseconds takeover = kTakeover;  // a stream heard of within it is not replaced
  OnAttend on{};
};

/// Until the model is there and every neighbour has it, or cannot be waited for any longer; writes
/// model and transcript, and returns the model's hash. An owner's refusal reaches all, and is the
/// error. Goes on with the journal of an earlier process, if there is one.
Result<std::optional<Hash>> learn_with_neighbours(const OwnerContext& context, const Ready& ready,
                                                  const LiveCredentials& credentials,
                                                  const NeighbourOptions& options, Clock& clock,
                                                  const std::atomic<bool>& stop, const Log& log);

}  // namespace parley::net
