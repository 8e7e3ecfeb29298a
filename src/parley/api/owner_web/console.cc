#include "parley/api/owner_web/console.h"

#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "parley/api/internal.h"
#include "parley/api/owner_value.h"
#include "parley/api/owner_web/look.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/base/printable.h"
#include "parley/charter/explain_policy.h"
#include "parley/net/decisions.h"
#include "parley/net/doctor/preflight.h"
#include "parley/plan/sums/gram.h"
#include "parley/report/forecast/owners.h"

namespace parley::api {
namespace {

using ledger::Decision;
using net::HttpResponse, net::Visit;
using report::ConsoleCharter;
using Steady = std::chrono::steady_clock;

constexpr std::chrono::minutes kFiguresKept(5);

HttpResponse problem(const report::Console& console, int status, const std::string& title,
                     const Error& error) {
  return {.status = status,
          .body = report::problem_page(console, title, describe(error) + ". " + error.hint)};
}

std::string in_words(const report::Forecast& f, const GainVerdict& verdict) {
  return std::string(name_of(verdict.answer)) + ": a gain of " +
         report::range_text(f, verdict.gain) + ", where " +
         report::metric_text(f, verdict.threshold) + " counts";
}

/// What the forecast says to all and to this owner, or why there is none.
report::Answers forecast_of(const Charter& charter, const std::string& us) {
  const auto forecast = make_forecast(charter);
  if (!forecast)
    return {{"No forecast", describe(forecast.error()) + ". " + forecast.error().hint}};
  const report::Forecast& f = forecast->internal().forecast;
  report::Answers answers = {{"Worth it?", report::worth_it_sentence(f)}};
  for (const OwnerForecast& owner : forecast->owners()) {
    if (owner.name != us) continue;
    std::string figures = "alone " + report::range_text(f, owner.alone);
    if (owner.own_public)
      figures += "; with the public rows " + report::range_text(f, *owner.own_public);
    figures += "; the joint model " + report::range_text(f, owner.joint);
    if (owner.personal) figures += "; mixed with our own " + report::range_text(f, *owner.personal);
    answers.emplace_back("For us, " + report::metric_name(f) + " with 90 % intervals", figures);
    answers.emplace_back("For us, against our rows alone", in_words(f, owner.against_alone));
    if (owner.against_own_public)
      answers.emplace_back("For us, against our rows and the public ones",
                           in_words(f, *owner.against_own_public));
  }
  return answers;
}

std::string policy_in_sentences(const OwnerState& state) {
  charter::SpentByDataset spent;
  if (const auto& ledger = *state.ledger)
    for (const ledger::Dataset& data : ledger->datasets) spent[data.name] = data.spent;
  return charter::explain(state.policy, spent);
}

/// As it may stand in the ledger: one line.
Result<std::string> reason_of(const Visit& visit, bool needed) {
  const std::string reason = visit.request.form.text("reason");
  if (needed && reason.find_first_not_of(' ') == std::string::npos)
    return Error{Code::kInvalid, "a no needs a reason", "Say in a sentence why."};
  if (reason.size() <= 300 && printable(reason) == reason) return reason;
  return Error{Code::kInvalid, "the reason is not one line of up to 300 characters",
               "Leave out line breaks and invisible characters."};
}

/// Exactly what `parley owner approve`, `refuse` and `withdraw` do.
Result<void> say(const OwnerState& state, const ConsoleCharter& charter, const Visit& visit,
                 Clock& clock) {
  const std::string what = visit.request.form.text("what");
  const auto full = TRY(charter::read_charter(file_of(state, charter)));
  if (to_hex(full.hash) != charter.id)
    return Error{Code::kInvalid, "the charter's file has changed", "Open the overview again."};
  Decision word{
      .by = visit.person, .at = clock.now(), .reason = TRY(reason_of(visit, what != "approve"))};
  if (what == "approve") {
    TRY(plan::noise_notice(full));  // Refused if it is only that.
    return net::leave_word(state.policy, full, word);
  }
  if (what != "refuse" && what != "withdraw")
    return Error{Code::kInvalid, "the decision must be approve, refuse or withdraw",
                 "Open the page again."};
  word.what = what == "refuse" ? Decision::What::kRefused : Decision::What::kWithdrawn;
  TRY(net::say_no(state.policy, full, word, clock));
  return {};
}

/// Only our user can read it, from the moment it exists.
Result<void> write_link(const std::filesystem::path& file, const std::string& link) {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  const FileToMake made[] = {{.path = file, .content = link + "\n", .secret = true}};
  return make_files(made);
}

report::LedgerSearch search_in(const net::Fields& query) {
  report::LedgerSearch search{.words = query.text("q")};
  if (const auto before = parse_number(query.text("before")); before && std::abs(*before) < 1e15)
    search.before = static_cast<int64_t>(*before);
  return search;
}

/// The pages of one policy. Its functions are called from several threads at once.
class Pages {
 public:
  explicit Pages(std::filesystem::path policy) : policy_(std::move(policy)) {}

