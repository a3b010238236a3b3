#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "case_support.h"

namespace hookgate {
namespace {

using nlohmann::json;

// Every order of arrival of a sequence, each under ids of its own, through one running gateway with
// several workers; every event is sent again at a random place. (The pure fold is tested over all
// orders in tests/handlers; here the same runs through HTTP, the store, the workers and SQL.)
class SequencesTest : public GatewayTest, public ::testing::WithParamInterface<std::string> {
 protected:
  static constexpr std::size_t kOrdersMax =
      130;  // all orders of up to five events, a sample of more

  static std::vector<std::vector<std::size_t>> orders(std::size_t events) {
    std::vector<std::size_t> order(events);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> all;
    if (events <= 5) {
      do {
        all.push_back(order);
      } while (std::ranges::next_permutation(order).found);
      return all;
    }
    std::mt19937 random{7};
    all.push_back(order);
    all.emplace_back(order.rbegin(), order.rend());
    while (all.size() < kOrdersMax) {
      std::shuffle(order.begin(), order.end(), random);
      all.push_back(order);
    }
    return all;
  }

  void send_all(const std::string& address, const json& sequence) {
    const auto& events = sequence.at("events");
    const auto all = orders(events.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> senders;
    senders.reserve(8);
    for (int i = 0; i < 8; ++i) {
      senders.emplace_back([&] {
        HttpSession session{address};
        for (auto n = next++; n < all.size(); n = next++) {
          AbstractEvents abstract{sequence.at("provider"), "", "_" + std::to_string(n),
                                  system_now()};
          abstract.secret = abstract.provider == "adyen" ? kAdyenKey : kStripeSecret;
          auto order = all[n];
          std::mt19937 random{static_cast<unsigned>(n)};
          for (std::size_t copy = 0; copy < all[n].size(); ++copy) {
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(random() % (order.size() + 1)),
                         copy);
          }
          for (const auto position : order) {
            EXPECT_EQ(session.send(abstract.request(events[position])).status, 200);
          }
        }
      });
    }
    for (auto& sender : senders) sender.join();
  }
};

TEST_P(SequencesTest, EndsTheSameInEveryOrder) {
  const auto shared = shared_folder();
  if (!shared) GTEST_SKIP() << "the shared cases are not here; the twins in tests/handlers ran";
  json sequence;
  const auto file = read_json(*shared / "cases/open/sequences.json");
  for (const auto& one : file.at("sequences")) {
    if (one.at("id") == GetParam()) sequence = one;
  }
  ASSERT_FALSE(sequence.is_null());
  const auto capture = sequence.at("config").value("capture", "manual");
  auto config = test_config(database().url(), 4);
  config.replace(config.find("kind = \"payments\""), 17,
                 "kind = \"payments\"\ncapture = \"" + capture + "\"");
  const auto address = start_gateway(config);
  send_all(address, sequence);
  drain(120);
  const auto count = orders(sequence.at("events").size()).size();
  std::string differences;
  for (std::size_t n = 0; n < count && differences.size() < 2000; ++n) {
    for (const auto& [id, expected] : sequence.at("final").at("payments").items()) {
      differences += compare_payment(database(), id + "_" + std::to_string(n), expected);
    }
  }
  EXPECT_EQ(differences, "");
  EXPECT_EQ(database().count("hookgate.payments"),
            static_cast<std::int64_t>(count * sequence.at("final").at("payments").size()));
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'dead'"), 0);
}

INSTANTIATE_TEST_SUITE_P(Shared, SequencesTest,
                         ::testing::Values("SEQ-01", "SEQ-02", "SEQ-03", "SEQ-04", "SEQ-05",
                                           "SEQ-06", "SEQ-07", "SEQ-08", "SEQ-09", "SEQ-10",
                                           "SEQ-11", "SEQ-12", "SEQ-13", "SEQ-14", "SEQ-15",
                                           "SEQ-16", "SEQ-17", "SEQ-18", "SEQ-19", "SEQ-20",
                                           "SEQ-21"),
                         [](const auto& sequence) { return "SEQ_" + sequence.param.substr(4); });

}  // namespace
}  // namespace hookgate
