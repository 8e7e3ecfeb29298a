// The messages of secure aggregation, in the order of protocol/secagg/aggregation.h: public keys,
// shares under a seal, signatures, and at the end shares of the secrets that open the sum and no
// part of it. A vector has an encoder only under its mask, as a privacy::Masked; there is none for
// the mask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/shamir.h"
#include "parley/base/crypto/signature.h"
#include "parley/privacy/flow.h"

namespace parley::wire {

struct MemberKeys {
  std::string owner{};
  Hash seal_key{}, mask_key{};
  std::optional<Hash> commitment{};  // in a sparse graph
  Signature signature{};
  bool operator==(const MemberKeys&) const = default;
};
/// Of everyone's commitments.
struct CommitmentsHash {
  Hash sha256{};
  bool operator==(const CommitmentsHash&) const = default;
};
struct RevealedNumber {
  Hash number{};
  bool operator==(const RevealedNumber&) const = default;
};
struct NeighbourKeyList {
  std::vector<MemberKeys> neighbours{};
  Hash everyones{};
  Bytes present{};  // as below, who drew the graph; empty where all are neighbours
  std::vector<Hash> numbers{};
  bool operator==(const NeighbourKeyList&) const = default;
};
struct SealedShareList {
  struct Share {
    std::string from{}, to{};  // the neighbour; the owner that sends or hears it is not named
    Bytes box{};
    bool operator==(const Share&) const = default;
  };
  std::vector<Share> shares{};
  bool operator==(const SealedShareList&) const = default;
};
struct MemberConsent {
  std::string owner{};
  Signature signature{};
  bool operator==(const MemberConsent&) const = default;
};
/// Who survived; or, once they have consented, some who did, with their signatures.
struct SurvivorList {
  Bytes present{};  // one bit per owner of the charter, in its order, lowest first
  std::vector<Signature> signatures{};
  bool operator==(const SurvivorList&) const = default;
};
struct OpenedShareList {
  struct Share {
    std::string owner{};
    bool of_key = false;
    SecretShare share{};
    bool operator==(const Share&) const = default;
  };
  std::vector<Share> shares{};
  bool operator==(const OpenedShareList&) const = default;
};

/// Of an owner, in aggregation `attempt` of the job; and of the learner.
struct FromMember {
  uint32_t attempt = 0;
  std::variant<MemberKeys, RevealedNumber, SealedShareList, MemberConsent, OpenedShareList> step;
};
struct ToMember {
  uint32_t attempt = 0;
  std::variant<CommitmentsHash, NeighbourKeyList, SealedShareList, SurvivorList> step;
};
struct MaskedPart {
  uint32_t attempt = 0;
  privacy::Masked masked;
  std::optional<Signature> signature{};  // over signed_bytes of its receipt
};

/// More is refused: nobody has more neighbours, and no list more owners.
inline constexpr size_t kNeighboursMax = 255, kMembersMax = 100'000;
/// Two shares of 33 bytes and the seal's 16.
inline constexpr size_t kSealedShareBytes = 82;

}  // namespace parley::wire
