// parley certs, join and doctor: what can be typed.
#include "options_parser.h"

namespace parley::cli {
namespace {

constexpr int64_t kDaysMax = 36500;

void add_certs(CLI::App& root, Invocation& invocation) {
  CLI::App* group = root.add_subcommand("certs", "A consortium's authority")->require_subcommand(1);
  auto init = std::make_shared<CertsInitOptions>();
  CLI::App* app = command(*group, invocation, "init",
                          "Make the authority of a consortium, and the invitation to join", init);
  app->add_option("consortium", init->consortium, "Its name, such as banks.example")->required();
  app->add_option("--address", init->address, "Where the learner will listen")
      ->type_name("HOST:PORT");
  app->add_option("--out", init->out, "Folder for the files")->capture_default_str();
  app->add_option("--days", init->days, "How long the authority lasts")
      ->check(CLI::Range(int64_t{1}, kDaysMax))
      ->capture_default_str();
  auto sign = std::make_shared<CertsSignOptions>();
  app = command(*group, invocation, "sign", "Certify who asks in a request", sign);
  app->add_option("request", sign->request, "NAME.csr, made by `parley join`")
      ->required()
      ->type_name("FILE");
  app->add_option("--authority", sign->authority, "Folder of the authority")->capture_default_str();
  app->add_option("--days", sign->days, "How long the certificate lasts")
      ->check(CLI::Range(int64_t{1}, kDaysMax))
      ->capture_default_str();
  app->add_flag("--replace", sign->replace, "The party has lost the key it had");
  app->add_option("--out", sign->out, "The certificate (default: NAME.crt beside the request)")
      ->type_name("FILE");
}

void add_join(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<JoinOptions>();
  CLI::App* app = command(root, invocation, "join",
                          "Make your keys and the request that the consortium signs", options);
  app->add_option("invitation", options->invitation, "CONSORTIUM.join, from the consortium")
      ->required()
      ->type_name("FILE");
  app->add_option("--name", options->name, "Your name in charters, such as bank-a")->required();
  app->add_option("--role", options->role, "What you take part as")
      ->check(CLI::IsMember({"owner", "learner"}))
      ->capture_default_str();
  app->add_option("--out", options->out, "Folder for the files")->capture_default_str();
}

void add_doctor(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* app =
      command(root, invocation, "doctor",
              "Say what is wrong between you and the learner, first things first", options);
  auto* policy = app->add_option("policy", options->policy, "An owner's policy");
  policy->type_name("FILE")->capture_default_str();
  auto* charter = app->add_option("--charter", options->charter, "The job: who the learner is");
  charter->type_name("FILE");
  app->add_option("--dial", options->dial, "Instead of the address in the policy")
      ->type_name("HOST:PORT");
  app->add_option("--learner", options->learner,
                  "Where every owner learns (copies, graph): the one to dial")
      ->type_name("NAME")
      ->needs(charter);
  auto* identity = app->add_option("--identity", options->identity,
                                   "A learner's papers, instead of a policy; without --dial "
                                   "nobody is dialled");
  identity->type_name("DIR")->excludes(policy)->needs(charter);
  auto* name = app->add_option("--name", options->name, "Of the learner");
  name->needs(identity);
  identity->needs(name);
  add_set(*app, options->set);
}

}  // namespace

void add_identity(CLI::App& root, Invocation& invocation) {
  add_certs(root, invocation);
  add_join(root, invocation);
  add_doctor(root, invocation);
}

}  // namespace parley::cli
