#include "parley/api/explore/explore.h"

#include <utility>

#include "parley/api/explore/state.h"
#include "parley/api/internal.h"

namespace parley::api {
namespace {

using net::HttpResponse, net::Visit;
using report::Explored;

std::string result_of(const Explorer& explorer, const Explored& state) {
  const auto charter = charter_of(explorer, state);
  if (!charter) return report::explored(charter.error());
  const auto forecast = forecast_of(explorer, state);
  if (!forecast) return report::explored(forecast.error());
  // In sentences once it is whole: a draft does not say yet what would be paid.
  const auto whole =
      Charter::parse(forecast->charter_text(), {}, charter->internal().charter.folder);
  return report::explored(state, forecast->internal().forecast,
                          whole ? whole->explain() : charter->explain());
}

/// A file for the browser to keep.
HttpResponse charter_file(const Explorer& explorer, const Explored& state) {
  const auto forecast = forecast_of(explorer, state);
  if (!forecast)
    return {.status = 422,
            .body = report::explore_page(state, "", report::explored(forecast.error()))};
  return {.body = forecast->charter_text(),
          .type = "application/toml; charset=utf-8",
          .headers = {{"Content-Disposition",
                       "attachment; filename=\"" + state.charter + ".charter.toml\""}}};
}

HttpResponse json(const Explorer& explorer, const Explored& state) {
  const auto forecast = forecast_of(explorer, state);
  if (!forecast)
    return {.status = 422,
            .body = report::explore_page(state, "", report::explored(forecast.error()))};
  return {.body = forecast->to_json(), .type = "application/json"};
}

std::vector<net::Route> routes_of(const Explorer& explorer) {
  const auto asked = [&explorer](const Visit& visit) {
    return state_of(explorer, visit.request.query);
  };
  return {{"GET", "/",
           [&explorer, asked](const Visit& visit) {
             const Explored state = asked(visit);
             return HttpResponse{
                 .body = report::explore_page(state, visit.token, result_of(explorer, state))};
           }},
          {"GET", "/result",
           [&explorer, asked](const Visit& visit) {
             return HttpResponse{.body = result_of(explorer, asked(visit))};
           }},
          {"GET", "/charter.toml",
           [&explorer, asked](const Visit& visit) { return charter_file(explorer, asked(visit)); }},
          {"GET", "/forecast.json",
           [&explorer, asked](const Visit& visit) { return json(explorer, asked(visit)); }}};
}

}  // namespace

Result<void> explore(const ExploreOptions& options, const PageOptions& page,
                     const std::atomic<bool>& stop) {
  Explorer explorer = TRY(explorer_of(options.charter));
  explorer.data = options.data;
  explorer.signs = options.signs;
  const Forecast now = TRY(forecast_of(explorer, state_of(explorer, {})));
  if (!now.bundle_text().empty())
    return Error{Code::kInvalid,
                 "the charter leaves its features open, which takes a while to choose",
                 "Complete it first: parley forecast CHARTER --out FILE; then explore that file."};
  return serve_pages(page, routes_of(explorer), stop);
}

}  // namespace parley::api
