#include "parley/api/explore/explore.h"

#include <utility>

#include "parley/api/explore/state.h"
#include "parley/api/internal.h"

namespace parley::api {
namespace {

using net::HttpResponse, net::Visit;
using report::Explored;

/// `token` is of the session that asks.
std::string result_of(const Explorer& explorer, const Explored& state, const std::string& token) {
  const auto forecast = forecast_of(explorer, state);
  if (!forecast) return report::explored(forecast.error());
  return report::explored(state, forecast->internal().forecast, explorer.trains ? token : "");
}

HttpResponse refused(const Explored& state, const std::string& token, const Error& error) {
  return {.status = 422, .body = report::explore_page(state, token, report::explored(error))};
}

/// In sentences, once it is whole: a draft does not say yet what would be paid.
HttpResponse sentences_of(const Explorer& explorer, const Explored& state,
                          const std::string& token) {
  const auto charter = [&]() -> Result<Charter> {
    const Charter set = TRY(charter_of(explorer, state));
    if (set.complete()) return set;
    const Forecast chosen = TRY(forecast_of(explorer, state));
    return Charter::parse(chosen.charter_text(), {}, set.internal().charter.folder);
  }();
  if (!charter) return refused(state, token, charter.error());
  return {.body = report::sentences_page(state, token, charter->explain())};
}

/// A file for the browser to keep.
HttpResponse charter_file(const Explorer& explorer, const Explored& state,
                          const std::string& token) {
  const auto forecast = forecast_of(explorer, state);
  if (!forecast) return refused(state, token, forecast.error());
  return {.body = forecast->charter_text(),
          .type = "application/toml; charset=utf-8",
          .headers = {{"Content-Disposition",
                       "attachment; filename=\"" + state.charter + ".charter.toml\""}}};
}

HttpResponse json(const Explorer& explorer, const Explored& state, const std::string& token) {
  const auto forecast = forecast_of(explorer, state);
  if (!forecast) return refused(state, token, forecast.error());
  return {.body = forecast->to_json(), .type = "application/json"};
}

}  // namespace

std::vector<net::Route> explore_routes(const Explorer& explorer) {
  const auto asked = [&explorer](const Visit& visit) {
    return state_of(explorer, visit.request.query);
  };
  return {{"GET", "/",
           [&explorer, asked](const Visit& visit) {
             const Explored state = asked(visit);
             return HttpResponse{.body = report::explore_page(
                                     state, visit.token, result_of(explorer, state, visit.token))};
           }},
          {"GET", "/result",
           [&explorer, asked](const Visit& visit) {
             return HttpResponse{.body = result_of(explorer, asked(visit), visit.token)};
           }},
          {"GET", "/sentences",
           [&explorer, asked](const Visit& visit) {
             return sentences_of(explorer, asked(visit), visit.token);
           }},
          {"GET", "/charter.toml",
           [&explorer, asked](const Visit& visit) {
             return charter_file(explorer, asked(visit), visit.token);
           }},
          {"GET", "/forecast.json", [&explorer, asked](const Visit& visit) {
             return json(explorer, asked(visit), visit.token);
           }}};
}

Result<void> explore(const ExploreOptions& options, const PageOptions& page,
                     const std::atomic<bool>& stop) {
  Explorer explorer = TRY(explorer_of(options.charter));
  explorer.how = {.folder = options.data, .signs = options.signs};
  explorer.as_it_is = TRY(forecast_of(explorer, state_of(explorer, {})));
  if (!explorer.as_it_is->bundle_text().empty())
    return Error{Code::kInvalid,
                 "the charter leaves its features open, which takes a while to choose",
                 "Complete it first: parley forecast CHARTER --out FILE; then explore that file."};
  return serve_pages(page, explore_routes(explorer), stop);
}

}  // namespace parley::api
