#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/http_message.h"
#include "domain/provider.h"

namespace hookgate {

// Makes signed requests for a load test, each with an event of its own: a number gives the same
// event whenever it is asked for, with a signature of the given time. Ids hold "bench", the number
// in scrambled form, so that they meet the index in random order, and a mark of the run. Whoever
// wants to find the events of load tests looks for ids with "bench" in them.
//
// One thread. The provider must outlive it.
class LoadEvents {
 public:
  // `target`: the path asked for. `body_bytes`: the body is padded to about so many bytes; a
  // smaller figure gives the shortest body there is. `run` tells runs apart. Throws LoadError when
  // this provider's events cannot be made.
  LoadEvents(const Provider& provider, std::string target, std::size_t body_bytes,
             std::uint64_t run);

  // The references are good until the next call.
  const InboundRequest& signed_request(std::uint64_t number, SystemTime now);
  // Signed, and changed after that: what somebody sends who does not know the secret.
  const InboundRequest& forged_request(std::uint64_t number, SystemTime now);

 private:
  struct Place {
    std::size_t header;  // index, or kBody
    std::size_t offset;
  };
  static constexpr std::size_t kBody = SIZE_MAX;

  void read_template(std::string body, std::vector<Header> headers);
  void check_ids();
  std::string token(std::uint64_t number) const;

  const Provider& provider_;
  const std::uint64_t run_;
  std::string body_;
  std::vector<Header> headers_;
  std::vector<Place> places_;  // where the token stands in body_ and headers_
  InboundRequest request_;
};

}  // namespace hookgate
