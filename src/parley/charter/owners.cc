// [[owner]], [learner] and [network]: who takes part.
#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/math/number.h"
#include "parley/charter/sections.h"
#include "parley/learn/vertical/cells/cell_columns.h"

namespace parley::charter {
namespace {

/// A power of ten, at most a tenth of 1/rows and 1e-6.
std::string far_below(int64_t rows) {
  const double power = std::ceil(std::log10(std::max(1.0, static_cast<double>(rows)))) + 1;
  return " a delta far below 1/rows, for example delta = 1e-" +
         std::to_string(std::max(6, static_cast<int>(power))) + ".";
}

/// While a draft leaves the mechanism open, a delta says that the owner would accept it.
void check_delta(Table& t, const Owner& owner, std::optional<MechanismName> mechanism) {
  if (mechanism == MechanismName::kLaplace && owner.delta != 0)
    t.fail("delta", "must be 0 for mechanism laplace, found " + shortest(owner.delta),
           "Leave delta out, or take mechanism = \"gaussian\".");
  if (mechanism && mechanism != MechanismName::kLaplace && owner.delta == 0)
    t.fail("delta",
           "must be above 0 for mechanism " + std::string(name_of(*mechanism)) + ", found 0",
           "Give " + owner.name + far_below(owner.rows));
  // With delta = 1/n a mechanism may publish one whole record (theory (N6)).
  if (owner.delta * static_cast<double>(owner.rows) >= 1)
    t.fail("delta",
           "must be below 1/rows, which is " + significant(1 / static_cast<double>(owner.rows)) +
               ", found " + shortest(owner.delta),
           "Take" + far_below(owner.rows));
}

/// Every column an owner lists must be described, and be its own.
void check_columns(Table& t, const Owner& owner, const Charter& charter) {
  const auto& columns = charter.schema.columns;
  for (const std::string& name : owner.columns) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const data::Column& c) { return c.name == name; });
    if (found == columns.end())
      return t.fail("columns", "names " + in_quotes(name) + ", which no [[column]] describes",
                    "Add a [[column]] block with this name.");
    const std::string& holder = charter.column_owners[found - columns.begin()];
    if (holder != owner.name)
      return t.fail("columns",
                    "names " + in_quotes(name) + ", which belongs to " + in_quotes(holder),
                    "Give the column to one owner.");
  }
}

std::string address_or_nothing(std::string_view text) {
  return text.empty() ? "" : host_and_port(text);
}

/// Where an owner listens, if there is no learner to whom all others come.
void read_address(Table& t, const Charter& charter, Owner& owner) {
  t.optional("address", owner.address, address_or_nothing,
             "For example address = \"bank-a.example:7443\".");
  if (owner.address.empty())
    t.leave_out("address");
  else if (charter.central())
    t.fail("address", "is for charters with protocol.copies or protocol.graph",
           "Owners dial the learner: leave it out, and give [learner] an address.");
}

void read_owner(Table& t, Charter& charter) {
  Owner& owner = charter.owners.emplace_back();
  owner.delta = charter.privacy.delta;
  t.required("name", owner.name, any_name, "Name the owner, for example name = \"bank-a\".");
  const std::string budget = "Give " + (owner.name.empty() ? "the owner" : owner.name) +
                             "'s total budget for this job, for example epsilon = 1.0.";
  t.required("epsilon", owner.epsilon, above(0).up_to(1e4), budget);
  t.optional("delta", owner.delta, at_least(0).below(1), "For example delta = 0.0.");
  t.optional("sign_key", owner.sign_key, Anything{}, "`parley join` makes it.");
  read_address(t, charter, owner);
  if (charter.records) {
    owner.rows = charter.records->count;
    t.required("columns", owner.columns, Count{1, charter.schema.columns.size()},
               "List the columns this owner holds, for example columns = [\"age\"].");
    if (!charter.protocol.without_dealer())
      t.required("max_row_norm", owner.max_row_norm, at_least(1e-30).up_to(1e30),
                 "Give this owner's part of privacy.max_row_norm, for example 0.7.");
    else if (t.has("max_row_norm"))
      fail_given_norm(t);
    check_columns(t, owner, charter);
  } else {
    t.required("rows", owner.rows, at_least(1).up_to(1e12),
               "Give the number of records, which is public, for example rows = 10000.");
  }
  const Async* async = charter.protocol.as<Async>();
  if (async != nullptr && async->rates == Rates::kDeclared)
    t.required("rate", owner.rate, above(0).up_to(1e6), "Declared rates: for example rate = 1.0.");
  check_delta(
      t, owner,
      t.undecided("privacy.mechanism") ? std::nullopt : std::optional(charter.privacy.mechanism));
}

