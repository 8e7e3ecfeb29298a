#include "parley/charter/policy.h"

#include <algorithm>
#include <set>

#include "parley/base/files.h"
#include "parley/charter/dataset/read_dataset.h"
#include "parley/charter/toml/table.h"
#include "parley/privacy/budget/tracks.h"

namespace parley::charter {
namespace {

constexpr size_t kDatasetsMax = 1000;
constexpr size_t kRulesMax = 1000;

void read_owner(Table& t, Policy& policy) {
  t.required("name", policy.owner, any_name, "Name this owner, for example name = \"bank-a\".");
  t.required("state", policy.state, Anything{},
             "Give the folder of the ledger, for example state = \"/var/lib/parley/bank-a\".");
  t.required("charters", policy.charters, Anything{},
             "Give the folder of charters, for example charters = \"/etc/parley/charters\".");
}

void read_identity(Table& t, Identity& identity) {
  constexpr std::string_view kJoin = "`parley join` writes this section.";
  t.required("consortium", identity.consortium, any_domain, kJoin);
  t.required("certificate", identity.certificate, Anything{}, kJoin);
  t.required("key", identity.key, Anything{}, kJoin);
  t.required("authority", identity.authority, Anything{}, kJoin);
  t.required("sign_key", identity.sign_key, Anything{}, kJoin);
  t.optional("members", identity.members, Anything{},
             "The authority's list of all owners' certificates, for example \"members.pem\".");
  t.optional("revoked", identity.revoked, Anything{},
             "The authority's list of revoked certificates, for example \"revoked.crl\".");
  t.optional("learner", identity.learner, Anything{},
             "The folder of NAME.crt and NAME.key of role learner, for example \"learner\".");
}

void read_protocols(Table& t, Accept& rule) {
  std::vector<std::string> words;
  constexpr auto& kAll = kNames<ProtocolName>;
  if (!t.has("protocol")) return;
  t.required("protocol", words, Count{1, kAll.size()}, "For example protocol = [\"sync\"].");
  for (const std::string& word : words) {
    const auto found = std::find(kAll.begin(), kAll.end(), word);
    if (found == kAll.end())
      return t.fail("protocol", "has an unknown member " + in_quotes(word),
                    "Protocols are sync, async, sharing and federated.");
    rule.protocols.push_back(static_cast<ProtocolName>(found - kAll.begin()));
  }
}

void read_accept(Table& t, Policy& policy) {
  Accept& rule = policy.accept.emplace_back();
  t.required("consortium", rule.consortium, any_domain, "For example \"banks.example\".");
  t.optional("learner", rule.learner, any_name, "For example learner = \"central-bank\".");
  read_protocols(t, rule);
  t.optional("dealer", rule.dealer, Anything{},
             "dealer = \"learner\" allows charters whose learner deals masks and noise.");
  constexpr Count kOwners{1, 100'000};
  if (t.has("must_have"))
    t.required("must_have", rule.must_have, kOwners, "For example must_have = [\"bank-b\"].");
  if (t.has("may_have"))
    t.required("may_have", rule.may_have, kOwners, "For example may_have = [\"bank-b\"].");
  t.optional("others_min", rule.others_min, at_least(0).up_to(1e6),
             "How many owners beside us a charter needs, for example others_min = 4.");
  t.required("dataset", rule.dataset, any_name, "Name one of the [[dataset]] blocks.");
  t.required("epsilon_max", rule.epsilon_max, above(0).up_to(1e4),
             "The most that one charter may spend, for example epsilon_max = 0.5.");
  t.optional("person", rule.person, Anything{}, "person = true waits for `parley owner approve`.");
  const bool known = std::any_of(policy.datasets.begin(), policy.datasets.end(),
                                 [&](const Dataset& data) { return data.name == rule.dataset; });
  if (!known)
    t.fail("dataset", "names " + in_quotes(rule.dataset) + ", which no [[dataset]] describes",
           "Name one of the [[dataset]] blocks.");
}

std::string proxy_url(std::string_view text) {
  const bool good = text.starts_with("http://") && host_and_port(text.substr(7)).empty();
  return good ? "" : "must be http://host:port, found " + in_quotes(text);
}

std::string here_or_socket(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) return any_text(text.substr(kUnix.size()));
  return host_and_port(text).empty() ? ""
                                     : "must be host:port or unix:PATH, found " + in_quotes(text);
}

void read_web(Table& t, WebPage& web) {
  t.required("listen", web.listen, here_or_socket,
             "On this machine: \"127.0.0.1:8443\", or \"unix:/run/parley/page.sock\".");
  constexpr Count kHosts{1, 100};
  if (t.has("hosts"))
    t.required("hosts", web.hosts, kHosts, "For example hosts = [\"decide.example\"].");
  if (t.has("person_header"))
    t.required("person_header", web.person_header, any_text,
               "The header in which your proxy names people, for example \"X-Forwarded-User\".");
  if (!web.person_header.empty() && !web.listen.starts_with("unix:"))
    t.fail("person_header", "a proxy may name people on a Unix socket only",
           "Give listen = \"unix:PATH\": whoever can open that file can be anybody.");
}

void read_machine(Table& root, Policy& policy) {
  root.table_if_given("network", [&](Table& t) {
    constexpr std::string_view kAddress =
        "For example \"parley.banks.example:7443\", or a list of such to try in turn.";
    if (t.has("listen"))
      t.required("listen", policy.listen, host_and_port,
                 "For example \"parley.banks.example:7443\".");
    t.optional("peers", policy.peers, host_and_port,
               "For example peers = { bank-b = \"bank-b.example:7443\" }.");
    if (t.has("dial") || (policy.listen.empty() && policy.peers.empty()))
      t.required("dial", policy.dial, host_and_port, kAddress);
    if (t.has("proxy"))
      t.required("proxy", policy.proxy, proxy_url, "For example \"http://proxy.example:3128\".");
  });
  root.table_if_given("limits", [&](Table& t) {
    t.optional("threads", policy.threads, at_least(1).up_to(1024), "For example threads = 2.");
    t.optional("memory_mb", policy.memory_mb, at_least(16).up_to(1e9), "For example 4096.");
    t.optional("unpacked_gb", policy.unpacked_gb, above(0).up_to(1e6),
               "The most that a packed file may hold, for example unpacked_gb = 64.");
    t.optional("answer_ms", policy.answer_ms, at_least(0).up_to(30'000),
               "Answers leave at multiples of it, for example answer_ms = 250.");
    t.optional("database_s", policy.database_s, at_least(1).up_to(1e6),
               "How long an engine or a driver may be silent, for example database_s = 3600.");
  });
  root.table_if_given("metrics", [&](Table& t) {
    t.required("listen", policy.metrics_listen, here_or_socket,
               "On this machine: \"127.0.0.1:9464\", or \"unix:/run/parley/metrics.sock\".");
  });
  root.table_if_given("web", [&](Table& t) { read_web(t, policy.web); });
}

void read_worth(Table& t, Worth& worth) {
  t.optional("auc", worth.auc, above(0).below(1), "A difference, for example auc = 0.002.");
  t.optional("rmse", worth.rmse, above(0).below(1), "A share, for example rmse = 0.005.");
  t.optional("log_loss", worth.log_loss, above(0).below(1),
             "A share, for example log_loss = 0.005.");
}

void read_sections(Table& root, Policy& policy) {
  root.only({"owner", "identity", "dataset", "accept", "ledger", "network", "limits", "metrics",
             "web", "worth"});
  root.table("owner", [&](Table& t) { read_owner(t, policy); });
  root.table_if_given("identity", [&](Table& t) { read_identity(t, policy.identity.emplace()); });
  std::set<std::string> names;
  root.each("dataset", {1, kDatasetsMax}, "Describe the data in a [[dataset]] block.",
            [&](Table& t) {
              read_dataset(t, policy.datasets.emplace_back());
              if (!names.insert(policy.datasets.back().name).second)
                t.fail("name", "appears twice, " + in_quotes(policy.datasets.back().name),
                       "Give every data set a name of its own.");
            });
  root.each("accept", {0, kRulesMax}, "Rules are [[accept]] blocks; the first match wins.",
            [&](Table& t) { read_accept(t, policy); });
  root.table_if_given("ledger", [&](Table& t) {
    t.required("witness", policy.witness, Anything{},
               "A file at another place than the state folder, for example \"/mnt/b/witness\".");
  });
  read_machine(root, policy);
  root.table_if_given("worth", [&](Table& t) { read_worth(t, policy.worth); });
}

}  // namespace

std::string Policy::listen_at(const std::string& listen) const {
  constexpr std::string_view kUnix = "unix:";
  if (!listen.starts_with(kUnix)) return listen;
  return std::string(kUnix) + (folder / listen.substr(kUnix.size())).string();
}

/// Nobody agrees to share columns without having said so.
bool Accept::allows_protocol(const Charter& charter) const {
  if (protocols.empty()) return charter.protocol.name() != ProtocolName::kSharing;
  return std::find(protocols.begin(), protocols.end(), charter.protocol.name()) != protocols.end();
}

/// A learner that deals is trusted for masks and noise, and owners to keep to the protocol: that is
/// said apart, or whoever writes the charter could choose it.
bool Accept::allows_dealer(const Charter& charter) const {
  const bool dealt = charter.columns_apart() && !charter.protocol.without_dealer();
  return !dealt || dealer == Dealer::kLearner;
}

/// Sums and sharing hide an owner among others: whoever may invent these may see it.
bool Accept::allows_owners(const Charter& charter, const std::string& us) const {
  const auto named = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::vector<std::string> others;
  for (const Owner& each : charter.owners)
    if (each.name != us) others.push_back(each.name);
  const bool all_there = std::all_of(must_have.begin(), must_have.end(), [&](const auto& name) {
    return name == us || named(others, name);
  });
  const bool no_stranger =
      may_have.empty() || std::all_of(others.begin(), others.end(), [&](const auto& name) {
        return named(may_have, name) || named(must_have, name);
      });
  return all_there && no_stranger && static_cast<int64_t>(others.size()) >= others_min;
}

bool Accept::is_for(const Charter& charter, const std::string& us) const {
  return allows_protocol(charter) && allows_dealer(charter) && allows_owners(charter, us) &&
         consortium == charter.consortium && (!learner || *learner == charter.learner.name);
}

double Policy::epsilon_of(const Charter& charter, const Owner& us, const Accept& rule) const {
  if (charter.privacy.mechanism == MechanismName::kLaplace) return us.epsilon;
  for (const Dataset& data : datasets)
    if (data.name == rule.dataset)
      return privacy::epsilon_at(us.epsilon, us.delta, data.budget.delta);
  return us.epsilon;
}

const Accept* Policy::first_match(const Charter& charter) const {
  if (!charter.complete() || charter.privacy.calibration != Calibration::kSound) return nullptr;
  const auto us = std::find_if(charter.owners.begin(), charter.owners.end(),
                               [&](const Owner& each) { return each.name == owner; });
  if (us == charter.owners.end()) return nullptr;
  const auto rule = std::find_if(accept.begin(), accept.end(), [&](const Accept& each) {
    return each.is_for(charter, owner) && epsilon_of(charter, *us, each) <= each.epsilon_max;
  });
  return rule == accept.end() ? nullptr : &*rule;
}

namespace {

/// What a person can do about it, if that is one line.
Error no_rule(const Policy& policy, const Charter& charter) {
  Policy trusting = policy;
  for (Accept& rule : trusting.accept) rule.dealer = Dealer::kLearner;
  if (trusting.first_match(charter) == nullptr)
    return {Code::kPolicy, policy.owner + "'s policy has no [[accept]] rule for this charter",
            "Nothing matches means refuse: see the policy's accept rules."};
  return {Code::kPolicy,
          policy.owner +
              "'s policy has no [[accept]] rule for a charter with a dealer: its learner "
              "is trusted for masks and noise, and other owners to keep to the protocol",
          "Ask for a charter without a dealer. If you trust them, add this line to the [[accept]] "
          "rule: dealer = \"learner\"",
          {.key = "protocol.dealer"}};
}

}  // namespace

Result<const Dataset*> Policy::dataset_for(const Charter& charter) const {
  TRY(check_protects(charter));
  const Accept* rule = first_match(charter);
  if (rule == nullptr) return no_rule(*this, charter);
  for (const Dataset& data : datasets)
    if (data.name == rule->dataset) return &data;
  return check(false), Error{};  // The reader checks the names.
}

Result<Policy> parse_policy(std::string_view toml, const std::string& file_name) {
  const Value document = TRY(parse_toml(toml, file_name));
  Policy policy;
  Findings findings;
  Table root(document, "", findings);
  read_sections(root, policy);
  root.finish();
  if (findings.first) return *findings.first;
  return policy;
}

Result<Policy> read_policy(const std::filesystem::path& file) {
  const std::string text = TRY(read_file(file, kFileBytesMax));
  Policy policy = TRY(parse_policy(text, file.string()));
  policy.folder = file.parent_path();
  if (auto& credentials = policy.identity) {
    if (credentials->members.empty())
      credentials->members = credentials->authority.parent_path() / kMembersFile;
    for (auto* each : {&credentials->certificate, &credentials->key, &credentials->authority,
                       &credentials->sign_key, &credentials->members, &credentials->revoked,
                       &credentials->learner})
      if (!each->empty()) *each = policy.folder / *each;
    credentials->charters = policy.folder / policy.charters;
    credentials->memory = policy.folder / policy.state;
  }
  return policy;
}

}  // namespace parley::charter
