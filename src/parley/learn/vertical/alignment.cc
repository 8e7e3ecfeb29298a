#include "parley/learn/vertical/alignment.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string_view>

namespace parley::learn {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

IdDigest digest_of(std::string_view id, const Secret32& key) {
  IdDigest digest;
  check(crypto_generichash(digest.data(), digest.size(),
                           reinterpret_cast<const unsigned char*>(id.data()), id.size(), key.data(),
                           key.size()) == 0);
  return digest;
}

size_t missing_from(const std::vector<IdDigest>& list, const std::vector<IdDigest>& of) {
  std::vector<IdDigest> rest;
  std::set_difference(of.begin(), of.end(), list.begin(), list.end(), std::back_inserter(rest));
  return rest.size();
}

}  // namespace

Hash Alignment::hash() const {
  TupleBytes bytes;
  bytes.add("records").add(uint64_t{digests.size()});
  for (const IdDigest& digest : digests) bytes.add(ByteView(digest));
  return bytes.sha256();
}

Alignment align(std::span<const std::string> ids, const Secret32& key) {
  Alignment out;
  std::vector<IdDigest> digests(ids.size());
  std::vector<uint64_t> order;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string_view id = without_blanks(ids[i]);
    if (id.empty()) {
      ++out.missing;
      continue;
    }
    digests[i] = digest_of(id, key);
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint64_t a, uint64_t b) { return digests[a] < digests[b]; });
  for (const uint64_t row : order) {
    if (!out.digests.empty() && out.digests.back() == digests[row]) {
      ++out.repeated;
      continue;
    }
    out.digests.push_back(digests[row]);
    out.rows.push_back(row);
  }
  return out;
}

Bytes bytes_of(std::span<const IdDigest> digests) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(digests.data());
  return Bytes(bytes, bytes + digests.size_bytes());
}

std::optional<std::vector<IdDigest>> digests_in(ByteView bytes) {
  if (bytes.size() % sizeof(IdDigest) != 0) return std::nullopt;
  std::vector<IdDigest> digests(bytes.size() / sizeof(IdDigest));
  if (!bytes.empty()) std::memcpy(digests.data(), bytes.data(), bytes.size());
  if (std::adjacent_find(digests.begin(), digests.end(), std::greater_equal<>()) != digests.end())
    return std::nullopt;
  return digests;
}

Result<void> same_records(const std::string& one, const Alignment& first, const std::string& other,
                          const Alignment& second) {
  if (first.hash() == second.hash()) return {};
  return Error{Code::kInvalid,
               "the records of " + one + " and " + other + " are not the same: " +
                   std::to_string(missing_from(second.digests, first.digests)) + " of " +
                   std::to_string(first.digests.size()) + " are missing at " + other + ", " +
                   std::to_string(missing_from(first.digests, second.digests)) + " of " +
                   std::to_string(second.digests.size()) + " at " + one,
               "Give both the same records, or set on_mismatch = \"intersect\" in [records].",
               {.key = "records.on_mismatch"}};
}

Alignment intersected(const Alignment& own, std::span<const std::vector<IdDigest>> lists) {
  Alignment out{.missing = own.missing, .repeated = own.repeated};
  for (size_t i = 0; i < own.digests.size(); ++i) {
    const bool everywhere = std::all_of(lists.begin(), lists.end(), [&](const auto& list) {
      return std::binary_search(list.begin(), list.end(), own.digests[i]);
    });
    if (!everywhere) continue;
    out.digests.push_back(own.digests[i]);
    out.rows.push_back(own.rows[i]);
  }
  return out;
}

}  // namespace parley::learn
