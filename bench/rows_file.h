// Rows from a file that a Python script wrote: two 64-bit counts, rows and columns, then the rows
// and then the labels as doubles.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/rows.h"

namespace parley {

inline data::Rows rows_of_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t size[2] = {};
  file.read(reinterpret_cast<char*>(size), sizeof size);
  std::vector<double> values(size[0] * size[1]), labels(size[0]);
  file.read(reinterpret_cast<char*>(values.data()), std::streamsize(values.size() * 8));
  file.read(reinterpret_cast<char*>(labels.data()), std::streamsize(labels.size() * 8));
  check(bool(file));
  data::Rows rows(size[1]);
  rows.reserve(size[0]);
  for (size_t i = 0; i < size[0]; ++i)
    rows.add(std::span(values).subspan(i * size[1], size[1]), labels[i]);
  return rows;
}

}  // namespace parley
