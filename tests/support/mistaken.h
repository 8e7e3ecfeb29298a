// The mistakes of tests/mistakes.py, and which of them this process makes. Only copies of studies/
// with those mistakes in them ask, and only parley_mistaken is made of such copies.
#pragma once

#include <string_view>
#include <vector>

namespace parley {

struct Mistake {
  std::string_view name, what;
  std::vector<std::string_view> items;  // whose verdict must notice
};
const std::vector<Mistake>& mistakes();  // mistakes.py writes it

extern int mistake_made;  // by its place in the list; -1: none
inline bool mistaken(int which) { return mistake_made == which; }

}  // namespace parley
