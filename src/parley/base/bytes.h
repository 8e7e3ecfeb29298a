// Bytes, SHA-256, hexadecimal, and the one way to hash a tuple: every field length-prefixed, so
// that no two different tuples give the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/bytes.h"

namespace parley {

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Hash sha256(ByteView bytes);
Result<Bytes> from_hex(std::string_view hex);
Result<Hash> hash_from_hex(std::string_view hex);

/// Builds the bytes of a tuple: each field is its length in 8 bytes, then itself; numbers are 8
/// bytes little-endian.
class TupleBytes {
 public:
  TupleBytes& add(ByteView field);
  TupleBytes& add(std::string_view text) { return add(as_bytes(text)); }
  TupleBytes& add(uint64_t number);
  TupleBytes& add(double number);
  const Bytes& bytes() const { return bytes_; }
  Hash sha256() const { return parley::sha256(bytes_); }

 private:
  Bytes bytes_;
};

/// Little-endian, whatever the machine.
void append_little_endian(Bytes& out, uint64_t word);
uint64_t read_little_endian(const uint8_t* eight_bytes);

/// Lattice values as they are stored and sent: 8 bytes each. Left-over bytes are not looked at.
Bytes bytes_of(std::span<const int64_t> values);
std::vector<int64_t> values_of(ByteView bytes);

}  // namespace parley
