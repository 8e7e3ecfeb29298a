// [model] and [protocol]: what is trained and by which rule. Each protocol has its own keys.
#include "parley/charter/sections.h"

namespace parley::charter {
namespace {

constexpr Range kRounds = at_least(1).up_to(1e6);
constexpr Range kNorm = at_least(1e-30).up_to(1e30);

constexpr std::string_view kRoundsHint = "Give the answers of one owner, for example rounds = 3.";

/// The output each rule was made for (theory (D2) to (D5)).
Average average_of(Rule rule) {
  switch (rule) {
    case Rule::kAlgorithm2:
      return Average::kPaper;
    case Rule::kConstant:
    case Rule::kPilotNewton:
    case Rule::kGradients:
    case Rule::kNoisySharing:
      return Average::kTail;
    default:
      return Average::kNone;
  }
}

/// Rounds, step, momentum and average, of sync or vertical. Once rule, rounds and step are given,
/// the other two have defaults; in a draft the forecaster chooses them as well.
template <class Kind>
void read_descent(Table& t, Protocol& p, Kind& kind, bool rule_known) {
  const bool rounds = t.forecast("rounds", p.rounds, kRounds, kRoundsHint);
  const bool step = t.forecast("step", p.step, above(0).up_to(1e12), "For example step = 1.0.");
  constexpr std::string_view kMomentum = "For example momentum = 0.0.";
  constexpr std::string_view kAverage = "For example average = \"tail\".";
  kind.average = average_of(kind.rule);
  if (rule_known && rounds && step) {
    t.optional("momentum", kind.momentum, at_least(0).below(1), kMomentum);
    t.optional("average", kind.average, Anything{}, kAverage);
  } else {
    t.forecast("momentum", kind.momentum, at_least(0).below(1), kMomentum);
    t.forecast("average", kind.average, Anything{}, kAverage);
  }
}

void read_once(Table& t, Protocol& p) {
  p.rounds = 1;
  t.optional("rounds", p.rounds, at_least(1).up_to(1), "Owners are asked once: rounds = 1.");
}

void check_start(Table& t, const Charter& charter) {
  if (charter.protocol.start == Start::kPilot && !charter.pilot)
    t.fail("start", "is \"pilot\", but there is no [pilot]",
           "Add a [pilot] section, or take start = \"zero\".");
}

void check_sync_rule(Table& t, const Charter& charter, Rule rule) {
  const auto needs = [&](bool met, std::string_view what, std::string_view hint) {
    if (!met) t.fail("rule", "needs " + std::string(what), hint);
  };
  const Model& model = charter.model;
  if (rule == Rule::kPilotNewton) {
    needs(charter.pilot.has_value(), "a [pilot] for pilot_newton",
          "Add one, or rule = \"constant\".");
    needs(model.loss != Loss::kHinge, "a loss with curvature for pilot_newton",
          "For the hinge loss take rule = \"strongly_convex\".");
  }
  if (rule == Rule::kDistance) {
    needs(charter.pilot.has_value(), "a [pilot] for distance",
          "Add one: how much owners differ is measured from the optimum of public rows.");
    needs(model.loss != Loss::kHinge, "a loss with curvature for distance",
          "Take loss = \"logistic\".");
  }
  if (rule == Rule::kGram)
    needs(model.loss != Loss::kHinge, "a loss with curvature for gram",
          "Take loss = \"logistic\".");
  if (rule == Rule::kStatistics)
    needs(model.loss == Loss::kSquared, "loss = \"squared\" for statistics",
          "Take another rule, for example \"constant\".");
  if (rule == Rule::kStronglyConvex)
    needs(model.l2 > 0, "model.l2 above 0 for strongly_convex",
          "Give model.l2, or take another rule, for example \"constant\".");
}

void check_learners(Table& t, const Protocol& p) {
  const Learners& learners = p.learners;
  const bool statistics = learners.owner == OwnerLearner::kStatistics;
  if (statistics && p.one_at_a_time())
    t.fail("owner_learner",
           "= \"statistics\" is for protocol sync: moments are released once and have no order in "
           "which owners come",
           "Take protocol.name = \"sync\" with rule = \"statistics\", or \"others_first\".");
  else if (learners.owner && learners.owner != OwnerLearner::kOwnNoise &&
           learners.owner != OwnerLearner::kExact && statistics != p.statistics())
    t.fail("owner_learner",
           statistics ? "= \"statistics\" needs rule = \"statistics\""
                      : "= \"others_first\" is for rules that ask for gradients, found statistics",
           statistics ? "Take owner_learner = \"others_first\"."
                      : "Take owner_learner = \"statistics\".");
  if (learners.publish && learners.copies)
    t.fail("publish", "is for one learner, found copies = true",
           "Every copy stays with its owner: leave publish out.");
  if (learners.copies && !learners.owner)
    t.fail("copies", "needs protocol.owner_learner, which says how an owner learns",
           "For example owner_learner = \"others_first\".");
  if (!learners.graph.empty() && (learners.copies || learners.owner))
    t.fail("graph", "goes without owner_learner and copies: all owners learn one model",
           "Leave out owner_learner and copies.");
}

/// Who learns, if not a party without records. None of it has a default that would have a text.
void read_learners(Table& t, Protocol& p) {
  Learners& learners = p.learners;
  t.optional("owner_learner", learners.owner, Anything{}, "For example \"own_noise\".");
  if (learners.owner == OwnerLearner::kOthersFirst) {
    t.optional("prox", learners.prox, at_least(1e-6).up_to(1e6),
               "How strongly the tuned model is held to the others', prox = 1.0.");
    t.optional("publish", learners.publish, Anything{}, "For example publish = false.");
  }
  t.optional("copies", learners.copies, Anything{},
             "Every owner learns for itself: copies = true.");
  if (!learners.copies) t.leave_out("copies");
  if (!p.one_at_a_time())
    t.optional("graph", learners.graph, Anything{},
               "For example graph = [[\"bank-a\", \"bank-b\"]].");
  else if (t.has("graph"))
    t.fail(
        "graph",
        "is for protocol sync: under async a question depends on the order of the answers before "
        "it, which nobody records without a learner",
        "Take protocol.name = \"sync\", or copies = true.");
  if (learners.graph.empty()) t.leave_out("graph");
  check_learners(t, p);
}

/// The defaults have no text: charters from before them have the same hash.
void read_on_alarm(Table& t, Sync& sync) {
  t.optional("on_alarm", sync.on_alarm, Anything{}, "For example on_alarm = \"ask\".");
  if (sync.on_alarm == OnAlarm::kContinue) t.leave_out("on_alarm");
  t.optional("tau", sync.tau, at_least(0).up_to(1e6),
             "How much owners are known to differ, for example tau = 0.05.");
  if (sync.tau == 0) t.leave_out("tau");
}

/// Its steps are fixed: 1, 1, then 2/(k + 1); with momentum all 1. No momentum has no text:
/// charters from before it have the same hash.
void read_gram(Table& t, Protocol& p, Sync& sync) {
  t.forecast("rounds", p.rounds, kRounds, "Gradients after the Gram matrix, rounds = 20.");
  t.optional("momentum", sync.momentum, at_least(0).below(1), "For example momentum = 0.5.");
  if (sync.momentum == 0) t.leave_out("momentum");
  p.step = 1;
}

void read_sync(Table& t, Charter& charter) {
  Protocol& p = charter.protocol;
  Sync& sync = p.kind.emplace<Sync>();
  const bool known = t.forecast(
      "rule", sync.rule,
      Among<Rule>{Rule::kAlgorithm1, Rule::kAlgorithm2, Rule::kConstant, Rule::kStronglyConvex,
                  Rule::kPilotNewton, Rule::kStatistics, Rule::kDistance, Rule::kGram},
      "For example rule = \"pilot_newton\".");
  if (known) check_sync_rule(t, charter, sync.rule);
  const bool once = known && p.once();
  if (known && sync.rule == Rule::kGram)
    read_gram(t, p, sync);
  else
    once ? read_once(t, p) : read_descent(t, p, sync, known);
  if (known && (sync.rule == Rule::kPilotNewton || p.distance())) p.start = Start::kPilot;
  if (!once) t.optional("start", p.start, Anything{}, "For example start = \"zero\".");
  check_start(t, charter);
  if (!known || sync.rule == Rule::kPilotNewton) read_on_alarm(t, sync);
  t.optional("weights", p.weights, Among<Weights>{Weights::kRows, Weights::kNoiseOptimal},
             "For example weights = \"rows\".");
  if (p.weights == Weights::kNoiseOptimal && once)
    t.fail("weights",
           "= \"noise_optimal\" is for rules that ask for gradients, found " +
               std::string(name_of(sync.rule)),
           "Take weights = \"rows\".");
  else if (p.weights == Weights::kNoiseOptimal && !charter.pilot)
    t.fail("weights", "= \"noise_optimal\" is computed from public rows, but there is no [pilot]",
           "Add a [pilot] section, or take weights = \"rows\".");
  read_learners(t, p);
}

void read_async(Table& t, Charter& charter, size_t owners) {
  Protocol& p = charter.protocol;
  Async& async = p.kind.emplace<Async>();
  Rule rule = Rule::kPaper;
  t.optional("rule", rule, Among<Rule>{Rule::kPaper}, "Equations (5)-(7): rule = \"paper\".");
  const bool rounds = t.forecast("rounds", p.rounds, kRounds,
                                 "Give the rounds of all owners together, rounds = 1000.");
  read_learners(t, p);
  if (p.learners.owner == OwnerLearner::kOthersFirst && owners > 1) --owners;  // that are asked
  constexpr std::string_view kAnswers = "The most answers of one owner, for example answers = 12.";
  if (rounds && owners > 0) {
    async.answers = (p.rounds + static_cast<int64_t>(owners) - 1) / static_cast<int64_t>(owners);
    t.optional("answers", async.answers, at_least(1).up_to(static_cast<double>(p.rounds)),
               kAnswers);
    if (async.answers <
        (p.rounds + static_cast<int64_t>(owners) - 1) / static_cast<int64_t>(owners))
      t.fail("answers",
             "of " + std::to_string(owners) + " owners make fewer than the " +
                 std::to_string(p.rounds) + " rounds, found " + std::to_string(async.answers),
             "Take fewer rounds, or at least rounds / owners answers.");
  } else {
    t.forecast("answers", async.answers, kRounds, kAnswers);
  }
  t.forecast("step", p.step, above(0).up_to(1e12), "Give a = rho/(T^2 sigma), step = 0.1.");
  t.optional("output", async.output, Anything{}, "For example output = \"tail\".");
  t.optional("contact", async.contact, Anything{}, "For example contact = \"owner_requests\".");
  t.optional("rates", async.rates, Anything{}, "For example rates = \"equal\".");
  removed(t, "clock", "clocks are always Poisson");
}

void read_federated(Table& t, Charter& charter) {
  Protocol& p = charter.protocol;
  Federated& federated = p.kind.emplace<Federated>();
  t.forecast("rounds", p.rounds, kRounds, "Give the number of aggregations, rounds = 20.");
  const bool steps = t.forecast("local_steps", federated.local_steps, kRounds,
                                "Give K, for example local_steps = 10.");
  t.forecast("step", p.step, above(0).up_to(1e12), "At most 2/(L + lambda), step = 1.0.");
  t.optional("schedule", federated.schedule, Anything{}, "For example schedule = \"constant\".");
  t.optional("start", p.start, Anything{}, "For example start = \"zero\".");
  check_start(t, charter);
  t.optional("weights", p.weights, Among<Weights>{Weights::kRows, Weights::kParties},
             "For example weights = \"rows\".");
  t.optional("level", federated.level, Anything{}, "For example level = \"record\".");
  if (federated.level == Level::kParty)
    t.required("max_update_norm", federated.max_update_norm, kNorm,
               "Clip updates, max_update_norm = 1.0.");
  // The sensitivity of several local steps is proved for smooth losses (theory (F2)).
  if (charter.model.loss == Loss::kHinge && federated.level == Level::kRecord && steps &&
      federated.local_steps > 1)
    t.fail("local_steps", "above 1 needs a smooth loss, found hinge",
           "Take local_steps = 1, loss = \"logistic\", or level = \"party\".");
}

/// Constants that only some losses have.
void read_loss_constants(Table& t, Model& model) {
  const std::string loss(name_of(model.loss));
  const bool two_classes = learn::two_classes(loss_of(model));
  if (model.loss == Loss::kHuber)
    t.optional("huber_delta", model.huber_delta, at_least(1e-30).up_to(1e30),
               "Where the loss turns straight, in units of the label: huber_delta = 1.0.");
  else if (t.has("huber_delta"))
    t.fail("huber_delta", "belongs to loss huber only, found " + loss, "Remove huber_delta.");
  if (two_classes)
    t.optional("class_weights", model.class_weights, at_least(1e-6).up_to(1e6),
               "The weights of the two classes, for example class_weights = [1.0, 5.0].");
  else if (t.has("class_weights"))
    t.fail("class_weights", "belongs to hinge and logistic only, found loss " + loss,
           "Remove class_weights.");
  // Equal weights of 1 mean the same as none, and have the same text.
  if (model.class_weights == std::array{1.0, 1.0}) t.leave_out("class_weights");
}

/// Without noise nothing is averaged, and nothing is left to a forecast.
void read_admm(Table& t, Protocol& p) {
  Admm& admm = p.kind.emplace<Admm>();
  t.required("rounds", p.rounds, kRounds, "Give the most rounds, for example rounds = 20.");
  t.required("step", p.step, above(0).up_to(1e12), "Give ADMM's rho, for example step = 0.1.");
  t.optional("scaling", admm.scaling, Anything{}, "For example scaling = \"boyd\".");
  t.optional("warm_start", admm.warm_start, Anything{}, "For example warm_start = true.");
  t.optional("tolerance", admm.tolerance, at_least(0).below(1),
             "Both residuals per record at which it stops, tolerance = 0.001; 0.0 for never.");
}

/// Whom an owner has to trust. Rules that need the learner's noise are as they always were, and a
/// dealer has no text: charters from before this key have the same hash.
void read_dealer(Table& t, Vertical& vertical) {
  const bool can_do_without =
      vertical.rule == Rule::kStatistics || vertical.rule == Rule::kGradients;
  vertical.dealer = can_do_without ? Dealer::kNone : Dealer::kLearner;
  t.optional("dealer", vertical.dealer, Anything{}, "For example dealer = \"none\".");
  if (vertical.dealer == Dealer::kLearner) t.leave_out("dealer");
  if (!can_do_without && vertical.dealer == Dealer::kNone)
    t.fail("dealer",
           "= \"none\" is for rules statistics and gradients, found " +
               std::string(name_of(vertical.rule)),
           "Take rule = \"statistics\", or dealer = \"learner\".");
}

/// Without a dealer coefficients lie in model.box, on a grid, whatever an owner does.
void read_grid(Table& t, Vertical& vertical) {
  if (t.has("model_ball"))
    t.fail("model_ball", "is given, but without a dealer model.box bounds the model",
           "Leave it out, or say dealer = \"learner\".");
  t.optional("model_bits", vertical.model_bits, at_least(4).up_to(16),
             "Steps of a coefficient within model.box, as a power of two: model_bits = 12.");
  t.optional("colluders", vertical.colluders, at_least(1).up_to(double(kOwnersMax)),
             "Owners that may pool what they know, for example colluders = 1.");
  if (vertical.colluders == 0) t.leave_out("colluders");
}

void read_sharing(Table& t, Charter& charter) {
  Protocol& p = charter.protocol;
  Vertical& vertical = p.kind.emplace<Vertical>();
  vertical.rule = Rule::kStatistics;
  t.optional("rule", vertical.rule,
             Among<Rule>{Rule::kGradients, Rule::kStatistics, Rule::kNoisySharing, Rule::kAdmm},
             "For example rule = \"statistics\".");
  const Rule rule = vertical.rule;
  const bool once = rule == Rule::kStatistics;
  if (rule == Rule::kAdmm) return read_admm(t, p);
  read_dealer(t, vertical);
  once ? read_once(t, p) : read_descent(t, p, vertical, true);
  if (rule == Rule::kGradients && vertical.dealer == Dealer::kNone)
    read_grid(t, vertical);
  else if (!once)
    t.required("model_ball", vertical.model_ball, kNorm,
               "Bound the model, for example model_ball = 4.0.");
  if ((once || rule == Rule::kGradients) && charter.model.loss != Loss::kSquared)
    t.fail("rule", "needs loss = \"squared\" for " + std::string(name_of(rule)),
           "Take loss = \"squared\" in [model].");
}

}  // namespace

ProtocolName Protocol::name() const {
  if (as<Sync>()) return ProtocolName::kSync;
  if (as<Async>()) return ProtocolName::kAsync;
  return as<Federated>() ? ProtocolName::kFederated : ProtocolName::kSharing;
}

std::optional<Rule> Protocol::rule() const {
  if (const Sync* sync = as<Sync>()) return sync->rule;
  if (const Vertical* vertical = as<Vertical>()) return vertical->rule;
  if (as<Async>()) return Rule::kPaper;
  if (as<Admm>()) return Rule::kAdmm;
  return std::nullopt;
}

learn::Losses loss_of(const Model& model) {
  const learn::ClassWeights weights{model.class_weights[0], model.class_weights[1]};
  switch (model.loss) {
    case Loss::kHinge:
      return learn::Hinge{weights};
    case Loss::kLogistic:
      return learn::Logistic{weights};
    case Loss::kHuber:
      return learn::Huber{model.huber_delta};
    case Loss::kSquared:
      break;
  }
  return learn::Squared{};
}

void read_model(Table& root, Charter& charter) {
  Model& model = charter.model;
  root.table("model", [&](Table& t) {
    t.required("loss", model.loss, Anything{}, "For example loss = \"squared\".");
    t.optional("l2", model.l2, at_least(0).up_to(1e12), "For example l2 = 0.0.");
    t.optional("l1", model.l1, at_least(0).up_to(1e12), "For example l1 = 0.001.");
    if (model.l1 == 0) t.leave_out("l1");
    if (model.l1 > 0 && model.l2 > 0) t.fail("l1", "cannot stand beside l2", "Take one of them.");
    if (model.l1 > 0 && model.loss == Loss::kHinge)
      t.fail("l1", "needs a loss with curvature, found hinge", "Take l2 instead.");
    t.optional("bias", model.bias, Anything{}, "bias = true adds a feature that is always 1.");
    t.required("box", model.box, above(0).up_to(1e6),
               "Bound the size of every coefficient, for example box = 1.0.");
    read_loss_constants(t, model);
  });
}

void read_protocol(Table& root, Charter& charter) {
  root.table("protocol", [&](Table& t) {
    ProtocolName name = ProtocolName::kSync;  // of a draft that leaves it open, too
    constexpr std::string_view kHint = "For example name = \"sync\".";
    if (root.has("records"))  // columns in several places: one protocol only
      t.decisive("name", name, Anything{}, kHint);
    else
      t.forecast("name", name, Anything{}, kHint);
    switch (name) {
      case ProtocolName::kSync:
        return read_sync(t, charter);
      case ProtocolName::kAsync:
        return read_async(t, charter, root.count("owner"));
      case ProtocolName::kFederated:
        return read_federated(t, charter);
      case ProtocolName::kSharing:
        return read_sharing(t, charter);
    }
  });
  if (charter.model.l1 > 0 && charter.protocol.as<Admm>() == nullptr)
    root.fail("model", "has l1, which only rule admm of protocol sharing knows",
              "Give l2 instead.");
}

}  // namespace parley::charter
