#include "parley/net/neighbours.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "parley/net/gossip_session.h"
#include "parley/net/owner_service.h"
#include "parley/net/transport/server.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"

namespace parley::net {
namespace {

using charter::Charter, charter::Policy;
using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRemindTick{200};

/// What everything is made of, before anyone is heard.
struct Setup {
  const Charter& charter;  // as agreed
  const Charter& job;
  size_t self = 0;
  std::vector<size_t> dialled{}, expected{};  // neighbours before and after it in the charter
  plan::SyncPlan plan{};
};

Result<Setup> set_up(const Policy& policy, const Ready& ready) {
  Setup setup{.charter = ready.charter, .job = ready.jobs.front()};
  const auto& owners = setup.charter.owners;
  while (owners[setup.self].name != policy.owner) ++setup.self;
  for (size_t each : plan::neighbours_of(setup.charter, setup.self))
    (each < setup.self ? setup.dialled : setup.expected).push_back(each);
  const std::filesystem::path folders[] = {setup.charter.folder, policy.folder};
  const auto pilot = TRY(charter::load_pilot(setup.charter, folders));
  setup.plan = TRY(plan::sync_plan(setup.job, pilot.get()));
  TRY(plan::require_signatures(setup.plan.owners, setup.charter));
  return setup;
}

/// An answer and its receipt, a proof, and the names of everybody.
size_t longest_message(const plan::SyncPlan& plan) {
  size_t names = 0;
  for (const auto& owner : plan.owners) names += owner.name.size() + 8;
  return std::min(8 * plan.numbers() + 8192 + names, wire::kMessageBytesMax);
}

Result<std::map<size_t, Dial>> dials_of(const Policy& policy, const Setup& setup) {
  std::map<size_t, Dial> dials;
  for (size_t each : setup.dialled) {
    Charter towards = setup.job;
    towards.learner = {setup.charter.owners[each].name, setup.charter.owners[each].address};
    Dial dial = TRY(dial_for(policy, setup.charter, towards, ""));
    dial.longest = longest_message(setup.plan);
    dials.emplace(each, std::move(dial));
  }
  return dials;
}

/// An owner that listens is a learner to those who dial it.
/// As a learner, which the neighbours that dial expect.
charter::Identity serving_files(const Policy& policy) {
  const std::filesystem::path name = policy.identity->learner / policy.owner;
  return {.consortium = policy.identity->consortium,
          .certificate = name.string() + ".crt",
          .key = name.string() + ".key",
          .authority = policy.identity->authority,
          .sign_key = {},
          .revoked = policy.identity->revoked,
          .charters = policy.identity->charters,
          .memory = policy.identity->memory};
}

Result<Credentials> serving_credentials(const Policy& policy, Clock& clock) {
  if (policy.identity->learner.empty())
    return Error{
        Code::kInvalid,
        "neighbours dial this owner, and it has no certificate of role learner to show them",
        "Type `parley join --role learner`, and name its folder: [identity] learner.",
        {.key = "identity.learner"}};
  Credentials credentials = TRY(read_credentials(serving_files(policy), clock));
  const Identity us{policy.identity->consortium, "learner", policy.owner};
  if (credentials.identity == us) return credentials;
  return Error{Code::kInvalid,
               "the certificate is " + credentials.identity.uri() + ", needed is " + us.uri(),
               "Join with --role learner and this owner's name.",
               {.file = serving_files(policy).certificate.string()}};
}

Result<std::string> listen_on(const Policy& policy, const Charter& charter, size_t self,
                              const std::string& instead) {
  if (!instead.empty()) return instead;
  if (!policy.listen.empty()) return policy.listen;
  const std::string address = charter.owners[self].address.first();
  if (const size_t colon = address.rfind(':'); colon != std::string::npos)
    return "[::]" + address.substr(colon);
  return Error{Code::kInvalid,
               "neighbours dial this owner, and neither policy nor charter says where",
               "Add address = \"host:port\" to its [[owner]], or [network] listen to the policy.",
               {.key = "owner.address"}};
}

std::vector<Identity> expected_in(const Setup& setup) {
  std::vector<Identity> expected;
  for (size_t each : setup.expected)
    expected.push_back({setup.charter.consortium, "owner", setup.charter.owners[each].name});
  return expected;
}

/// The streams of one job, each neighbour's in one thread of these.
class Streams {
 public:
  Streams(GossipSession& session, const Setup& setup, const NeighbourOptions& options)
      : session_(session),
        setup_(setup),
        patience_(options.patience),
        takeover_(options.takeover) {}

