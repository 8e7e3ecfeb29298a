// Secure aggregation (Bonawitz et al. 2017, with the graph of Bell et al. 2020): a server learns
// the sum of its members' vectors and nothing else, also if members drop out on the way, members
// collude with it, or it does not keep to the protocol: how many neighbours, consents and shares
// that takes is computed in plan/learner/neighbours.h. Both roles are pure state machines. In the
// order of the protocol, u a member, v its neighbours:
//
//   u       Keys      two fresh public keys, and a commitment to a number, signed
//   server  a hash of everyone's commitments                       (in a sparse graph only)
//   u       Reveal    its number                                   (likewise)
//   server  all numbers, which draw the graph; the keys of all v, and a hash of everyone's
//   u       Shares    for each v, sealed: a share of the seed b_u and one of the mask key s_u
//   server  those that are for u
//   u       Masked    vector + PRG(b_u) + sum of +-PRG(agreed with v)        modulo 2^64
//   server  Survivors whose vectors have come
//   u       Consent   signed: these and no others
//   server  consents of so many members, to the same list
//   u       Unmask    of each v that survived its share of b_v, of each other one that of s_v
//   server  takes all masks off the sum of the survivors' vectors
//
// The masks between two survivors cancel. b_u masks a vector that arrives too late, after s_u has
// been revealed. No member ever gives out both shares of one v, because it consents only once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/crypto/signature.h"
#include "parley/privacy/flow.h"
#include "parley/protocol/secagg/graph.h"
#include "parley/protocol/secagg/secrets.h"

namespace parley::protocol {

/// Public, and the same for all.
struct AggregationPlan {
  struct Member {
    std::string name;
    SignKey key{};
  };
  /// Names the job and the round, and everything that must be the same for all: see context().
  Hash job{};
  uint32_t round = 0;
  std::vector<Member> members;
  size_t words = 0;      // of a vector
  size_t threshold = 0;  // t: shares that open a secret
  size_t survivors = 0;  // s: with fewer the sum is not opened
  size_t consents = 0;   // of other members to the same survivors, without which nothing is opened
  size_t degree = 0;     // neighbours of each in a graph that all draw together; 0: everyone
  size_t stretch = 0;    // colluders among any degree/2 side by side, at most

  /// Bound into every signature and sealed message, so that none fits another round or plan.
  Hash context() const;
  size_t neighbours() const { return degree == 0 ? members.size() - 1 : degree; }
  /// Numbers that cannot work, in words.
  Result<void> valid() const;
};

struct Keys {
  size_t member = 0;
  Hash seal_key{}, mask_key{};
  Hash commitment{};  // to what it adds to the seed of a sparse graph
  Signature signature{};
};
/// Of everyone who sent keys: the server can no longer choose what draws the graph.
struct Commitments {
  Hash hash{};
};
struct Reveal {
  Hash number{};
};
/// Whose numbers draw the graph.
using Numbers = std::map<size_t, Hash>;
struct NeighbourKeys {
  Numbers numbers{};  // empty where everyone is everyone's neighbour
  std::vector<Keys> keys{};
  Hash everyones{};  // hash over all members' keys: all must be shown the same
};
struct SealedShares {
  size_t from = 0, to = 0;
  Bytes box{};
};
struct Survivors {
  std::vector<size_t> members{};  // in rising order
};
struct Consent {
  size_t member = 0;
  Signature signature{};
};
struct Unmask {
  struct Share {
    size_t of = 0;
    bool of_key = false;  // else of the seed
    SecretShare share{};
  };
  std::vector<Share> shares{};
};

/// Hash over the keys of those who sent some, in the order of their numbers.
Hash hash_of(const std::vector<Keys>& keys);

/// How these numbers were committed to, one by one and all.
Hash commitment_to(const Hash& context, size_t member, const Hash& number);
Commitments commitments_to(const Hash& context, const std::map<size_t, Hash>& commitments);
/// The graph that they draw, and what is signed and sealed from then on.
struct Drawn {
  Graph graph;
  Hash context{};
};
Drawn draw_graph(const AggregationPlan& plan, const Numbers& numbers);

/// One member of one aggregation. Every call is made once, in this order; any other is an error,
/// and so is a message that the server or a neighbour may not have sent. After an error nothing
/// more leaves it.
class AggregationMember {
 public:
  AggregationMember(const AggregationPlan& plan, size_t self, const SigningKey& key,
                    Entropy& entropy);
  ~AggregationMember();

  Result<Keys> begin();
  /// Only in a sparse graph.
  Result<Reveal> reveal(const Commitments& everyones);
  Result<std::vector<SealedShares>> share(const NeighbourKeys& shown);
  /// All masks that this member's vector is to carry. They go on where it is paid for
  /// (ledger/ledger.h), so that this class never sees what it hides.
  Result<privacy::Mask> mask(const std::vector<SealedShares>& received);
  Result<Consent> consent(const Survivors& survivors);
  Result<Unmask> unmask(const std::vector<Consent>& consents);

 private:
  enum class Phase { kBegin, kReveal, kShare, kMask, kConsent, kUnmask, kOver };
  struct Neighbour {
    Keys keys{};
    Secret32 seal_key{};
  };
  struct Pair {
    SecretShare of_seed{}, of_key{};
  };
  /// Goes on to the next phase, or stays over for good.
  Result<void> enter(Phase expected);
  Result<void> draw_graph_from(const Numbers& numbers);
  Result<void> check_keys(const Keys& keys, const Numbers& numbers) const;
  Result<void> take_share(const SealedShares& sealed);
  Error wrong(std::string what) const;

  const AggregationPlan& plan_;
  size_t self_;
  const SigningKey& key_;
  Entropy& entropy_;
  Hash plan_context_;
  Drawn drawn_;
  Phase phase_ = Phase::kBegin;
  AgreementKey sealing_, masking_;
  Secret32 seed_;
  Hash number_{};
  Commitments committed_{};
  Hash everyones_{};
  std::map<size_t, Neighbour> neighbours_{};
  std::map<size_t, Pair> shares_{};  // of neighbours, held for them
  std::vector<size_t> survivors_{};
};

/// What a consent is signed over.
Bytes consent_bytes(const Hash& context, const Hash& everyones,
                    const std::vector<size_t>& survivors);
/// What keys are signed over.
Bytes keys_bytes(const Hash& context, const Keys& keys);

}  // namespace parley::protocol
