#include "ingest/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hookgate {
namespace {

using Status = RequestParser::Status;

// What reading a byte stream came to: the bodies of the whole requests, and how the last one stood.
struct Reading {
  std::vector<InboundRequest> whole;
  Status status = Status::kHead;
  int refused_with = 0;
  std::size_t taken = 0;
};

Reading read(std::string_view bytes, std::size_t piece, RequestLimits limits = {}) {
  RequestParser parser{limits};
  Reading reading;
  std::string_view rest;
  std::size_t fed = 0;
  while (true) {
    if (rest.empty()) {
      if (fed == bytes.size()) break;
      rest = bytes.substr(fed, piece);
      fed += rest.size();
    }
    const auto taken = parser.feed(rest);
    rest.remove_prefix(taken);
    reading.taken += taken;
    if (parser.status() == Status::kJudge) parser.accept_head();
    if (parser.status() == Status::kWhole) reading.whole.push_back(parser.take());
    if (parser.status() == Status::kRefused) break;
  }
  reading.status = parser.status();
  if (reading.status == Status::kRefused) reading.refused_with = parser.refusal().status;
  return reading;
}

std::string post(const std::string& headers, const std::string& body) {
  return "POST /webhooks/a HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

// Every cut gives the same outcome.
Reading read_every_way(std::string_view bytes, RequestLimits limits = {}) {
  const auto whole = read(bytes, bytes.size() + 1, limits);
  for (const std::size_t piece : {1UL, 2UL, 3UL, 7UL, 64UL}) {
    const auto cut = read(bytes, piece, limits);
    EXPECT_EQ(cut.refused_with, whole.refused_with) << "in pieces of " << piece;
    EXPECT_EQ(cut.whole.size(), whole.whole.size()) << "in pieces of " << piece;
    for (std::size_t i = 0; i < std::min(cut.whole.size(), whole.whole.size()); ++i)
      EXPECT_EQ(cut.whole[i].body, whole.whole[i].body);
  }
  return whole;
}

TEST(RequestParser, ReadsARequestWithALength) {
  const auto reading =
      read_every_way(post("Content-Length: 5\r\nX-A:  b c \r\nx-a: d\r\n", "hello"));
  ASSERT_EQ(reading.whole.size(), 1U);
  const auto& request = reading.whole[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/webhooks/a");
  EXPECT_EQ(request.body, "hello");
  ASSERT_EQ(request.headers.size(), 4U);
  EXPECT_EQ(request.headers[2].name, "X-A");
  EXPECT_EQ(request.headers[2].value, "b c");
  EXPECT_EQ(request.headers[3].name, "x-a");
}

TEST(RequestParser, KeepsHeaderValuesAsTheyCame) {
  const auto reading = read_every_way(
      post("Content-Length: 0\r\nX-A: %41\xC3\xA9\tz\r\nX-Empty:\r\nX-Blank:  \r\n", ""));
  ASSERT_EQ(reading.whole.size(), 1U);
  EXPECT_EQ(reading.whole[0].header("X-A"), "%41\xC3\xA9\tz");
  EXPECT_EQ(reading.whole[0].header("X-Empty"), "");
  EXPECT_EQ(reading.whole[0].header("X-Blank"), "");
}

TEST(RequestParser, TakesTheChunkedCodingOff) {
  const auto reading = read_every_way(
      post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n00000006\r\n world\r\n0\r\n\r\n"));
  ASSERT_EQ(reading.whole.size(), 1U);
  EXPECT_EQ(reading.whole[0].body, "hello world");
}

TEST(RequestParser, LeavesTheNextRequestAlone) {
  const auto one = post("Content-Length: 1\r\n", "1");
  const auto two = post("Transfer-Encoding: chunked\r\n", "1\r\n2\r\n0\r\n\r\n");
  const auto reading = read_every_way(one + two + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + one);
  ASSERT_EQ(reading.whole.size(), 4U);
  EXPECT_EQ(reading.whole[0].body, "1");
  EXPECT_EQ(reading.whole[1].body, "2");
  EXPECT_EQ(reading.whole[2].method, "GET");
  EXPECT_EQ(reading.whole[3].body, "1");
}

TEST(RequestParser, AsksAfterTheHeadAndReadsNothingMeanwhile) {
  RequestParser parser{{}};
  const auto request = post("Content-Length: 5\r\nExpect: 100-continue\r\n", "hello");
  EXPECT_EQ(parser.feed(request), request.size() - 5);
  ASSERT_EQ(parser.status(), Status::kJudge);
  EXPECT_TRUE(parser.expects_continue());
  EXPECT_EQ(parser.content_length(), 5U);
  EXPECT_EQ(parser.feed("hello"), 0U);
  parser.accept_head();
  EXPECT_EQ(parser.feed("hello"), 5U);
  EXPECT_EQ(parser.status(), Status::kWhole);
}

TEST(RequestParser, KnowsWhetherTheConnectionLasts) {
  const auto keeps = [](const std::string& version, const std::string& headers) {
    RequestParser parser{{}};
    parser.feed("GET / HTTP/" + version + "\r\nHost: a\r\n" + headers + "\r\n");
    EXPECT_EQ(parser.status(), Status::kJudge);
    return parser.keeps_alive();
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: foo, CLOSE\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: keep-alive\r\n"));
}

struct Malformed {
  std::string name;
  std::string bytes;
  int status;
};

std::string get(const std::string& line, const std::string& headers = "Host: a\r\n") {
  return line + "\r\n" + headers + "\r\n";
}

std::vector<Malformed> malformed() {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  return {
      {"empty_first_line", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"bare_lf", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare_lf_in_a_header", get("GET / HTTP/1.1", "Host: a\nX: b\r\n"), 400},
      {"cr_in_a_header", get("GET / HTTP/1.1", "Host: a\rX: b\r\n"), 400},
      {"nul_in_a_header", get("GET / HTTP/1.1", std::string{"Host: a\0b\r\n", 11}), 400},
      {"folded_header", get("GET / HTTP/1.1", "Host: a\r\n b\r\n"), 400},
      {"blank_first_line", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"first_header_folded", get("GET / HTTP/1.1", " Host: a\r\n"), 400},
      {"blank_before_colon", get("GET / HTTP/1.1", "Host : a\r\n"), 400},
      {"no_colon", get("GET / HTTP/1.1", "Host: a\r\nfoo\r\n"), 400},
      {"empty_name", get("GET / HTTP/1.1", "Host: a\r\n: b\r\n"), 400},
      {"two_blanks", get("GET  / HTTP/1.1"), 400},
      {"tab_in_request_line", get("GET\t/ HTTP/1.1"), 400},
      {"no_version", get("GET /"), 400},
      {"lower_case_http", get("GET / http/1.1"), 400},
      {"http_2", get("PRI * HTTP/2.0"), 505},
      {"http_1_2", get("GET / HTTP/1.2"), 505},
      {"http_0_9", get("GET / HTTP/0.9"), 505},
      {"unknown_method", get("BREW / HTTP/1.1"), 501},
      {"lower_case_method", get("get / HTTP/1.1"), 501},
      {"method_with_a_colon", get("GE:T / HTTP/1.1"), 400},
      {"absolute_form", get("GET http://a/ HTTP/1.1"), 400},
      {"fragment", get("GET /a#b HTTP/1.1"), 400},
      {"eight_bit_target", get("GET /\xC3\xA9 HTTP/1.1"), 400},
      {"no_host", get("GET / HTTP/1.1", ""), 400},
      {"two_hosts", get("GET / HTTP/1.1", "Host: a\r\nHost: a\r\n"), 400},
      {"get_with_a_body", get("GET / HTTP/1.1", "Host: a\r\nContent-Length: 1\r\n"), 400},
      {"post_without_length", post("", ""), 411},
      {"both_lengths", post("Content-Length: 1\r\n" + chunked, ""), 400},
      {"both_lengths_reversed", post(chunked + "Content-Length: 1\r\n", ""), 400},
      {"same_length_twice", post("Content-Length: 1\r\nContent-Length: 1\r\n", ""), 400},
      {"two_lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n", ""), 400},
      {"length_list", post("Content-Length: 1, 1\r\n", ""), 400},
      {"signed_length", post("Content-Length: +1\r\n", ""), 400},
      {"negative_length", post("Content-Length: -1\r\n", ""), 400},
      {"hex_length", post("Content-Length: 0x1\r\n", ""), 400},
      {"empty_length", post("Content-Length:\r\n", ""), 400},
      {"length_overflow", post("Content-Length: 99999999999999999999\r\n", ""), 400},
      {"length_wraps_to_one", post("Content-Length: 18446744073709551617\r\n", ""), 400},
      {"gzip_then_chunked", post("Transfer-Encoding: gzip, chunked\r\n", ""), 501},
      {"chunked_then_gzip", post("Transfer-Encoding: chunked, gzip\r\n", ""), 501},
      {"identity", post("Transfer-Encoding: identity\r\n", ""), 501},
      {"xchunked", post("Transfer-Encoding: xchunked\r\n", ""), 501},
      {"chunked_twice", post(chunked + chunked, ""), 400},
      {"chunked_in_1_0", "POST / HTTP/1.0\r\n" + chunked + "\r\n", 400},
      {"other_expectation", post("Content-Length: 1\r\nExpect: 200-ok\r\n", ""), 417},
      {"chunk_extension", post(chunked, "1;a=b\r\n"), 400},
      {"chunk_size_with_blank", post(chunked, "1 \r\n"), 400},
      {"chunk_size_signed", post(chunked, "-2\r\n"), 400},
      {"chunk_size_0x", post(chunked, "0x1\r\n"), 400},
      {"chunk_size_empty", post(chunked, "\r\n"), 400},
      {"chunk_size_nine_digits", post(chunked, "000000001\r\n"), 400},
      {"chunk_size_bare_lf", post(chunked, "1\na"), 400},
      {"chunk_without_end", post(chunked, "1\r\nab\r\n"), 400},
      {"chunk_end_bare_lf", post(chunked, "1\r\na\n"), 400},
      {"trailer", post(chunked, "0\r\nX: a\r\n\r\n"), 400},
      {"chunk_over_limit", post(chunked, "100001\r\n"), 413},
      {"chunk_far_over_limit", post(chunked, "ffffffff\r\n"), 413},
      {"body_over_limit", post("Content-Length: 1048577\r\n", ""), 413},
      {"long_target", get("GET /" + std::string(2048, 'a') + " HTTP/1.1"), 414},
      {"endless_line", std::string(70'000, 'A'), 414},
      {"endless_header", get("GET / HTTP/1.1", "Host: a\r\nX: " + std::string(70'000, 'a')), 431},
      {"many_headers",
       get("GET / HTTP/1.1",
           [] {
             std::string headers = "Host: a\r\n";
             for (int i = 0; i < 100; ++i) headers += "a:b\r\n";
             return headers;
           }()),
       431},
      {"tls", std::string{"\x16\x03\x01\x02\x00\x01\n", 7}, 400},
  };
}

class MalformedRequest : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedRequest, IsRefusedHoweverItIsCut) {
  const auto& [name, bytes, status] = GetParam();
  const auto hidden = post("Content-Length: 0\r\n", "");
  const auto reading = read_every_way(bytes + hidden);
  EXPECT_EQ(reading.refused_with, status);
  EXPECT_THAT(reading.whole, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Table, MalformedRequest, testing::ValuesIn(malformed()),
                         [](const auto& tested) { return tested.param.name; });

TEST(RequestParser, RefusesAFaultyLineBeforeTheHeadEnds) {
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n", 1).refused_with, 400);
  EXPECT_EQ(read("GET / HTTP/1.1\n", 1).refused_with, 400);
}

TEST(RequestParser, TakesJustUpToEachLimit) {
  RequestLimits limits;
  limits.body_bytes_max = 10;
  EXPECT_EQ(read_every_way(post("Content-Length: 10\r\n", "0123456789"), limits).whole.size(), 1U);
  EXPECT_EQ(
      read_every_way(
          post("Transfer-Encoding: chunked\r\n", "4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"), limits)
          .whole.size(),
      1U);
  EXPECT_EQ(read_every_way(post("Transfer-Encoding: chunked\r\n", "4\r\n0123\r\n7\r\n456789a\r\n"),
                           limits)
                .refused_with,
            413);
  const auto head = get("GET / HTTP/1.1");
  limits.head_bytes_max = head.size();
  EXPECT_EQ(read_every_way(head, limits).whole.size(), 1U);
  limits.head_bytes_max = head.size() - 1;
  EXPECT_EQ(read_every_way(head, limits).refused_with, 431);
}

TEST(RequestParser, AcceptsAnyMethodItKnowsForOthersToRefuse) {
  for (const auto* line : {"CONNECT a:443 HTTP/1.1", "OPTIONS * HTTP/1.1", "TRACE / HTTP/1.1",
                           "PUT / HTTP/1.1", "DELETE / HTTP/1.1", "PATCH / HTTP/1.1"}) {
    EXPECT_EQ(read_every_way(get(line)).whole.size(), 1U) << line;
  }
}

}  // namespace
}  // namespace hookgate
