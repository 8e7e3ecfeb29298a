#include "parley/data/readers/unpack.h"

#include <zstd.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "parley/base/files.h"

namespace parley::data {
namespace {

constexpr std::array<uint8_t, 4> kMagic = {0x28, 0xB5, 0x2F, 0xFD};

Error damaged(const std::filesystem::path& path, const std::string& what, uint64_t packed) {
  return {Code::kInvalid,
          "the zstd data " + what + " after " + std::to_string(packed) + " packed bytes",
          "Copy or pack the file again.",
          {.file = path.string()}};
}

/// One zstd file, frame after frame.
class Unpacker {
 public:
  Unpacker(const std::filesystem::path& path, uint64_t bytes_max,
           const std::function<bool(ByteView)>& take)
      : path_(path),
        bytes_max_(bytes_max),
        take_(take),
        stream_(ZSTD_createDStream(), ZSTD_freeDStream),
        piece_(ZSTD_DStreamOutSize()) {
    check(stream_ != nullptr);
  }

  /// False: nobody wants more.
  Result<bool> feed(ByteView packed) {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    bool more = true;
    while (in.pos < in.size || more) {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      const size_t before = in.pos;
      const size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
      packed_ += in.pos - before;
      if (ZSTD_isError(left))
        return damaged(path_, std::string("is damaged (") + ZSTD_getErrorName(left) + ")", packed_);
      if (in.pos > before || out.pos > 0) whole_ = left == 0;
      unpacked_ += out.pos;
      if (unpacked_ > bytes_max_)
        return Error{Code::kInvalid,
                     "unpacks to more than " + std::to_string(bytes_max_) + " bytes",
                     "Is this the right file? If so, unpack it, or raise limits.unpacked_gb of the "
                     "policy.",
                     {.file = path_.string()}};
      if (out.pos > 0 && !take_({piece_.data(), out.pos})) return false;
      more = out.pos == out.size;  // Then the decoder may hold back more.
    }
    return true;
  }

  Result<void> end() const {
    if (!whole_) return damaged(path_, "is cut off", packed_);
    return {};
  }

 private:
  const std::filesystem::path& path_;
  uint64_t bytes_max_;
  const std::function<bool(ByteView)>& take_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::vector<uint8_t> piece_;
  uint64_t packed_ = 0, unpacked_ = 0;
  bool whole_ = false;  // a frame has just ended
};

}  // namespace

Result<void> read_unpacked(const std::filesystem::path& path, uint64_t bytes_max,
                           const std::function<bool(ByteView)>& take) {
  std::vector<uint8_t> start;  // until it is known what the file is
  std::optional<Unpacker> unpacker;
  bool plain = false, wanted = true;
  Result<void> failed;
  const auto give = [&](ByteView piece) {
    if (plain) return wanted = take(piece);
    const auto fed = unpacker->feed(piece);
    if (!fed) failed = fed.error();
    return wanted = fed && *fed;
  };
  const auto decide = [&] {
    plain = !std::equal(kMagic.begin(), kMagic.end(), start.begin(),
                        start.begin() + std::min(start.size(), kMagic.size()));
    if (!plain) unpacker.emplace(path, bytes_max, take);
    return start.empty() || give(start);
  };
  TRY(read_pieces(path, [&](ByteView piece) {
    if (plain || unpacker) return give(piece);
    start.insert(start.end(), piece.begin(), piece.end());
    return start.size() < kMagic.size() || decide();
  }));
  TRY(failed);
  if (!plain && !unpacker && !decide()) return failed;
  if (unpacker && wanted) TRY(unpacker->end());
  return {};
}

}  // namespace parley::data
