#pragma once

#include <string>
#include <vector>

namespace hookgate {

// What a listener does with the first request of a row.
struct FramingOutcome {
  int status = 0;
  bool closes = true;  // then nothing behind the first request is ever run
};

// One first request, and behind it on the same connection a correctly signed second one. When the
// first is refused and the connection closed, the second must never be run; when the connection
// stays open, the second is the next request and is run.
struct FramingCase {
  std::string name;   // unique in its group
  std::string group;  // the rows of a group are run against one gateway
  std::string first;  // bytes
  std::string second;
  std::string first_event;  // ids of the events the two carry
  std::string second_event;
  FramingOutcome outcome;
  bool ends_sending = false;  // the client half-closes behind the first; there is no second
  bool to_head = false;       // the answer has no body
};

std::vector<std::string> framing_groups();

// Signed now: build them right before they are sent. `run` is part of every event id, so that the
// rows can be sent more than once. The receiver's limit decides where the rows about large bodies
// lie.
std::vector<FramingCase> framing_cases(const std::string& group, const std::string& run,
                                       std::size_t body_bytes_max);

}  // namespace hookgate
