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
  app.add_option("--listen", options.listen, "Serve the page at 127.0.0.1:PORT or unix:PATH")
      ->type_name("ADDRESS")
      ->capture_default_str();
  repeated(app.add_option("--host", options.hosts,
                          "Host name that browsers use, through a proxy or tunnel"),
           "NAME");
  app.add_option("--person-header", options.person_header,
                 "With unix:PATH: header in which your proxy names the signed-in user")
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
      "explore", "Show in a browser how a charter's forecast changes with budgets, rows and owners",
      run);
  charter_argument(app, options.charter);
  app.add_option("--data", options.data, "Folder of pilot and bundle (default: the charter's)")
      ->type_name("DIR");
  page_options(app, options.page);
  signs_options(app, options.signs);
}

}  // namespace parley::cli
