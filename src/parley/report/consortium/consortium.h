// The page of `parley learner web`: how a job stands, and what came of it. Everything on it is
// known to every party of the job.
#pragma once

#include <optional>
#include <string>

#include "parley/learn/model.h"
#include "parley/protocol/verify/verify.h"

namespace parley::report {

struct ConsortiumJob {
  std::string charter{}, purpose{}, hash{};
  std::string token{};    // of the session's forms
  std::string said{};     // by the learner's status socket (parley.learner.status/1); empty: silent
  std::string silence{};  // why
  std::optional<learn::Model> model{};
  std::string manifest{};  // the file's name, where the model lies with the owners in parts
  std::optional<protocol::VerifyResult> verified{};
  std::string unverified{};  // why nothing could be verified
};

std::string consortium_page(const ConsortiumJob& job);
/// Of the page what changes by itself.
std::string consortium_live(const ConsortiumJob& job);

}  // namespace parley::report