  /// From now on the neighbours that dial.
  void keep_door(Server& host) {
    host_ = &host;
    threads_.emplace_back([this] { door(); });
  }
  /// From now on a neighbour that is dialled, again whenever the line breaks.
  void call(size_t neighbour, const Dial& dial, const LiveCredentials& credentials) {
    threads_.emplace_back(
        [this, neighbour, dial, &credentials] { dial_on(neighbour, dial, credentials); });
  }
  void end() {
    over_ = true;
    if (host_ != nullptr) host_->wake();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void dial_on(size_t neighbour, const Dial& dial, const LiveCredentials& credentials) {
    auto pause = patience_.first_pause;
    std::string said;  // The same trouble is logged once.
    while (!over_) {
      bool heard = false;
      const auto ended = talk(neighbour, dial, credentials, heard);
      if (over_ || ended) return;
      if (ended.error().code != Code::kUnavailable) return session_.fail(ended.error());
      if (ended.error().what != std::exchange(said, ended.error().what))
        session_.say({log::kWaiting, "waiting for " + session_.name(neighbour) + " at " +
                                         to_text(dial.address) + ": " + said});
      if (heard) pause = patience_.first_pause;
      rest(pause);
      pause = std::min(2 * pause, patience_.longest_pause);
    }
  }

  void rest(std::chrono::milliseconds pause) const {
    const auto until = Steady::now() + pause;
    while (!over_ && Steady::now() < until)
      std::this_thread::sleep_for(std::min<Steady::duration>(until - Steady::now(), kRemindTick));
  }

  /// One stream, until it ends. A message that the neighbour must not send ends only that.
  Result<void> talk(size_t neighbour, const Dial& dial, const LiveCredentials& credentials,
                    bool& heard) {
    Client line = TRY(Client::open(credentials, dial, over_, kTalk));
    Outbox& outbox = session_.outbox(neighbour);
    outbox.open([&] { line.wake(); });
    session_.connected(neighbour, "is dialled at " + line.address());
    const auto ended = [&]() -> Result<void> {
      while (!over_) {
        while (const auto message = outbox.take()) TRY(line.write(*message));
        const auto message = TRY(line.read_until(Steady::time_point::max()));
        if (!message) continue;
        heard = true;
        if (const auto taken = session_.hear(neighbour, *message); !taken)
          return Error{Code::kUnavailable, "refused: " + taken.error().what};
      }
      return {};
    }();
    outbox.close();  // Before the line goes.
    return ended;
  }

  void door() {
    while (!over_) {
      Event event = host_->next(kRemindTick);
      if (auto* arrived = std::get_if<Arrived>(&event)) admit(*arrived);
      if (auto* said = std::get_if<Said>(&event)) hear(*said);
      if (auto* left = std::get_if<Left>(&event)) part(left->connection);
      for (const auto& [neighbour, stream] : streams_)
        while (auto message = session_.outbox(neighbour).take())
          host_->send(stream.connection, *std::move(message));
    }
    for (const auto& [neighbour, stream] : streams_) session_.outbox(neighbour).close();
  }

  void admit(const Arrived& arrived) {
    for (size_t each : setup_.expected) {
      if (arrived.identity != Identity{setup_.charter.consortium, "owner", session_.name(each)})
        continue;
      if (const auto older = streams_.find(each); older != streams_.end()) {
        if (is_at_work(older->second.heard, takeover_))
          return host_->turn_away(arrived.connection,
                                  arrived.identity.uri() + " at " + arrived.address,
                                  other_is_at_work());
        host_->dismiss(older->second.connection, newer_took_over());
      }
      streams_.insert_or_assign(each, Stream{arrived.connection});
      session_.outbox(each).open([this] { host_->wake(); });
      return session_.connected(each, "attends from " + arrived.address);
    }
    host_->turn_away(arrived.connection, arrived.identity.uri(), not_expected(arrived.identity));
  }

  Error not_expected(const Identity& identity) const {
    return {Code::kPolicy,
            identity.uri() + " is no owner that dials " + session_.name(setup_.self) +
                " in charter " + to_hex(setup_.charter.hash).substr(0, 12),
            "Neighbours are in protocol.graph, and the one that is later in the charter dials."};
  }

  void hear(const Said& said) {
    const auto found = stream_of(said.connection);
    if (found == streams_.end()) return;
    if (const auto taken = session_.hear(found->first, said.message); !taken) {
      session_.say(
          {log::kRefused, "refused " + session_.name(found->first) + ": " + taken.error().what});
      host_->dismiss(said.connection, {Code::kUnavailable, taken.error().what});
      return part(said.connection);
    }
    found->second.heard = Steady::now();
    host_->hear_on(said.connection);
  }

  void part(ConnectionId connection) {
    const auto found = stream_of(connection);
    if (found == streams_.end()) return;
    session_.outbox(found->first).close();
    if (!over_) session_.say({log::kLeft, session_.name(found->first) + " left"});
    streams_.erase(found);
  }

  /// Of a neighbour that has dialled us.
  struct Stream {
    ConnectionId connection{};
    std::optional<Steady::time_point> heard{};
  };
  std::map<size_t, Stream>::iterator stream_of(ConnectionId connection) {
    return std::find_if(streams_.begin(), streams_.end(),
                        [&](const auto& each) { return each.second.connection == connection; });
  }

  GossipSession& session_;
  const Setup& setup_;
  const Patience& patience_;
  const std::chrono::milliseconds takeover_;
  Server* host_ = nullptr;
  std::map<size_t, Stream> streams_{};  // by place
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_{};
};

/// The journal, and the node as far as it goes: what it restores, the ledger is asked about.
Result<Journal> open_journal(const std::filesystem::path& out, const Hash& charter, Clock& clock,
                             protocol::GossipNode& node, std::mutex& ledger) {
  Journal journal = TRY(Journal::open(out / "journal.pb", charter, clock.now()));
  wire::Transcript transcript{.charter = charter, .started = journal.started()};
  TRY(journal.replay(
      [&](wire::Entry entry) {
        return transcript.entries.push_back(std::move(entry)), Result<void>();
      },
      [&](wire::Note note) {
        return transcript.notes.push_back(std::move(note)), Result<void>();
      }));
  const std::lock_guard lock(ledger);
  TRY(node.restore(transcript));
  return journal;
}

}  // namespace

Result<std::optional<Hash>> learn_with_neighbours(const OwnerContext& context, const Ready& ready,
                                                  const LiveCredentials& credentials,
                                                  const NeighbourOptions& options, Clock& clock,
                                                  const std::atomic<bool>& stop, const Log& say) {
  const Policy& policy = context.policy;
  const Setup setup = TRY(set_up(policy, ready));
  const auto dials = TRY(dials_of(policy, setup));
  std::unique_ptr<Server> host;
  std::optional<CredentialsWatch> watch;
  if (!setup.expected.empty()) {
    const LiveCredentials serving = TRY(serving_credentials(policy, clock));
    watch.emplace(
        serving, serving_files(policy), [&] { return serving_credentials(policy, clock); }, clock,
        say);
    const std::string address = TRY(listen_on(policy, setup.charter, setup.self, options.listen));
    host = TRY(Server::listen({.address = address,
                               .longest = longest_message(setup.plan),
                               .expected = expected_in(setup),
                               .call = kTalk},
                              serving, say));
    say({log::kListening, "listening on port " + std::to_string(host->port())});
  }
  auto gate = TRY(open_gate(context, ready, setup.job));
  protocol::GossipNode node(setup.plan,
                            {setup.self, plan::neighbours_of(setup.charter, setup.self)},
                            std::move(gate), ready.key);
  const ReceiptBook book(options.receipts);
  for (size_t i = 0; i < setup.plan.owners.size(); ++i) {
    auto newest = TRY(book.newest(setup.plan.owners[i].name, *setup.plan.owners[i].sign_key));
    if (newest) node.remember(i, *std::move(newest));
  }
  Journal journal = TRY(open_journal(options.out, setup.job.hash, clock, node, context.mutex));
  GossipSession session({context, setup.job, options, say}, std::move(node), std::move(journal));
  Streams streams(session, setup, options);
  const auto model = [&]() -> Result<Hash> {
    if (host) streams.keep_door(*host);
    for (const auto& [neighbour, dial] : dials) streams.call(neighbour, dial, credentials);
    return session.wait(stop);
  }();
  streams.end();
  session.keep_receipts();
  if (!model) return model.error();
  return std::optional(*model);
}

}  // namespace parley::net
