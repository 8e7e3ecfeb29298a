// Bytes, and the SHA-256 hashes that name charters, models, transcripts and rows of ledgers.
//
//   std::cout << parley::to_hex(charter.hash()) << "\n";   // 64 characters, 0-9 and a-f
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace parley {

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;
/// A SHA-256.
using Hash = std::array<uint8_t, 32>;

/// Two characters a byte, in small letters.
std::string to_hex(ByteView bytes);

}  // namespace parley
