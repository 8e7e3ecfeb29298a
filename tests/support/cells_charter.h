// Owners of columns without a dealer, for tests: a category that may be missing, a number and a
// bias beside the label at the first, a number and a category at the second, and where there is a
// third, the same there.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "support/entropy.h"

namespace parley::test {

inline std::string cells_charter(double epsilon, size_t records, const std::string& protocol = "",
                                 const std::string& target = "levels = [\"low\", \"high\"]") {
  return "[charter]\nversion = 1\nname = \"cells\"\nconsortium = \"agencies.example\"\n"
         "[records]\nid = \"person\"\ncount = " +
         std::to_string(records) + "\n[target]\nowner = \"agency-1\"\ncolumn = \"income\"\n" +
         target +
         "\n[model]\nloss = \"squared\"\nl2 = 0.02\nbias = true\nbox = 4.0\n"
         "[protocol]\nname = \"sharing\"\n" +
         protocol +
         "[privacy]\ndelta = 1e-5\n[learner]\nname = \"office\"\n"
         "[[owner]]\nname = \"agency-1\"\nepsilon = " +
         std::to_string(epsilon) +
         "\ncolumns = [\"job\", \"age\"]\n"
         "[[owner]]\nname = \"agency-2\"\nepsilon = " +
         std::to_string(epsilon) +
         "\ncolumns = [\"hours\", \"home\"]\n"
         "[[column]]\nname = \"job\"\nowner = \"agency-1\"\nkind = \"category\"\n"
         "levels = [\"a\", \"b\", \"c\"]\n"
         "[[column]]\nname = \"age\"\nowner = \"agency-1\"\nkind = \"number\"\nbounds = [20, 80]\n"
         "missing = 40\nbits = 6\n"
         "[[column]]\nname = \"hours\"\nowner = \"agency-2\"\nkind = \"number\"\n"
         "bounds = [0, 100]\nmissing = 40\nbits = 5\n"
         "[[column]]\nname = \"home\"\nowner = \"agency-2\"\nkind = \"category\"\n"
         "levels = [\"own\"]\nother = true\n";
}

/// The same with a third owner.
inline std::string three_cells_charter(double epsilon, size_t records,
                                       const std::string& protocol = "") {
  return cells_charter(epsilon, records, protocol) +
         "[[owner]]\nname = \"agency-3\"\nepsilon = " + std::to_string(epsilon) +
         "\ncolumns = [\"height\", \"car\"]\n"
         "[[column]]\nname = \"height\"\nowner = \"agency-3\"\nkind = \"number\"\n"
         "bounds = [120, 220]\nmissing = 170\nbits = 4\n"
         "[[column]]\nname = \"car\"\nowner = \"agency-3\"\nkind = \"category\"\n"
         "levels = [\"none\", \"one\", \"more\"]\n";
}

/// The same with a second category of the first owner, and its product with the first.
inline std::string products_charter(double epsilon, size_t records) {
  std::string text = cells_charter(epsilon, records);
  const std::string old = "columns = [\"job\", \"age\"]";
  text.replace(text.find(old), old.size(), "columns = [\"job\", \"age\", \"sex\", \"both\"]");
  return text +
         "[[column]]\nname = \"sex\"\nowner = \"agency-1\"\nkind = \"category\"\n"
         "levels = [\"f\", \"m\"]\n"
         "[[column]]\nname = \"both\"\nowner = \"agency-1\"\nkind = \"category\"\n"
         "product_of = [\"job\", \"sex\"]\n";
}

/// Encoded rows of one owner of these charters; labels at the first. The same seed, the same
/// people.
inline std::shared_ptr<const data::Rows> cells_rows(size_t owner, size_t records,
                                                    uint64_t seed = 1) {
  SeededEntropy entropy(seed, "people"), third(seed, "third");
  auto rows = std::make_shared<data::Rows>(std::array<size_t, 3>{5, 3, 4}.at(owner));
  for (size_t i = 0; i < records; ++i) {
    const size_t job = entropy.word() % 4, home = entropy.word() % 2;
    const double age = 20 + double(entropy.word() % 61), hours = double(entropy.word() % 101);
    const double y = (job == 1) + age / 80 + hours / 100 > 1.2 ? 1 : -1;
    if (owner == 2) {
      const size_t car = third.word() % 3;
      const double height = 120 + double(third.word() % 101);
      rows->add(std::array{height, double(car == 0), double(car == 1), double(car == 2)}, 0);
    } else if (owner == 0)
      rows->add(std::array{double(job == 0), double(job == 1), double(job == 2), age, 1.0}, y);
    else
      rows->add(std::array{hours, double(home == 0), double(home == 1)}, 0);
  }
  return rows;
}

}  // namespace parley::test
