#pragma once

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ledger_in_memory.h"

// Invented events as providers write them, and histories of them with the end they must have.
namespace hookgate {

// Stripe events. `object` is the inside of the object's JSON.
inline std::string stripe(const std::string& type, const std::string& object, int second,
                          const std::string& version = "2024-04-10") {
  return R"({"id":"evt","type":")" + type + R"(","created":)" +
         std::to_string(1'800'000'000 + second) +
         (version.empty() ? R"(,"api_version":null)" : R"(,"api_version":")" + version + "\"") +
         R"(,"data":{"object":{"currency":"chf",)" + object + "}}}";
}
inline std::string number(const std::string& name, long long value) {
  return ",\"" + name + "\":" + std::to_string(value);
}
inline std::string intent(const std::string& what, long long amount, int second,
                          const std::string& more = "", const std::string& version = "2024-04-10") {
  return stripe("payment_intent." + what, R"("id":"pi_x")" + number("amount", amount) + more,
                second, version);
}
inline std::string charge(const std::string& what, long long amount, long long captured,
                          long long refunded, int second, const std::string& version = "2024-04-10",
                          const std::string& id = "ch_x") {
  return stripe("charge." + what,
                "\"id\":\"" + id + R"(","payment_intent":"pi_x")" + number("amount", amount) +
                    number("amount_captured", captured) + number("amount_refunded", refunded) +
                    ",\"captured\":" + (captured > 0 ? "true" : "false"),
                second, version);
}
inline std::string refund(const std::string& type, const std::string& id, long long amount,
                          const std::string& status, int second,
                          const std::string& more = R"(,"payment_intent":"pi_x","charge":"ch_x")",
                          const std::string& version = "2024-04-10") {
  return stripe(
      type, "\"id\":\"" + id + "\",\"status\":\"" + status + "\"" + number("amount", amount) + more,
      second, version);
}
inline std::string dispute(const std::string& what, long long amount, const std::string& status,
                           int second, const std::string& more = R"(,"payment_intent":"pi_x")") {
  return stripe("charge.dispute." + what,
                R"("id":"du_x","status":")" + status + "\"" + number("amount", amount) + more,
                second);
}

// Adyen items in their envelope. `day` of 2027-01.
inline std::string adyen(const std::string& code, bool success, const std::string& own,
                         const std::string& original, long long amount, int day,
                         const std::string& more = "", const std::string& date = "") {
  const auto when = date.empty() ? "2027-01-" + std::string(day < 10 ? "0" : "") +
                                       std::to_string(day) + "T08:00:00+01:00"
                                 : date;
  return R"({"live":"false","notificationItems":[{"NotificationRequestItem":{"merchantAccountCode":"ShopA","merchantReference":"o-77","eventCode":")" +
         code + R"(","success":")" + (success ? "true" : "false") + R"(","pspReference":")" + own +
         R"(","originalReference":")" + original + R"(","amount":{"currency":"NOK","value":)" +
         std::to_string(amount) + R"(},"eventDate":")" + when + "\"" + more + "}}]}";
}
inline std::string status_detail(const std::string& status) {
  return R"(,"additionalData":{"disputeStatus":")" + status + "\"}";
}
inline const std::string kRecaptured = R"(,"reason":" transaction RECAPTURED ")";

struct History {
  std::string name;
  std::string provider;
  std::vector<std::string> events;
  std::string end;
  bool immediate = false;
};

inline void PrintTo(const History& history, std::ostream* out) {
  *out << history.name;
}

// What is in the ledger after the events came in that order.
inline std::string end_of(const History& history, const std::vector<std::size_t>& order) {
  FoldSettings settings;
  settings.capture_immediate = history.immediate;
  LedgerInMemory ledger{history.provider, settings};
  for (const auto position : order) ledger.take(history.events[position]);
  return summary(ledger.payments());
}

// The order with every event told again at some random place.
inline std::vector<std::size_t> with_repeats(const std::vector<std::size_t>& order,
                                             std::mt19937& random) {
  auto longer = order;
  for (const auto event : order) {
    const auto place = static_cast<std::ptrdiff_t>(random() % (longer.size() + 1));
    longer.insert(longer.begin() + place, event);
  }
  return longer;
}

// All orders of up to seven events, each also with every event told again at some place.
inline void expect_its_end_in_every_order(const History& history) {
  std::vector<std::size_t> order(history.events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  ASSERT_LE(order.size(), 7U);
  std::mt19937 random{11};
  do {
    ASSERT_EQ(end_of(history, order), history.end);
    ASSERT_EQ(end_of(history, with_repeats(order, random)), history.end);
  } while (std::ranges::next_permutation(order).found);
}

}  // namespace hookgate
