// Charters in which owners learn, on small stand-in data.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "parley/sim/load.h"

namespace parley::test {

struct OwnerCharter {
  std::string protocol = "rule = \"constant\"\nrounds = 5\nstep = 0.3\n";
  std::string learner = "[learner]\nname = \"bank-a\"\n";  // or nothing
  std::string privacy = "max_grad_norm = 8.0\nevaluate = 0.0\n";
  std::string model = "loss = \"squared\"\nbox = 1.0\n";
  std::string target = "bounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n";
  double epsilon = 10;
  std::string owner_keys{};
  int rows = 300;
  size_t owners = 4;

  std::string text() const {
    std::string text =
        "[charter]\nversion = 1\nname = \"banks\"\nconsortium = \"banks.example\"\n"
        "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
        std::string(64, '0') + "\"\nrows = 500\n[target]\ncolumn = \"int_rate\"\n" + target +
        "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
        "missing = 0.0\n[model]\n" +
        model + "[protocol]\nname = \"sync\"\n" + protocol + "[privacy]\n" + privacy;
    for (size_t i = 0; i < owners; ++i)
      text += "[[owner]]\nname = \"bank-" + std::string(1, char('a' + i)) +
              "\"\nrows = " + std::to_string(rows) + "\nepsilon = " + std::to_string(epsilon) +
              "\n" + owner_keys;
    return text + learner;
  }

  Result<charter::Charter> parsed() const {
    return charter::parse_charter(text(), "test.charter.toml", ".");
  }
  sim::SimulateInput input() const {
    const auto charter = parsed();
    EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
    auto input = sim::load_standin(*charter, "lending", 1);
    EXPECT_TRUE(input) << (input ? "" : describe(input.error()));
    return *std::move(input);
  }
};

}  // namespace parley::test
