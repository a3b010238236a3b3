#include <tuple>

#include "framing_cases.h"
#include "listener_support.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

// How the bytes of a row reach the listener.
enum class Arrival {
  kTogether,    // both requests in one piece
  kSeparately,  // the second once the first is answered
  kBytewise,    // the first byte by byte, then the second
};

constexpr std::size_t kBytewiseBytesMax = 4'096;

std::string words(const std::vector<int>& statuses) {
  std::string text;
  for (const int status : statuses) text += std::to_string(status) + " ";
  return text;
}

// Parameters: the kind of listener, the group of rows.
class FramingTest : public ListenerFixture,
                    public ::testing::WithParamInterface<std::tuple<std::string, std::string>> {
 protected:
  std::string kind() const override { return std::get<0>(GetParam()); }
  std::vector<FramingCase> rows(const std::string& run) const {
    return framing_cases(std::get<1>(GetParam()), run, kBodyBytesMax);
  }

  void send_all(const std::string& run, Arrival arrival);

 private:
  struct Sent {
    FramingCase row;
    bool second_is_run = false;
  };

  void send(const FramingCase& row, Arrival arrival, bool second_is_run);
  static std::vector<RawAnswer> exchange(RawSocket& socket, const FramingCase& row, Arrival arrival,
                                         std::size_t answers);
  static void check_form(const RawAnswer& answer, bool says_close);
};

// The answers of the first request and, when it is run, the second.
std::vector<RawAnswer> FramingTest::exchange(RawSocket& socket, const FramingCase& row,
                                             Arrival arrival, std::size_t count) {
  if (row.ends_sending) {
    socket.send(row.first);
    socket.end_sending();
    return socket.read_answers(2);
  }
  if (arrival == Arrival::kTogether) {
    socket.send(row.first + row.second);
  } else if (arrival == Arrival::kBytewise) {
    socket.send_bytewise(row.first);
  } else {
    socket.send(row.first);
  }
  auto answers = socket.read_answers(1, RawSocket::kLimit, row.to_head);
  if (arrival != Arrival::kTogether) socket.send(row.second);
  if (count > 1) {
    const auto more = socket.read_answers(1);
    answers.insert(answers.end(), more.begin(), more.end());
  }
  return answers;
}

void FramingTest::check_form(const RawAnswer& answer, bool says_close) {
  if (says_close) {
    EXPECT_EQ(answer.header("Connection"), "close");
  }
  if (answer.status >= 400) {
    EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
  }
  if (answer.status == 405) {
    EXPECT_NE(answer.header("Allow"), "");
  }
}

void FramingTest::send(const FramingCase& row, Arrival arrival, bool second_is_run) {
  std::vector statuses{row.outcome.status};
  if (second_is_run) statuses.push_back(200);
  RawSocket socket{address()};
  const auto answers = exchange(socket, row, arrival, second_is_run ? 2 : 1);
  EXPECT_EQ(words(statuses_of(answers)), words(statuses));
  if (!answers.empty()) check_form(answers.front(), row.outcome.closes && !row.ends_sending);
  if (row.outcome.closes) {
    EXPECT_NE(socket.wait_for_close(), RawSocket::State::kOpen);
    EXPECT_TRUE(socket.read_answers(1, RawSocket::Milliseconds{0}).empty());
  } else {
    EXPECT_TRUE(answers_probe(socket));
  }
}

void FramingTest::send_all(const std::string& run, Arrival arrival) {
  start();
  std::vector<Sent> sent;
  for (const auto& row : rows(run)) {
    if (arrival == Arrival::kBytewise && row.first.size() > kBytewiseBytesMax) continue;
    SCOPED_TRACE(row.group + ": " + row.name);
    const bool second_is_run = !row.outcome.closes && !row.ends_sending;
    send(row, arrival, second_is_run);
    sent.push_back({row, second_is_run});
  }
  stop();  // from here on nothing more is run
  for (const auto& [row, second_is_run] : sent) {
    SCOPED_TRACE(row.group + ": " + row.name);
    EXPECT_EQ(is_stored(row.second_event), second_is_run) << "the second request";
    const bool is_refused = row.outcome.status != 200;
    if (is_refused) {
      EXPECT_FALSE(is_stored(row.first_event)) << "the first request";
    }
  }
}

TEST_P(FramingTest, AnswersRequestsInOnePiece) {
  send_all("together", Arrival::kTogether);
}

TEST_P(FramingTest, AnswersRequestsOneAfterTheOther) {
  send_all("separately", Arrival::kSeparately);
}

TEST_P(FramingTest, AnswersRequestsByteByByte) {
  send_all("bytewise", Arrival::kBytewise);
}

using FramingParameter = std::tuple<std::string, std::string>;

std::string framing_name(const testing::TestParamInfo<FramingParameter>& parameter) {
  return std::get<0>(parameter.param) + "_" + std::get<1>(parameter.param);
}

INSTANTIATE_TEST_SUITE_P(Listener, FramingTest,
                         testing::Combine(testing::Values(kReactor, kHttplib),
                                          testing::ValuesIn(framing_groups())),
                         framing_name);

}  // namespace
}  // namespace hookgate
