#include "parley/base/bytes.h"

#include <openssl/evp.h>

#include <algorithm>
#include <bit>

namespace parley {

Hash sha256(ByteView bytes) {
  // Looked up once: OpenSSL's one-call function looks it up every time, which takes longer than
  // hashing a short text.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Hash hash;
  check(EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, algorithm, nullptr) == 1);
  return hash;
}

std::string to_hex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

Result<Bytes> from_hex(std::string_view hex) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (hex.size() % 2 != 0) return Error{Code::kInvalid, "hexadecimal text of odd length"};
  Bytes bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return Error{Code::kInvalid, "not hexadecimal"};
    bytes.push_back(static_cast<uint8_t>(high * 16 + low));
  }
  return bytes;
}

Result<Hash> hash_from_hex(std::string_view hex) {
  const Bytes bytes = TRY(from_hex(hex));
  if (bytes.size() != 32) return Error{Code::kInvalid, "a SHA-256 has 64 hexadecimal digits"};
  Hash hash;
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

TupleBytes& TupleBytes::add(ByteView field) {
  append_little_endian(bytes_, field.size());
  bytes_.insert(bytes_.end(), field.begin(), field.end());
  return *this;
}

TupleBytes& TupleBytes::add(uint64_t number) {
  append_little_endian(bytes_, 8);
  append_little_endian(bytes_, number);
  return *this;
}

TupleBytes& TupleBytes::add(double number) { return add(std::bit_cast<uint64_t>(number)); }

void append_little_endian(Bytes& out, uint64_t word) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(word >> (8 * i)));
}

uint64_t read_little_endian(const uint8_t* eight_bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= uint64_t{eight_bytes[i]} << (8 * i);
  return word;
}

Bytes bytes_of(std::span<const int64_t> values) {
  Bytes bytes;
  bytes.reserve(8 * values.size());
  for (const int64_t value : values) append_little_endian(bytes, static_cast<uint64_t>(value));
  return bytes;
}

std::vector<int64_t> values_of(ByteView bytes) {
  std::vector<int64_t> values(bytes.size() / 8);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(read_little_endian(&bytes[8 * i]));
  return values;
}

}  // namespace parley
