#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/encoding.h"
#include "domain/json.h"
#include "provider_test_support.h"
#include "providers/adyen_item.h"
#include "providers/registry.h"

// Vectors made with the senders' own libraries, which live outside this repository. The folder is
// HOOKGATE_SHARED, else `shared` beside the source tree; without it these tests are skipped.

namespace hookgate {
namespace {

struct Decision {
  std::string_view vector;
  bool accepts;
};

// What we answer where the vectors leave the choice ("policy"). The reasons are in the providers'
// headers.
constexpr std::array kDecisions{
    Decision{"stripe/signature-uppercase-hex", true},
    Decision{"stripe/signature-mixed-case-hex", true},
    Decision{"stripe/old-tolerance-zero-skips", false},
    Decision{"stripe/future-by-301", false},
    Decision{"stripe/future-by-one-day", false},
    Decision{"stripe/timestamp-milliseconds", false},
    Decision{"stripe/hundred-v1-last-right", false},
    Decision{"stripe/header-space-after-comma", true},
    Decision{"stripe/header-leading-space", true},
    Decision{"stripe/header-trailing-space", true},
    Decision{"stripe/header-trailing-comma", true},
    Decision{"stripe/header-element-without-equals", true},
    Decision{"stripe/body-invalid-utf8", true},
    Decision{"adyen/amount-as-string", false},
    Decision{"adyen/success-as-boolean", false},
    Decision{"adyen/key-with-blank-at-end", false},
    Decision{"adyen/amount-missing", false},
    Decision{"adyen/batch-empty", false},
    Decision{"standard-webhooks/svix-headers-for-standard-library", true},
    Decision{"standard-webhooks/valid-empty-body", true},
    Decision{"standard-webhooks/valid-id-with-dot", false},
    Decision{"standard-webhooks/signature-v1-without-comma", true},
};

struct Vector {
  std::string provider;
  JsonDocument document;  // the file's
  Json json;
  std::string name() const { return provider + "/" + std::string{*json["name"].string()}; }
};

std::filesystem::path vectors_folder() {
  const char* shared = std::getenv("HOOKGATE_SHARED");
  const std::filesystem::path folder =
      shared != nullptr ? shared : HOOKGATE_SOURCE_DIR "/../shared";
  return folder / "reference" / "vectors";
}

std::vector<Vector> vectors_of(const std::string& provider) {
  std::ifstream file{vectors_folder() / (provider + ".json"), std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto parsed = parse_json(text);
  const auto* document = std::get_if<JsonDocument>(&parsed);
  std::vector<Vector> vectors;
  if (document == nullptr) return vectors;
  for (const auto& json : document->root["vectors"].elements()) {
    vectors.push_back({provider, *document, json});
  }
  return vectors;
}

ProviderSettings settings_of(const Json& vector) {
  ProviderSettings settings;
  for (const auto& secret : vector["secrets"].elements()) {
    settings.secrets.emplace_back(std::string{*secret.string()});
  }
  if (const auto tolerance = vector["tolerance"].integer()) {
    settings.tolerance = std::chrono::seconds{*tolerance};
  }
  settings.scheme = vector["scheme"].string() == "header-body" ? "header" : "item";
  return settings;
}

InboundRequest request_of(const Json& vector) {
  auto request = a_request(base64_decode(*vector["body"].string()).value());
  for (const auto& header : vector["headers"].elements()) {
    request.headers.push_back(
        {std::string{*header.elements()[0].string()}, std::string{*header.elements()[1].string()}});
  }
  return request;
}

SystemTime now_of(const Json& vector) {
  return SystemTime{std::chrono::seconds{*vector["now"].integer()}};
}

// A provider that cannot be made refuses, since the gateway does not start.
std::string answer_to(const Vector& vector) {
  try {
    const auto provider = make_provider(vector.provider, settings_of(vector.json));
    const auto request = request_of(vector.json);
    if (!is_accepted(provider->verify(request, now_of(vector.json)))) return "reject";
    for (const auto& event : provider->events(request)) {
      EXPECT_TRUE(!event.event_id.empty() && event.event_id.size() <= 255);
    }
    return "accept";
  } catch (const InvalidProviderSettings&) {
    return "reject";
  }
}

std::string expected_answer(const Vector& vector) {
  std::string gateway{vector.json["gateway"].string().value_or("")};
  if (gateway != "policy") return gateway;
  const auto decision = std::ranges::find(kDecisions, vector.name(), &Decision::vector);
  if (decision == kDecisions.end()) return "a decision in kDecisions";
  return decision->accepts ? "accept" : "reject";
}

class VectorsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(vectors_folder())) {
      GTEST_SKIP() << "no vectors at " << vectors_folder() << "; set HOOKGATE_SHARED";
    }
    vectors_ = vectors_of(GetParam());
    ASSERT_FALSE(vectors_.empty());
  }

  std::vector<Vector> vectors_;
};

INSTANTIATE_TEST_SUITE_P(Provider, VectorsTest,
                         testing::Values("stripe", "adyen", "standard-webhooks"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(VectorsTest, AreAnsweredAsDecided) {
  for (const auto& vector : vectors_) {
    EXPECT_EQ(answer_to(vector), expected_answer(vector)) << vector.name();
  }
}

TEST_P(VectorsTest, AreRefusedByTheirHeadOnlyAsWithTheirBody) {
  std::size_t refused_by_head = 0;
  for (const auto& vector : vectors_) {
    try {
      const auto provider = make_provider(vector.provider, settings_of(vector.json));
      const auto request = request_of(vector.json);
      const auto now = now_of(vector.json);
      EXPECT_TRUE(agrees_with_its_head(*provider, request, now)) << vector.name();
      if (provider->refuse_by_head(head_of(request), now)) ++refused_by_head;
    } catch (const InvalidProviderSettings&) {
      continue;  // the gateway does not start
    }
  }
  EXPECT_GT(refused_by_head, 0U);
}

TEST_P(VectorsTest, LeaveNoDecisionWithoutItsVector) {
  for (const auto& decision : kDecisions) {
    if (!decision.vector.starts_with(GetParam() + "/")) continue;
    const auto vector = std::ranges::find(vectors_, decision.vector, &Vector::name);
    ASSERT_NE(vector, vectors_.end()) << decision.vector;
    EXPECT_EQ(vector->json["gateway"].string(), "policy") << decision.vector;
  }
}

TEST(AdyenVectorsTest, AgreeOnTheSignedTextOfEveryReadableItem) {
  if (!std::filesystem::exists(vectors_folder())) {
    GTEST_SKIP() << "no vectors at " << vectors_folder() << "; set HOOKGATE_SHARED";
  }
  std::size_t compared = 0;
  for (const auto& vector : vectors_of("adyen")) {
    const auto expected = vector.json["items"].elements();
    const auto read = read_adyen_batch(request_of(vector.json).body);
    const auto* batch = std::get_if<AdyenBatch>(&read);
    for (std::size_t i = 0; batch != nullptr && i < expected.size(); ++i) {
      EXPECT_EQ(adyen_signed_text(batch->items.at(i)), expected[i]["signed_text"].string())
          << vector.name();
      ++compared;
    }
  }
  EXPECT_GT(compared, 50U);
}

}  // namespace
}  // namespace hookgate
