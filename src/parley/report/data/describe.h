// What files look like, for their owner's eyes.
#pragma once

#include <string>
#include <vector>

#include "parley/data/profile.h"

namespace parley::report {

struct DescribedFile {
  std::string file;
  data::Profile profile{};
};

std::string to_text(const std::vector<DescribedFile>& files);
std::string to_json(const std::vector<DescribedFile>& files);  // parley.describe/1

}  // namespace parley::report
