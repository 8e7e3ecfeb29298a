// A charter over columns in three places, for tests.
#pragma once

#include <string>

namespace parley::test {

inline std::string columns_charter(double epsilon, size_t records, const std::string& rule,
                                   size_t rounds = 6, const std::string& step = "0.5") {
  const bool once = rule == "statistics", exact = rule == "admm";
  std::string text =
      "[charter]\nversion = 1\nname = \"columns\"\nconsortium = \"agencies.example\"\n"
      "[records]\nid = \"person\"\ncount = " +
      std::to_string(records) +
      "\n[target]\nowner = \"agency-2\"\ncolumn = \"income\"\nlevels = [\"low\", \"high\"]\n"
      "[model]\nloss = \"squared\"\nl2 = 0.02\nbox = 4.0\n"
      "[protocol]\nname = \"sharing\"\nrule = \"" +
      rule + "\"\n" + (once || rule == "gradients" ? "dealer = \"learner\"\n" : "") +
      (once ? ""
            : "rounds = " + std::to_string(rounds) +
                  (rule == "gradients" ? "\nstep = " + step + "\nmomentum = 0.5"
                                       : std::string("\nstep = 1.0")) +
                  (exact ? "\n" : "\nmodel_ball = 4.0\n")) +
      "[privacy]\nmax_row_norm = 1.0\ndelta = 1e-5\n" + (exact ? "calibration = \"paper\"\n" : "") +
      "[learner]\nname = \"office\"\n";
  for (const std::string name : {"agency-1", "agency-2", "agency-3"}) {
    text += "[[owner]]\nname = \"" + name +
            "\"\nmax_row_norm = 0.57\nepsilon = " + std::to_string(epsilon) + "\ncolumns = [\"" +
            name + "-x\", \"" + name + "-y\"]\n";
    for (const char* column : {"-x", "-y"})
      text += "[[column]]\nname = \"" + name + column + "\"\nowner = \"" + name +
              "\"\nkind = \"number\"\nbounds = [-1, 1]\nmissing = 0\n";
  }
  return text;
}

}  // namespace parley::test