  std::vector<net::Route> routes();

  HttpResponse overview(const Visit& visit) {
    return with_state(visit, [](const OwnerState& state) {
      return HttpResponse{.body = report::overview_page(state.console)};
    });
  }
  HttpResponse live(const Visit& visit) {
    return with_state(visit, [](const OwnerState& state) {
      return HttpResponse{.body = report::overview_live(state.console)};
    });
  }
  HttpResponse policy(const Visit& visit) {
    return with_state(visit, [](const OwnerState& state) {
      return HttpResponse{.body = report::policy_page(state.console, policy_in_sentences(state))};
    });
  }
  HttpResponse left(const Visit& visit) {
    return with_state(visit, [&](const OwnerState& state) {
      const report::LedgerSearch search = search_in(visit.request.query);
      const auto found = net::look_into_ledger(
          state.policy,
          {.wants =
               [&](const ledger::Row& row) { return report::wants(state.console, search, row); },
           .most = report::LedgerSearch::kShown});
      if (!found) return problem(state.console, 500, "The ledger cannot be read", found.error());
      return HttpResponse{
          .body = report::left_page(state.console, found->value_or(ledger::Contents{}), search)};
    });
  }
  HttpResponse standing(const Visit& visit) {
    return with_charter(visit, visit.request.query.text("id"),
                        [](const OwnerState&, const ConsoleCharter& seen) {
                          return HttpResponse{.body = report::charter_live(seen)};
                        });
  }
  HttpResponse charter(const Visit& visit) {
    return with_charter(visit, visit.request.query.text("id"),
                        [](const OwnerState& state, const ConsoleCharter& seen) {
                          const auto charter = Charter::read(file_of(state, seen));
                          if (!charter)
                            return problem(state.console, 422, "No charter", charter.error());
                          return HttpResponse{.body = report::charter_page(
                                                  state.console, seen, charter->explain(),
                                                  forecast_of(*charter, state.policy.owner))};
                        });
  }
  HttpResponse value(const Visit& visit) {
    return with_charter(visit, visit.request.query.text("id"),
                        [](const OwnerState& state, const ConsoleCharter& seen) {
                          return HttpResponse{.body = report::value_page(state.console, seen)};
                        });
  }
  /// Reads all records, so it is done for one visitor at a time, and what was read lately is kept.
  HttpResponse figures(const Visit& visit) {
    return with_charter(visit, visit.request.query.text("id"),
                        [this](const OwnerState& state, const ConsoleCharter& seen) {
                          const std::lock_guard one_at_a_time(reading_);
                          if (figures_of_ != seen.id || Steady::now() > figures_until_) {
                            const auto look = look_at(state, seen);
                            if (!look)
                              return HttpResponse{.body = report::value_figures(look.error())};
                            figures_ = report::value_figures(to_text(*look));
                            figures_of_ = seen.id;
                            figures_until_ = Steady::now() + kFiguresKept;
                          }
                          return HttpResponse{.body = figures_};
                        });
  }
  HttpResponse decide(const Visit& visit) {
    const std::lock_guard one_at_a_time(deciding_);
    const std::string id = visit.request.form.text("id");
    return with_charter(visit, id, [&](const OwnerState& state, const ConsoleCharter& seen) {
      if (visit.request.form.text("seen") != seen.word)
        return HttpResponse{.status = 409,
                            .body = report::problem_page(
                                state.console, "Nothing was done",
                                "Somebody has decided since you opened the page: " + seen.word +
                                    ". Look again before you decide.")};
      const auto said = say(state, seen, visit, clock_);
      ledgers_.forget();
      return said ? net::see_other("/charter?id=" + id)
                  : problem(state.console, 422, "Nothing was done", said.error());
    });
  }