bool is_owner(const Charter& charter, std::string_view name) {
  return std::any_of(charter.owners.begin(), charter.owners.end(),
                     [&](const Owner& owner) { return owner.name == name; });
}

/// Without a dealer the longest rows follow from the cells.
void derive_norms(Charter& charter) {
  const int bits = learn::cell_bits(charter.schema);
  double whole = 0;
  for (Owner& owner : charter.owners) {
    double squares =
        charter.schema.bias && owner.name == charter.target_owner ? std::ldexp(1, 2 * bits) : 0;
    for (size_t i = 0; i < charter.schema.columns.size(); ++i)
      if (charter.column_owners[i] == owner.name)
        squares += learn::largest_square(charter.schema.columns[i]);
    owner.max_row_norm = std::ldexp(std::sqrt(squares), -bits);
    whole += squares;
  }
  charter.privacy.max_row_norm = std::ldexp(std::sqrt(whole), -bits);
}

/// Sharing: together the owners' parts cover every column, and fit the norm of a whole row.
void check_parts(Table& root, const Charter& charter) {
  size_t listed = 0;
  double squares = 0;
  for (const Owner& owner : charter.owners) {
    listed += owner.columns.size();
    squares += owner.max_row_norm * owner.max_row_norm;
  }
  const double limit = charter.privacy.max_row_norm * charter.privacy.max_row_norm;
  if (squares > limit && !charter.protocol.without_dealer())
    root.fail("owner",
              "parts of max_row_norm have squares that add up to " + shortest(squares) +
                  ", more than privacy.max_row_norm squared, " + shortest(limit),
              "Shorten the parts: with two owners 0.7071 each fits 1.0.");
  if (listed != charter.schema.columns.size())
    root.fail("column",
              "blocks are " + std::to_string(charter.schema.columns.size()) + ", but owners list " +
                  std::to_string(listed) + " columns",
              "Add every column to the columns of its owner.");
  if (!is_owner(charter, charter.target_owner))
    root.fail("target", "names " + in_quotes(charter.target_owner) + ", which is no owner",
              "Set target.owner to the owner that holds the label.");
}

}  // namespace

void read_owners(Table& root, Charter& charter) {
  std::set<std::string> names;
  std::set<Hash> keys;
  root.each("owner", {1, kOwnersMax}, "Add an [[owner]] block for every owner.", [&](Table& t) {
    read_owner(t, charter);
    const Owner& owner = charter.owners.back();
    if (!names.insert(owner.name).second)
      t.fail("name", "appears twice, " + in_quotes(owner.name),
             "Give every owner a name of its own.");
    if (owner.sign_key && !keys.insert(owner.sign_key->bytes).second)
      t.fail("sign_key", "appears twice", "Give every owner a key of its own.");
  });
  if (charter.protocol.without_dealer()) derive_norms(charter);
  if (charter.records) check_parts(root, charter);
}

void fail_given_norm(Table& t) {
  t.fail("max_row_norm", "is given, but without a dealer it follows from the columns' cells",
         "Leave it out, or say protocol.dealer = \"learner\".");
}

