// The pages of an owner's console: what its people see of their own side. Private figures may be
// among them, so nothing here is for anyone else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/explain.h"
#include "parley/ledger/read.h"
#include "parley/report/forecast/answers.h"

namespace parley::report {

/// What the daemon says of a charter.
struct DaemonJob {
  std::string state{}, reason{};               // "running", "ended early": why
  uint64_t received = 0, sent = 0;             // bytes, since the daemon began
  std::optional<double> seconds_per_answer{};  // at the pace so far
  bool runs() const { return state == "running"; }
};

/// A charter in the policy's folder, or one that the daemon was given.
struct ConsoleCharter {
  std::string file{};     // its name in the folder; of others the whole path
  std::string problem{};  // why it is no charter; then nothing below counts
  std::string id{};       // its hash
  std::string purpose{};
  double epsilon = 0, delta = 0;  // that it asks of this owner; 0: it does not name it
  Preflight preflight{};
  std::string word{};  // what a person has said about it last; empty: nothing
  bool no = false;     // that is what it was
  std::optional<DaemonJob> job{};

  bool waits() const { return problem.empty() && preflight.person && word.empty(); }
  bool under_way() const {
    const bool begun = preflight.answered > 0 && preflight.answered < preflight.answers;
    return problem.empty() && !no && (begun || (job && job->runs()));
  }
};

struct Console {
  std::string owner{}, person{};
  std::string token{};                  // of the session's forms
  std::string daemon{};                 // a sentence: since when it runs, or that it does not
  std::vector<std::string> warnings{};  // about certificate and disk
  std::vector<ConsoleCharter> charters{};
  std::vector<ledger::Dataset> datasets{};  // with a ledger: its; else the policy's, untouched
};

/// "A suspicion of 50 % becomes at most 73 %": what the promise means to one person in the data.
std::string in_words(double epsilon, double delta);

std::string overview_page(const Console& console);
/// Of the overview what changes by itself: warnings, budgets and jobs.
std::string overview_live(const Console& console);
/// Of a charter's page what changes by itself.
std::string charter_live(const ConsoleCharter& charter);
/// `sentences` explain the charter, `forecast` what it would be worth.
std::string charter_page(const Console& console, const ConsoleCharter& charter,
                         const std::string& sentences, const Answers& forecast);
/// Of this owner's own rows: for its eyes only. The figures come after the page.
std::string value_page(const Console& console, const ConsoleCharter& charter);
std::string value_figures(const std::string& text);
std::string value_figures(const Error& error);

/// What a person looks for in the ledger.
struct LedgerSearch {
  static constexpr size_t kShown = 200;  // on one page
  std::string words{};              // occur in a row as it is shown; upper and lower case alike
  std::optional<int64_t> before{};  // only rows with a smaller number
};
bool wants(const Console& console, const LedgerSearch& search, const ledger::Row& row);
/// The latest rows that were found, the latest first.
std::string left_page(const Console& console, const ledger::Contents& found,
                      const LedgerSearch& search);

std::string policy_page(const Console& console, const std::string& sentences);
std::string problem_page(const Console& console, const std::string& title,
                         const std::string& sentence);

}  // namespace parley::report