 private:
  static Result<report::OwnerLook> look_at(const OwnerState& state, const ConsoleCharter& seen) {
    return look_at_value(state.policy, TRY(charter::read_charter(file_of(state, seen))), {});
  }

  template <class Answer>
  HttpResponse with_state(const Visit& visit, Answer answer) {
    auto state = look_at_owner(policy_, ledgers_, clock_);
    const report::Console nobody{.person = visit.person, .token = visit.token};
    if (!state)
      return problem(nobody, 500, "The policy or its ledger cannot be read", state.error());
    state->console.person = visit.person;
    state->console.token = visit.token;
    return answer(*state);
  }
  template <class Answer>
  HttpResponse with_charter(const Visit& visit, const std::string& id, Answer answer) {
    return with_state(visit, [&](const OwnerState& state) {
      const ConsoleCharter* seen = find_charter(state, id);
      if (seen != nullptr) return answer(state, *seen);
      return HttpResponse{.status = 404,
                          .body = report::problem_page(state.console, "There is no such charter",
                                                       "Its file may have been changed or moved.")};
    });
  }

  std::filesystem::path policy_;
  SystemClock clock_{};
  LedgerReader ledgers_{};
  std::mutex deciding_{};
  std::mutex reading_{};
  std::string figures_of_{}, figures_{};  // of the charter with this hash
  Steady::time_point figures_until_{};
};

std::vector<net::Route> Pages::routes() {
  const auto to = [this](HttpResponse (Pages::*answer)(const Visit&)) {
    return [this, answer](const Visit& visit) { return (this->*answer)(visit); };
  };
  return {{"GET", "/", to(&Pages::overview)},       {"GET", "/live", to(&Pages::live)},
          {"GET", "/charter", to(&Pages::charter)}, {"GET", "/standing", to(&Pages::standing)},
          {"GET", "/value", to(&Pages::value)},     {"GET", "/figures", to(&Pages::figures)},
          {"GET", "/left", to(&Pages::left)},       {"GET", "/policy", to(&Pages::policy)},
          {"POST", "/decide", to(&Pages::decide)}};
}

}  // namespace

Result<void> owner_console(const std::filesystem::path& policy, const PageOptions& page,
                           const std::atomic<bool>& stop) {
  TRY(charter::read_policy(policy));
  Pages pages(policy);
  return serve_pages(page, pages.routes(), stop);
}

struct DaemonConsole::State {
  explicit State(const std::filesystem::path& policy) : pages(policy) {}
  ~State() {
    std::error_code ignored;
    if (!link.empty()) std::filesystem::remove(link, ignored);
  }
  std::filesystem::path link{};  // the file with it
  Pages pages;
  std::unique_ptr<PageServer> server{};  // Last: it uses the pages.
};

DaemonConsole::DaemonConsole() = default;
DaemonConsole::~DaemonConsole() = default;
DaemonConsole::DaemonConsole(DaemonConsole&&) noexcept = default;

Result<DaemonConsole> DaemonConsole::start(const charter::Policy& policy,
                                           const std::filesystem::path& file,
                                           const std::string& person, const net::Log& log) {
  DaemonConsole console;
  if (policy.web.listen.empty()) return console;
  if (file.empty())
    return Error{Code::kInvalid,
                 "only `parley owner run` serves the console that the policy asks for",
                 "Leave out [web], and type `parley owner web POLICY` beside this program.",
                 {.key = "web.listen"}};
  console.state_ = std::make_unique<State>(std::filesystem::absolute(file));
  State& state = *console.state_;
  const bool links = policy.web.person_header.empty();
  if (links) state.link = policy.folder / policy.state / kLinkFile;
  const auto show = [where = state.link, log](const std::string& link) {
    if (where.empty()) return log({net::log::kConsole, "the console is at " + link});
    const auto written = write_link(where, link);
    if (!written) return log({net::log::kConsole, "no link: " + describe(written.error())});
    log({net::log::kConsole, "the console opens with the link in " + where.string()});
  };
  state.server = TRY(PageServer::start({.listen = policy.listen_at(policy.web.listen),
                                        .hosts = policy.web.hosts,
                                        .person_header = policy.web.person_header,
                                        .person = person,
                                        .show = show},
                                       state.pages.routes()));
  return console;
}

}  // namespace parley::api
