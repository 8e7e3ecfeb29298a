#include "parley/base/result.h"

namespace parley {

std::string describe(const Error& error) {
  std::string text = error.where.file;
  if (error.where.line > 0) text += ":" + std::to_string(error.where.line);
  if (error.where.line > 0 && error.where.column > 0)
    text += ":" + std::to_string(error.where.column);
  if (!text.empty()) text += ": ";
  if (!error.where.key.empty()) text += error.where.key + ": ";
  return text + error.what;
}

}  // namespace parley