namespace {

/// Every name an owner's, and every owner to be reached from the first.
void check_graph(Table& root, const Charter& charter) {
  const auto& graph = charter.protocol.learners.graph;
  const auto fail = [&](const std::string& what, std::string_view hint) {
    root.fail("protocol.graph", what, hint);
  };
  for (const auto& edge : graph)
    for (const std::string& name : edge)
      if (!is_owner(charter, name))
        return fail("names " + in_quotes(name) + ", which is no owner",
                    "Join owners of this charter with each other.");
  std::set<std::string> reached = {charter.owners.front().name};
  for (size_t before = 0; before < reached.size();) {
    before = reached.size();
    for (const auto& [a, b] : graph) {
      if (reached.contains(a)) reached.insert(b);
      if (reached.contains(b)) reached.insert(a);
    }
  }
  for (const Owner& owner : charter.owners)
    if (!reached.contains(owner.name))
      return fail("does not join " + in_quotes(owner.name) + " with " +
                      in_quotes(charter.owners.front().name),
                  "Answers travel along the graph: every owner must be reached.");
}

void check_without_learner(Table& root, const Charter& charter) {
  if (root.has("learner"))
    root.fail("learner", "is given, but with protocol.copies or protocol.graph every owner learns",
              "Remove [learner].");
  if (charter.protocol.learners.copies && charter.owners.size() < 2)
    root.fail("owner", "needs to be two at least for protocol.copies", "Add owners.");
  if (!charter.protocol.learners.graph.empty() && !charter.owners.empty())
    check_graph(root, charter);
}

/// Without a dealer an owner may pass on letters that it cannot read; else the learner deals noise,
/// or it learns.
void check_learner(Table& t, const Charter& charter) {
  const Protocol& protocol = charter.protocol;
  const std::string& name = charter.learner.name;
  const bool both = is_owner(charter, name);
  if (charter.columns_apart()) {
    if (both && !protocol.without_dealer())
      t.fail("name", "must not be an owner's under sharing, found " + in_quotes(name),
             "The learner deals the noise, so it must hold no data.");
    return;
  }
  if (both != protocol.learners.owner.has_value() && protocol.as<Federated>() == nullptr)
    t.fail("name",
           both ? "is an owner's, which needs protocol.owner_learner"
                : "is no owner's, but protocol.owner_learner is given",
           "An owner that learns says how, for example owner_learner = \"own_noise\".");
}

}  // namespace

void read_learner(Table& root, Charter& charter) {
  Learner& learner = charter.learner;
  if (!charter.central()) return check_without_learner(root, charter);
  root.table("learner", [&](Table& t) {
    t.required("name", learner.name, any_name, "Name it, for example name = \"central-bank\".");
    t.optional("address", learner.address, address_or_nothing,
               "For example address = \"parley.banks.example:7443\".");
    check_learner(t, charter);
  });
}

void read_network(Table& root, Charter& charter) {
  Network& network = charter.network;
  const auto owners = static_cast<int64_t>(charter.owners.size());
  const auto& secure = charter.secure_aggregation;
  network.quorum = secure ? secure->survivors : charter.protocol.one_at_a_time() ? 1 : owners;
  root.table("network", [&](Table& t) {
    t.optional("deadline_s", network.deadline_s, at_least(1).up_to(1e6),
               "Seconds for one answer, for example deadline_s = 60.");
    const Sync* sync = charter.protocol.as<Sync>();
    if (sync == nullptr || secure) return;
    t.optional(
        "quorum", network.quorum, at_least(1).up_to(static_cast<double>(owners)),
        "Owners that must answer a round, for example quorum = " + std::to_string(owners) + ".");
    const bool tolerant = sync->rule == Rule::kConstant || sync->rule == Rule::kAlgorithm2;
    if (network.quorum < owners && !tolerant)
      t.fail("quorum",
             "below all owners needs rule constant or algorithm2, found " +
                 std::to_string(network.quorum) + " of " + std::to_string(owners),
             "Leave quorum out, or change protocol.rule.");
  });
}

}  // namespace parley::charter
