// Reads files of any size in pieces, plain or compressed with zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley::data {

/// More than this comes out of no file we meet; a small file that unpacks to it is an attack.
inline constexpr uint64_t kUnpackedBytesMax = uint64_t{64} << 30;

/// As read_pieces. A file that starts with zstd's magic bytes, whatever its name, is unpacked on
/// the way, up to `bytes_max`; one that is cut off or damaged is an error that says after how many
/// bytes, and `take` has had what came before.
Result<void> read_unpacked(const std::filesystem::path& path, uint64_t bytes_max,
                           const std::function<bool(ByteView)>& take);

}  // namespace parley::data
