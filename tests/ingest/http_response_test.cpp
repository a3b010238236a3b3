#include "ingest/http_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hookgate {
namespace {

using testing::HasSubstr;
using testing::Not;

Answer answer() {
  Answer made;
  made.status = 429;
  made.body = "{}";
  made.headers = {{"Retry-After", "3"}};
  return made;
}

TEST(HttpResponse, HoldsStatusHeadersAndBody) {
  const auto text = serialize_response(answer(), {.date = "today"});
  EXPECT_EQ(text,
            "HTTP/1.1 429 Too Many Requests\r\nDate: today\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\nRetry-After: 3\r\n\r\n{}");
}

TEST(HttpResponse, SaysWhetherTheConnectionLasts) {
  EXPECT_THAT(serialize_response(answer(), {.keeps_alive = false}),
              HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(serialize_response(answer(), {.is_http_1_0 = true}),
              HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(serialize_response(answer(), {}), Not(HasSubstr("Connection:")));
}

TEST(HttpResponse, LeavesTheBodyOfAnAnswerToHeadAway) {
  const auto text = serialize_response(answer(), {.without_body = true});
  EXPECT_THAT(text, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

TEST(HttpResponse, WritesDatesAsHttpDoes) {
  EXPECT_EQ(http_date(SystemTime{std::chrono::seconds{784'111'777}}),
            "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace hookgate
