#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace hookgate {

// Kinds of business facts. The names are stored.
namespace fact_kind {
inline constexpr std::string_view kIntent = "intent";                // Stripe pi_...
inline constexpr std::string_view kCharge = "charge";                // Stripe ch_...
inline constexpr std::string_view kAuthorization = "authorization";  // Adyen: the payment itself
inline constexpr std::string_view kAdjustment = "adjustment";  // Adyen AUTHORISATION_ADJUSTMENT
inline constexpr std::string_view kCapture = "capture";
inline constexpr std::string_view kCancellation = "cancellation";
inline constexpr std::string_view kCancelOrRefund = "cancel_or_refund";
inline constexpr std::string_view kRefund = "refund";
inline constexpr std::string_view kDispute = "dispute";
inline constexpr std::string_view kContradiction =
    "contradiction";  // an event that came with two bodies
}  // namespace fact_kind

// What one event said of a fact. Two events that say the same are one observation. Instants are
// microseconds since 1970 by the provider's clock; nothing if absent or unreadable.
struct Observation {
  std::string code;      // Stripe event type, Adyen eventCode
  std::string status;    // Stripe object's status; Adyen "true" or "false"
  std::string currency;  // as the provider writes it
  std::optional<std::int64_t> amount;
  std::optional<std::int64_t> captured;  // running totals of a Stripe charge or intent
  std::optional<std::int64_t> refunded;
  std::optional<std::int64_t> at;       // of the event
  std::optional<std::int64_t> made_at;  // of a Stripe refund
  std::string payment;                  // the payment it names; "" if it names none
  std::string reason;   // Stripe refund or cancellation reason; Adyen "recaptured" or disputeStatus
  std::string version;  // Stripe api_version; "-" for an event without one
  std::string reference;  // the merchant's order
  std::string details;    // Adyen CHARGEBACK: the text that decides between two of one eventDate

  auto operator<=>(const Observation&) const = default;
};

// One business fact, identified by the provider's own object id. What is known of it only grows:
// merging is the union of observations, so that order of arrival and repetition cannot matter.
struct Fact {
  // Over it the least are kept, so that even then the order of arrival decides nothing.
  static constexpr std::size_t kObservationsMax = 1'000;

  std::string kind;
  std::string id;
  std::string parent;  // what it hangs on when the payment is not named (Stripe: its charge)
  std::set<Observation> observations;

  // Adds what the other knows; true when anything was new.
  bool merge(const Fact& other);
  // The payment that its observations name, the least if they contradict each other; "" for none.
  std::string named_payment() const;
  bool names_several_payments() const;
};

// What an event says of a fact.
struct FactUpdate {
  std::string payment;  // where a stored fact belongs: "" while nobody has said
  Fact fact;
};

// Observations as a JSON array, in their order, and back. Reading skips what is no observation.
std::string observations_json(const std::set<Observation>& observations);
std::set<Observation> parse_observations(std::string_view json);

}  // namespace hookgate
