// parley explore CHARTER, and what it shares with parley owner web
#include "parley/api/explore/explore.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.h"

namespace parley::cli {
namespace {

struct ExploreOptions : api::ExploreOptions {
  api::PageOptions page{};
};

Result<Output> run(const ExploreOptions& options, ProgressStyle) {
  heed_interrupts();
  TRY(api::explore(options, with_terminal(options.page), interrupted));
  return Output{};
}

}  // namespace

void page_options(CLI::App& app, api::PageOptions& options) {
  app.add_option("--listen", options.listen, "Where the page is: 127.0.0.1:PORT, or unix:PATH")
      ->type_name("ADDRESS")
      ->capture_default_str();
  repeated(app.add_option("--host", options.hosts,
                          "A name under which browsers reach it through a proxy or tunnel"),
           "NAME");
  app.add_option("--person-header", options.person_header,
                 "With unix:PATH: the header in which your proxy says who is signed in")
      ->type_name("HEADER");
}

api::PageOptions with_terminal(const api::PageOptions& options) {
  api::PageOptions page = options;
  page.person = user_name();
  page.show = [](const std::string& link) {
    std::printf("Open this link; it works once:\n%s\n", link.c_str());
    std::fflush(stdout);
  };
  return page;
}

void add_explore(Commands root) {
  const auto [app, options] = root.add<ExploreOptions>(
      "explore", "Move budgets, rows and owners of a charter in a browser, and see its forecast",
      run);
  charter_argument(app, options.charter);
  app.add_option("--data", options.data, "Where pilot and bundle lie, if not beside the charter")
      ->type_name("DIR");
  page_options(app, options.page);
  signs_options(app, options.signs);
}

}  // namespace parley::cli
