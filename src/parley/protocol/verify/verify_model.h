// Compares two model files and says where they differ.
#pragma once

#include <string>
#include <vector>

#include "parley/learn/model.h"

namespace parley::protocol {

/// One sentence per place where `found` is not `expected`, bit for bit. Which version of Parley
/// trained does not count.
std::vector<std::string> differences(const learn::Model& found, const learn::Model& expected);

}  // namespace parley::protocol
