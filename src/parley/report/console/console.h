// The pages of `parley owner web`: what an owner's people see of their own side. Private figures
// may be among them, so nothing here is for anyone else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parley/explain.h"
#include "parley/ledger/read.h"
#include "parley/report/forecast/answers.h"

namespace parley::report {

/// A charter in the policy's folder.
struct ConsoleCharter {
  std::string file{};     // its name
  std::string problem{};  // why it is no charter; then nothing below counts
  std::string id{};       // its hash
  std::string purpose{};
  double epsilon = 0, delta = 0;  // that it asks of this owner; 0: it does not name it
  Preflight preflight{};
  std::string word{};  // what a person has said about it last; empty: nothing
  bool no = false;     // that is what it was

  bool waits() const { return problem.empty() && preflight.person && word.empty(); }
  bool under_way() const {
    return problem.empty() && !no && preflight.answered > 0 &&
           preflight.answered < preflight.answers;
  }
};

struct Console {
  std::string owner{}, person{};
  std::string token{};                  // of the session's forms
  std::vector<std::string> warnings{};  // about papers and disk
  std::vector<ConsoleCharter> charters{};
  std::vector<ledger::Dataset> datasets{};  // with a ledger: its; else the policy's, untouched
};

/// "A suspicion of 50 % becomes at most 73 %": what the promise means to one person in the data.
std::string in_words(double epsilon, double delta);

std::string overview_page(const Console& console);
/// Of the overview what changes by itself: budgets and jobs.
std::string overview_live(const Console& console);
/// `sentences` explain the charter, `forecast` what it would be worth.
std::string charter_page(const Console& console, const ConsoleCharter& charter,
                         const std::string& sentences, const Answers& forecast);
/// Of this owner's own rows: for its eyes only.
std::string value_page(const Console& console, const ConsoleCharter& charter,
                       const std::string& text);
/// Every row of the ledger in which `search` occurs, the latest first.
std::string left_page(const Console& console, const std::vector<ledger::Row>& rows,
                      const std::string& search);
std::string policy_page(const Console& console, const std::string& sentences);
std::string problem_page(const Console& console, const std::string& title,
                         const std::string& sentence);

}  // namespace parley::report
