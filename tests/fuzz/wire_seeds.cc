// Writes the messages of a real job as seeds: wire_seeds CORPUS
#include <deque>
#include <filesystem>

#include "parley/base/entropy.h"
#include "parley/base/files.h"
#include "parley/learn/vertical/model_part.h"
#include "parley/wire/transcript.h"
#include "support/federated_job.h"
#include "support/gossip_node.h"
#include "support/played_job.h"

namespace parley {
namespace {

struct Seeds {
  Bytes from_owner, to_owner, transcript;
};

Seeds run_a_job() {
  Seeds seeds;
  test::TestOwner owners[] = {{1, 1}, {2, 1}};
  protocol::SyncLearner learner(test::unsigned_plan());
  seeds.transcript = wire::transcript_head(test::some_plan().charter, "2026-11-15T08:00:00Z");
  std::deque<protocol::Outgoing> post;
  const auto hear = [&](size_t owner, const Bytes& message) {
    test::append_letter(seeds.from_owner, owner, message);
    const protocol::Step step = *learner.step(owner, message);
    for (const auto& each : step.messages) post.push_back(each);
    if (!step.taken) return;
    const Bytes entry = wire::transcript_entry(owner == 0 ? "one" : "two", *step.taken);
    seeds.transcript.insert(seeds.transcript.end(), entry.begin(), entry.end());
  };
  for (const size_t owner : {0, 1}) learner.attend(owner);
  for (const size_t owner : {0, 1}) hear(owner, owners[owner].owner->connect());
  for (; !post.empty(); post.pop_front()) {
    const protocol::Outgoing letter = post.front();
    if (letter.owner == 0) test::append_letter(seeds.to_owner, 0, letter.message);
    if (const auto reply = *owners[letter.owner].owner->step(letter.message))
      hear(letter.owner, *reply);
  }
  check(learner.finished());
  return seeds;
}

Bytes letters_with(const Bytes& message) {
  Bytes letters;
  test::append_letter(letters, 0, message);
  return letters;
}

Bytes with_notes(Bytes transcript) {
  for (const wire::Note& note : {wire::Note{wire::Note::Kind::kAsked, "one", 1},
                                 wire::Note{.kind = wire::Note::Kind::kClosed},
                                 wire::Note{.kind = wire::Note::Kind::kBegun, .round = 1},
                                 wire::Note{.kind = wire::Note::Kind::kApproved, .owner = "one"},
                                 wire::Note{.kind = wire::Note::Kind::kSum, .values = {1, -2}}}) {
    const Bytes bytes = wire::transcript_note(note);
    transcript.insert(transcript.end(), bytes.begin(), bytes.end());
  }
  return transcript;
}

/// All messages from the owners, and those to the first.
Bytes run_a_federated_job() {
  Bytes letters;
  test::Clinics job(test::sparse_clinics_charter());
  job.on_up = [&](size_t owner, const Bytes& message) {
    test::append_letter(letters, owner, message);
  };
  job.on_down = [&](const protocol::Outgoing& letter) {
    if (letter.owner == 0) test::append_letter(letters, 7, letter.message);
  };
  job.connect_all();
  job.run();
  check(job.learner.finished());
  return letters;
}

/// What the first of two owners that learn without a learner hears of the other.
Bytes run_without_a_learner() {
  Bytes letters;
  test::TestOwner owners[] = {{1, 1e4}, {2, 1e4}};
  std::unique_ptr<protocol::GossipNode> nodes[2];
  std::deque<std::pair<size_t, protocol::Whisper>> post;  // from whom
  const auto send = [&](size_t from, Result<std::vector<protocol::Whisper>> whispers) {
    check(bool(whispers));
    for (auto& each : *whispers) post.emplace_back(from, std::move(each));
  };
  for (const size_t i : {0, 1})
    nodes[i] = test::gossip_node(test::unsigned_plan(), i, owners[i], std::nullopt);
  for (const size_t i : {0, 1}) send(i, nodes[i]->start());
  for (; !post.empty(); post.pop_front()) {
    const auto& [from, letter] = post.front();
    if (letter.to == 0) test::append_letter(letters, 0, letter.message);
    send(letter.to, nodes[letter.to]->step(from, letter.message));
  }
  check(nodes[0]->finished());
  return letters;
}

/// What parties of a model over columns give each other.
struct PartSeeds {
  learn::Manifest manifest{"columns", {1}, {{"one", {2}}, {"two", {3}}}};
  learn::MaskedScores scores{{1}, "one", {2}, "today", 20, {"a", "b"}, {1, 2}};
  learn::PartOfModel part{.owner = "one",
                          .id = "person",
                          .row_norm = 1,
                          .ball = 2,
                          .bits = 12,
                          .fraction = 20,
                          .masks = {{"two", Secret32{4}}}};
  PartSeeds() {
    part.model.schema.columns = {{.name = "age", .low = 0, .high = 99, .missing = 40}};
    part.model.theta = {.5};
    part.model.box = 1;
  }
};

/// What travels only where the graph of a secure sum is drawn.
struct GraphSeeds {
  explicit GraphSeeds(const wire::Envelope& first) {
    reveal = wire::encode(first, wire::FromMember{1, wire::RevealedNumber{}});
    commitments = wire::encode(first, wire::ToMember{1, wire::CommitmentsHash{}});
    const wire::NeighbourKeyList list{{}, {}, {3}, {Hash{1}, Hash{2}}};
    keys = wire::encode(first, wire::ToMember{1, list});
    consents = wire::encode(first, wire::ToMember{1, wire::SurvivorList{{1}, {Signature{}}}});
    hello = wire::encode(first, wire::Hello{wire::kVersion, 0, {}, Signature{}});
    first_query = wire::encode(first, wire::Query{1,
                                                  privacy::Public::from_model({0, 0}),
                                                  privacy::ReleaseKind::kAnswer,
                                                  {Signature{}, Signature{}}});
  }
  Bytes reveal{}, commitments{}, keys{}, consents{}, hello{}, first_query{};
};

/// One of each message that jobs over columns in several places have.
struct SharingSeeds {
  explicit SharingSeeds(const wire::Envelope& first) {
    SystemEntropy entropy;
    const wire::LetterHead head{.from = "one", .to = "two", .session = 1, .round = 1};
    const auto letter = wire::Sealed::seal({}, first.charter, head, Bytes(24), entropy);
    letter_up = wire::encode(first, wire::Letter{letter, wire::Leg::kUp});
    letter_down = wire::encode(first, wire::Letter{letter, wire::Leg::kDown});
    hello = wire::encode(first, wire::Hello{wire::kVersion, 0, wire::VerticalHello{}});
    part = wire::encode(first, wire::ModelPart{"one", {}});
    session = wire::encode(first, wire::Session{1, 1, {{"one", {}, Signature{}}}});
    dealer = wire::encode(first, wire::DealerShare{1, 1, {}, {1, 2}});
    const wire::IdTokens tokens{1, 0, 1, Bytes(2 * wire::kTokenBytes)};
    tokens_up = wire::encode(first, wire::TokensOfIds{tokens, wire::Leg::kUp});
    tokens_down = wire::encode(first, wire::TokensOfIds{tokens, wire::Leg::kDown});
  }
  Bytes letter_up{}, letter_down{}, hello{}, part{}, session{}, dealer{}, tokens_up{},
      tokens_down{};
};

bool write(const std::filesystem::path& file, const std::string& text) {
  return bool(write_file(file, text));
}
bool write(const std::filesystem::path& file, const Bytes& bytes) {
  return write(file, std::string(bytes.begin(), bytes.end()));
}

/// Whole jobs of the kinds that a target chooses from.
bool write_played(const std::filesystem::path& folder, const std::vector<test::JobInput>& jobs) {
  for (size_t which = 0; which < jobs.size(); ++which)
    if (!write(folder / ("job" + std::to_string(which)), test::played(jobs, which))) return false;
  return true;
}

bool write_seeds(const std::filesystem::path& corpus) {
  const Seeds seeds = run_a_job();
  const wire::Envelope first{test::some_plan().charter, 1};
  const Bytes abort = wire::encode(first, wire::Abort{Code::kPolicy, "no"});
  const Bytes refusal = wire::encode(first, wire::Refusal{Code::kPolicy, "no"});
  const Bytes claim = wire::encode(first, wire::Claim{1});
  const Bytes grant = wire::encode(first, wire::Grant{1, true});
  const SharingSeeds sharing(first);
  const GraphSeeds graph(first);
  const PartSeeds parts;
  return write(corpus / "from_owner" / "letter", letters_with(sharing.letter_up)) &&
         write(corpus / "from_owner" / "vertical_hello", letters_with(sharing.hello)) &&
         write(corpus / "from_owner" / "part", letters_with(sharing.part)) &&
         write(corpus / "to_owner" / "letter", letters_with(sharing.letter_down)) &&
         write(corpus / "to_owner" / "session", letters_with(sharing.session)) &&
         write(corpus / "to_owner" / "dealer", letters_with(sharing.dealer)) &&
         write(corpus / "from_owner" / "tokens", letters_with(sharing.tokens_up)) &&
         write(corpus / "to_owner" / "tokens", letters_with(sharing.tokens_down)) &&
         write(corpus / "from_owner" / "approval", letters_with(graph.hello)) &&
         write(corpus / "to_owner" / "approvals", letters_with(graph.first_query)) &&
         write(corpus / "from_owner" / "reveal", letters_with(graph.reveal)) &&
         write(corpus / "to_owner" / "commitments", letters_with(graph.commitments)) &&
         write(corpus / "to_owner" / "graph_keys", letters_with(graph.keys)) &&
         write(corpus / "to_owner" / "consents", letters_with(graph.consents)) &&
         write(corpus / "from_owner" / "job", seeds.from_owner) &&
         write(corpus / "from_owner" / "refusal", letters_with(refusal)) &&
         write(corpus / "from_owner" / "claim", letters_with(claim)) &&
         write(corpus / "to_owner" / "grant", letters_with(grant)) &&
         write(corpus / "to_owner" / "job", seeds.to_owner) &&
         write(corpus / "to_owner" / "abort", letters_with(abort)) &&
         write(corpus / "federated" / "job", run_a_federated_job()) &&
         write(corpus / "gossip" / "job", run_without_a_learner()) &&
         write(corpus / "parts" / "manifest", learn::to_json(parts.manifest)) &&
         write(corpus / "parts" / "scores", learn::to_json(parts.scores)) &&
         write(corpus / "parts" / "part", learn::to_json(parts.part)) &&
         write_played(corpus / "async", test::async_jobs()) &&
         write_played(corpus / "vertical", test::columns_jobs()) &&
         write(corpus / "transcript" / "job", seeds.transcript) &&
         write(corpus / "transcript" / "notes", with_notes(seeds.transcript));
}

}  // namespace
}  // namespace parley

int main(int count, char** words) { return count == 2 && parley::write_seeds(words[1]) ? 0 : 1; }
