// What the files that know the parser share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "options.h"

namespace parley::cli {

/// Adds a subcommand that, when chosen, becomes the invocation's command.
template <class Options>
CLI::App* command(CLI::App& parent, Invocation& invocation, const std::string& name,
                  const std::string& help, std::shared_ptr<Options> options) {
  CLI::App* app = parent.add_subcommand(name, help);
  app->callback([&invocation, options] { invocation.command = *options; });
  return app;
}

inline void add_set(CLI::App& app, std::vector<std::string>& set) {
  app.add_option("--set", set, "Change a key of the charter: privacy.max_grad_norm=4")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// --separator and --decimal of the CSV files that the command names.
void add_signs(CLI::App& app, data::CsvSigns& signs);

void add_init(CLI::App& root, Invocation& invocation);
void add_data(CLI::App& root, Invocation& invocation);
void add_network(CLI::App& root, Invocation& invocation);
void add_identity(CLI::App& root, Invocation& invocation);
void add_account(CLI::App& root, Invocation& invocation);
void add_audit(CLI::App& root, Invocation& invocation);
void add_reproduce(CLI::App& root, Invocation& invocation);
void add_forecast(CLI::App& root, Invocation& invocation);
void add_demo(CLI::App& root, Invocation& invocation);

}  // namespace parley::cli
