// The figures: each computes one, and registry.cc lists them. Names are the papers' numbers.
#pragma once

#include "studies/reproduce/figure.h"

namespace parley::reproduce {

// Wu et al., synchronous.
Result<Figure> sync_loans_rounds(const Study& study);     // S-F2
Result<Figure> sync_loans_surface(const Study& study);    // S-F3
Result<Figure> sync_loans_budgets(const Study& study);    // S-F4
Result<Figure> sync_loans_sizes(const Study& study);      // S-F5
Result<Figure> sync_loans_scenarios(const Study& study);  // S-F6
Result<Figure> sync_fraud_rounds(const Study& study);     // S-F7
Result<Figure> sync_fraud_surface(const Study& study);    // S-F8
Result<Figure> sync_fraud_budgets(const Study& study);    // S-F9
Result<Figure> sync_fraud_sizes(const Study& study);      // S-F10
Result<Figure> sync_fraud_scenarios(const Study& study);  // S-F11
Result<Figure> sync_claim_fraud(const Study& study);      // S-claim1
Result<Figure> sync_claim_loans(const Study& study);      // S-claim2
Result<Figure> sync_claim_overlap(const Study& study);    // S-claim3
Result<Figure> sync_theorem(const Study& study);          // S-T2

// Farokhi et al., asynchronous.
Result<Figure> async_lending_rounds(const Study& study);   // A-F2
Result<Figure> async_timing_lending(const Study& study);   // A-F3
Result<Figure> async_lending_surface(const Study& study);  // A-F4
Result<Figure> async_lending_slopes(const Study& study);   // A-F5
Result<Figure> async_coalition(const Study& study);        // A-F6
Result<Figure> async_hospital_gain(const Study& study);    // A-F7
Result<Figure> async_hospital_rounds(const Study& study);  // A-F8
Result<Figure> async_timing_hospital(const Study& study);  // A-F9
Result<Figure> async_hospital_slope(const Study& study);   // A-F10
Result<Figure> async_abstract(const Study& study);         // A-abs
Result<Figure> async_theorem(const Study& study);          // A-T2

// Hu et al., columns in several places.
Result<Figure> sharing_census(const Study& study);        // V-F1
Result<Figure> sharing_digits(const Study& study);        // V-F2
Result<Figure> sharing_noise_census(const Study& study);  // V-F3a
Result<Figure> sharing_noise_digits(const Study& study);  // V-F3b
Result<Figure> sharing_theorem(const Study& study);       // V-T1
Result<Figure> sharing_epochs(const Study& study);        // V-cor1
Result<Figure> sharing_values(const Study& study);        // V-value

// Huang, local steps under secure aggregation.
Result<Figure> federated_privacy(const Study& study);        // H-T1
Result<Figure> federated_bound(const Study& study);          // H-T4
Result<Figure> federated_steps(const Study& study);          // H-K
Result<Figure> federated_communication(const Study& study);  // H-comm
Result<Figure> federated_rate(const Study& study);           // H-rate
Result<Figure> federated_lemma2(const Study& study);         // H-L2
Result<Figure> federated_lemma3(const Study& study);         // H-L3

// Beyond the papers: owners that lie, under each protocol.
Result<Figure> liars_sync(const Study& study);       // B-sync
Result<Figure> liars_secure(const Study& study);     // B-secure
Result<Figure> liars_async(const Study& study);      // B-async
Result<Figure> liars_federated(const Study& study);  // B-federated
Result<Figure> liars_sharing(const Study& study);    // B-sharing

}  // namespace parley::reproduce
