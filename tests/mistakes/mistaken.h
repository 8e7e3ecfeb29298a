// Which of the mistakes in tests/mistakes.py this process makes. Only copies of studies/ with those
// mistakes in them ask, and only parley_mistaken is made of such copies.
#pragma once

namespace parley {

extern int mistake_made;  // by its place in the list; -1: none
inline bool mistaken(int which) { return mistake_made == which; }

}  // namespace parley
