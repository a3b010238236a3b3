#include "framing_cases.h"

#include <functional>
#include <utility>

#include "listener_support.h"

namespace hookgate {
namespace {

using namespace std::string_literals;

constexpr std::size_t kHeadBytesMax = 16UL * 1024;
constexpr std::size_t kTargetBytesMax = 2048;
constexpr std::size_t kHeadersMax = 100;

FramingOutcome refused(int status) {
  return {status, true};
}
FramingOutcome answered(int status) {
  return {status, false};
}
const FramingOutcome kAccepted{200, false};
const FramingOutcome kAcceptedLast{200, true};

// Collects the rows of a group.
class Rows {
 public:
  using Change = std::function<void(RequestText&)>;

  Rows(std::string group, std::string run, std::size_t limit)
      : body_bytes_max(limit), group_(std::move(group)), run_(std::move(run)) {}

  const std::size_t body_bytes_max;

  FramingCase& raw(const std::string& name, const FramingOutcome& expected,
                   const std::string& bytes) {
    FramingCase row;
    row.name = name;
    row.group = group_;
    row.first = bytes;
    row.first_event = event("first");
    row.second_event = event("hidden");
    row.second = RequestText{row.second_event}.bytes();
    row.outcome = expected;
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  // A signed request, changed.
  FramingCase& bent(const std::string& name, const FramingOutcome& expected, const Change& change,
                    std::size_t body_bytes = 0) {
    RequestText request{event("first"), body_bytes};
    change(request);
    return raw(name, expected, request.bytes());
  }

  // A signed request with these bytes in the place of its request line.
  FramingCase& line(const std::string& bytes, const FramingOutcome& expected,
                    const std::string& name = "") {
    const auto whole = RequestText{event("first")}.bytes();
    return raw(name.empty() ? bytes : name, expected, bytes + whole.substr(whole.find("\r\n") + 2));
  }

  // A signed request with this header line at the end of its head.
  FramingCase& header(const std::string& text, const FramingOutcome& expected,
                      const std::string& name = "") {
    return bent(name.empty() ? text : name, expected,
                [&](RequestText& request) { request.add(text); });
  }

  // A signed request with another line in the place of its length.
  FramingCase& length(const std::string& name, const FramingOutcome& expected,
                      const std::function<std::string(std::size_t)>& text) {
    return bent(name, expected, [&](RequestText& request) {
      request.replace("Content-Length", text(request.body.size()));
    });
  }

  // A signed request with these encoding lines in the place of its length, and a chunked body.
  FramingCase& coding(const std::string& text, const FramingOutcome& expected) {
    return bent(text, expected, [&](RequestText& request) {
      request.chunked(in_chunks(request.body, 100)).replace("Transfer-Encoding", text);
    });
  }

  // A signed request whose body is sent as what `wire` makes of it.
  FramingCase& chunks(const std::string& name, const FramingOutcome& expected,
                      const std::function<std::string(const std::string&)>& wire,
                      std::size_t body_bytes = 0) {
    return bent(
        name, expected, [&](RequestText& request) { request.chunked(wire(request.body)); },
        body_bytes);
  }

  // A request without a body.
  FramingCase& bare(const std::string& method, const std::string& target,
                    const FramingOutcome& expected) {
    return raw(method + " " + target, expected,
               method + " " + target + " HTTP/1.1\r\nHost: gateway.test\r\n\r\n");
  }

  std::vector<FramingCase> take() { return std::move(rows_); }

 private:
  std::string event(const std::string& word) const {
    return word + "_" + group_ + "_" + run_ + "_" + std::to_string(rows_.size());
  }

  std::string group_;
  std::string run_;
  std::vector<FramingCase> rows_;
};

// Up to the body; authentic or not, nobody gets to ask.
std::string smuggling_head(const std::string& coding, std::size_t length) {
  return "POST /webhooks/stripe HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: " +
         std::to_string(length) + "\r\n" + coding + "\r\n\r\n";
}

std::string chunk_size_line(const std::string& data) {
  return chunk(data).substr(0, chunk(data).find("\r\n") + 2);
}

void add_request_lines(Rows& rows) {
  rows.line("POST /webhooks/stripe http/1.1\r\n", refused(400));
  rows.line("POST  /webhooks/stripe HTTP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe  HTTP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe HTTP/1.1 \r\n", refused(400));
  rows.line("POST\t/webhooks/stripe HTTP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe\tHTTP/1.1\r\n", refused(400));
  rows.line(" POST /webhooks/stripe HTTP/1.1\r\n", refused(400));
  rows.line("\r\nPOST /webhooks/stripe HTTP/1.1\r\n", refused(400));
  rows.line("\nPOST /webhooks/stripe HTTP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe HTTP/1.1\n", refused(400));
  rows.line("POST /webhooks/stripe\r HTTP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe HTTP/1.1 x\r\n", refused(400));
  rows.line("POST /webhooks/stripe x HTTP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe\r\n", refused(400));
  rows.line("POST\r\n", refused(400));
  rows.line("POST  HTTP/1.1\r\n", refused(400), "no target");
  rows.line(" /webhooks/stripe HTTP/1.1\r\n", refused(400), "no method");
  rows.line("PO\x01ST /webhooks/stripe HTTP/1.1\r\n", refused(400), "control byte in the method");
  rows.line("POST /webhooks/stripe HTTP/1.10\r\n", refused(400));
  rows.line("POST /webhooks/stripe HTTP/11\r\n", refused(400));
  rows.line("POST /webhooks/stripe HTCPCP/1.1\r\n", refused(400));
  rows.line("POST /webhooks/stripe HTTP/1.2\r\n", refused(505));
  rows.line("POST /webhooks/stripe HTTP/0.9\r\n", refused(505));
  rows.line("POST /webhooks/stripe HTTP/2.0\r\n", refused(505));
  rows.line("POST /webhooks/stripe HTTP/3.0\r\n", refused(505));
  rows.raw("the preface of HTTP/2", refused(505), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  rows.raw("a TLS hello", refused(400), "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"s);
}

void add_targets(Rows& rows) {
  const auto target = [&](const std::string& name, const std::string& text,
                          const FramingOutcome& expected) {
    rows.bent(name, expected, [&](RequestText& request) { request.target = text; });
  };
  const auto filled = [](std::size_t bytes) {
    const auto begin = "/webhooks/stripe?q="s;
    return begin + std::string(bytes - begin.size(), 'q');
  };
  target("a query", "/webhooks/stripe?a=b%20c&d", kAccepted);
  target("the longest", filled(kTargetBytesMax), kAccepted);
  target("one byte longer", filled(kTargetBytesMax + 1), refused(414));
  target("much longer", filled(2 * kTargetBytesMax), refused(414));
  rows.raw("a line without an end", refused(414), "POST /" + std::string(kHeadBytesMax + 1, 'a'));
  target("absolute form", "http://gateway.test/webhooks/stripe", refused(400));
  target("without a slash", "webhooks/stripe", refused(400));
  target("an asterisk", "*", refused(400));
  target("a fragment", "/webhooks/stripe#x", refused(400));
  target("NUL", "/webhooks/stripe?\0"s, refused(400));
  target("a control byte", "/webhooks/stripe?\x01", refused(400));
  target("DEL", "/webhooks/stripe?\x7f", refused(400));
  target("a byte over 0x7f", "/webhooks/stripe?\xe4", refused(400));
  target("another path", "/webhooks/other", refused(404));
  target("escaped letters", "/webhooks/%73tripe", refused(404));
  target("two slashes", "//webhooks/stripe", refused(404));
  target("dots", "/webhooks/../webhooks/stripe", refused(404));
  target("a path behind it", "/webhooks/stripe/", refused(404));
}

void add_methods(Rows& rows) {
  const auto method = [&](const std::string& name, const FramingOutcome& expected) {
    rows.bent(name + " with a body", expected,
              [&](RequestText& request) { request.method = name; });
  };
  method("GET", refused(400));
  method("HEAD", refused(400));
  method("PUT", refused(405));
  method("PATCH", refused(405));
  method("DELETE", refused(405));
  method("BREW", refused(501));
  method("post", refused(501));
  rows.bare("GET", "/webhooks/stripe", answered(405));
  rows.bare("HEAD", "/webhooks/stripe", answered(405)).to_head = true;
  rows.bare("DELETE", "/webhooks/stripe", answered(405));
  rows.bare("OPTIONS", "/webhooks/stripe", answered(405));
  rows.bare("TRACE", "/webhooks/stripe", answered(405));
  rows.bare("OPTIONS", "*", answered(404));
  rows.bare("CONNECT", "gateway.test:443", answered(404));
  rows.bare("GET", "/healthz", kAccepted);
  rows.bare("HEAD", "/healthz", kAccepted).to_head = true;
  rows.bare("GET", "/readyz", kAccepted);
  rows.bare("GET", "/nothing", answered(404));
  rows.bare("DELETE", "/healthz", answered(405));
}

void add_headers(Rows& rows) {
  rows.header("X-Blank : 1", refused(400));
  rows.header("X-Tab\t: 1", refused(400), "a tab before the colon");
  rows.header(": no name", refused(400));
  rows.header("no colon", refused(400));
  rows.header("X Y: 1", refused(400));
  rows.header("X(Y): 1", refused(400));
  rows.header("X\xe4: 1", refused(400), "a byte over 0x7f in a name");
  rows.header("X\x01: 1", refused(400), "a control byte in a name");
  rows.header("X: a\nY: b", refused(400), "a bare LF");
  rows.header("X: a\rY: b", refused(400), "a bare CR");
  rows.header("X: a\r\r\nY: b", refused(400), "two CR");
  rows.header("X: a\0b"s, refused(400), "NUL in a value");
  rows.header("X: a\x01b", refused(400), "a control byte in a value");
  rows.header("X: a\x7f", refused(400), "DEL in a value");
  rows.header("X: a\r\n b", refused(400), "folded with a blank");
  rows.header("X: a\r\n\tb", refused(400), "folded with a tab");
  rows.bent("folded below the request line", refused(400),
            [](RequestText& request) { request.lines.insert(request.lines.begin(), " X: 1"); });
  rows.bent("an end of LF alone", refused(400), [](RequestText& request) {
    request.body = "\n" + request.body;
    request.lines.back() += "\n";  // the head's own end then comes too late
  });
  rows.bent("no Host", refused(400), [](RequestText& request) { request.remove("Host"); });
  rows.header("Host: gateway.test", refused(400));
  rows.header("Host: other.test", refused(400));
  rows.header("X: \xc3\xa4\xff", kAccepted, "bytes over 0x7f in a value");
  rows.header("X: a\tb", kAccepted, "a tab in a value");
  rows.header("X:", kAccepted);
  rows.header("X:1", kAccepted);
  rows.header("X:  1  ", kAccepted);
  rows.header("!#$%&'*+-.^_`|~09: 1", kAccepted);
  rows.bent("names in any case", kAccepted, [](RequestText& request) {
    for (auto& line : request.lines) {
      for (std::size_t i = 0; i < line.find(':'); i += 2)
        line[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[i])));
    }
  });
  rows.bent("Stripe-Signature twice", refused(400),
            [](RequestText& request) { request.lines.push_back(request.lines.at(2)); });
  rows.header("Upgrade: h2c", kAccepted);
  rows.bent("a whole upgrade to h2c", kAccepted, [](RequestText& request) {
    request.add("Connection: Upgrade, HTTP2-Settings")
        .add("Upgrade: h2c")
        .add("HTTP2-Settings: AA");
  });
  rows.bent("a whole upgrade to websocket", kAccepted, [](RequestText& request) {
    request.add("Connection: Upgrade").add("Upgrade: websocket").add("Sec-WebSocket-Version: 13");
  });
  rows.header("Expect: 200-ok", refused(417));
  rows.header("Range: bytes=0-1", kAccepted);
  rows.header("Accept-Encoding: gzip, br", kAccepted);
  rows.header("TE: chunked", kAccepted);
  rows.header("Transfer_Encoding: chunked", kAccepted);
  rows.header("Content_Length: 5", kAccepted);
  rows.header("Content-Encoding: gzip", refused(415));
  rows.header("Content-Encoding: identity", kAccepted);
  rows.header("REMOTE_ADDR: 6.6.6.6", kAccepted);
  rows.bent("multipart", kAccepted, [](RequestText& request) {
    request.replace("Content-Type", "Content-Type: multipart/form-data; boundary=x");
  });
  rows.bent("a form", kAccepted, [](RequestText& request) {
    request.replace("Content-Type", "Content-Type: application/x-www-form-urlencoded");
  });
}

void add_limits(Rows& rows) {
  const auto fill_head = [](RequestText& request, std::size_t bytes) {
    const auto missing = bytes - request.head().size() - 5;  // "X: " and the line's end
    request.add("X: " + std::string(missing, 'x'));
  };
  const auto fill_count = [](RequestText& request, std::size_t count) {
    while (request.lines.size() < count) request.add("X: " + std::to_string(request.lines.size()));
  };
  rows.bent("the largest head", kAccepted,
            [&](RequestText& request) { fill_head(request, kHeadBytesMax); });
  rows.bent("one byte more", refused(431),
            [&](RequestText& request) { fill_head(request, kHeadBytesMax + 1); });
  rows.bent("a header of 40 KiB", refused(431),
            [&](RequestText& request) { fill_head(request, 40UL * 1024); });
  rows.bent("many long headers", refused(431), [](RequestText& request) {
    for (int i = 0; i < 20; ++i) request.add("X: " + std::string(1'000, 'x'));
  });
  rows.bent("the most headers", kAccepted,
            [&](RequestText& request) { fill_count(request, kHeadersMax); });
  rows.bent("one header more", refused(431),
            [&](RequestText& request) { fill_count(request, kHeadersMax + 1); });
  rows.bent("a thousand headers", refused(431),
            [&](RequestText& request) { fill_count(request, 1'000); });
  rows.bent(
      "the largest body", kAccepted, [](RequestText&) {}, rows.body_bytes_max);
  rows.bent(
      "one byte over", refused(413), [](RequestText&) {}, rows.body_bytes_max + 1);
  rows.bent(
      "far over", refused(413), [](RequestText&) {}, 20 * rows.body_bytes_max);
  rows.chunks(
      "the largest body in chunks", kAccepted,
      [](const std::string& body) { return in_chunks(body, 1'000); }, rows.body_bytes_max);
  rows.chunks(
      "one byte over in chunks", refused(413),
      [](const std::string& body) { return in_chunks(body, 1'000); }, rows.body_bytes_max + 1);
  rows.chunks(
      "far over in one chunk", refused(413),
      [](const std::string& body) { return in_chunks(body, body.size()); },
      20 * rows.body_bytes_max);
}

void add_lengths(Rows& rows) {
  const auto number = [](std::size_t bytes) { return std::to_string(bytes); };
  rows.bent("no length", refused(411),
            [](RequestText& request) { request.remove("Content-Length"); });
  const auto length = [&](const std::string& name, const FramingOutcome& expected,
                          const std::string& before, const std::string& after) {
    rows.length(name, expected, [&](std::size_t bytes) {
      return "Content-Length: " + before + number(bytes) + after;
    });
  };
  length("+n", refused(400), "+", "");
  length("-n", refused(400), "-", "");
  length("0xn", refused(400), "0x", "");
  length("n n", refused(400), "", " 5");
  length("n abc", refused(400), "", "abc");
  length("n.0", refused(400), "", ".0");
  length("ne0", refused(400), "", "e0");
  length("n,", refused(400), "", ",");
  length(",n", refused(400), ",", "");
  length("quoted", refused(400), "\"", "\"");
  length("a byte over 0x7f behind it", refused(400), "", "\xa0");
  length("zeros before it", kAccepted, "000", "");
  length("blanks around it", kAccepted, "  ", " \t");
  rows.length("empty", refused(400), [](std::size_t) { return "Content-Length:"; });
  rows.length("-1", refused(400), [](std::size_t) { return "Content-Length: -1"; });
  rows.length("20 digits", refused(400),
              [](std::size_t) { return "Content-Length: 99999999999999999999"; });
  rows.length("2^64 + n", refused(400), [](std::size_t bytes) {
    return "Content-Length: 1844674407370955" + std::to_string(1616 + bytes);
  });
  rows.length("18 digits", refused(413),
              [](std::size_t) { return "Content-Length: 999999999999999999"; });
  rows.length("n, n", refused(400), [&](std::size_t bytes) {
    return "Content-Length: " + number(bytes) + ", " + number(bytes);
  });
  rows.length("n, m", refused(400),
              [&](std::size_t bytes) { return "Content-Length: " + number(bytes) + ", 5"; });
  rows.length("twice the same", refused(400), [&](std::size_t bytes) {
    return "Content-Length: " + number(bytes) + "\r\nContent-Length: " + number(bytes);
  });
  rows.length("two, the right one first", refused(400), [&](std::size_t bytes) {
    return "Content-Length: " + number(bytes) + "\r\nContent-Length: 5";
  });
  rows.length("two, the right one last", refused(400), [&](std::size_t bytes) {
    return "Content-Length: 5\r\nContent-Length: " + number(bytes);
  });
  rows.length("two in other letters", refused(400), [&](std::size_t bytes) {
    return "content-length: 0\r\nContent-Length: " + number(bytes);
  });
  rows.length("n before the colon a blank", refused(400),
              [&](std::size_t bytes) { return "Content-Length : " + number(bytes); });
  rows.length("with chunked behind it", refused(400), [&](std::size_t bytes) {
    return "Content-Length: " + number(bytes) + "\r\nTransfer-Encoding: chunked";
  });
  rows.length("with chunked before it", refused(400), [&](std::size_t bytes) {
    return "Transfer-Encoding: chunked\r\nContent-Length: " + number(bytes);
  });
  rows.length("0 with chunked", refused(400),
              [](std::size_t) { return "Content-Length: 0\r\nTransfer-Encoding: chunked"; });
  rows.raw("GET with 0", kAccepted,
           "GET /healthz HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 0\r\n\r\n");
  rows.bent("a body that ends early", refused(400),
            [](RequestText& request) { request.body.resize(request.body.size() - 1); })
      .ends_sending = true;
  rows.bent("a head that ends early", refused(400),
            [](RequestText& request) {
              request.body.clear();
              request.lines.resize(1);
              request.lines.back() += "\r\nX-Half";
            })
      .ends_sending = true;
}

void add_codings(Rows& rows) {
  rows.coding("Transfer-Encoding: chunked", kAccepted);
  rows.coding("Transfer-Encoding: Chunked", kAccepted);
  rows.coding("transfer-ENCODING:chunked", kAccepted);
  rows.coding("Transfer-Encoding: gzip, chunked", refused(501));
  rows.coding("Transfer-Encoding: chunked, gzip", refused(501));
  rows.coding("Transfer-Encoding: chunked, chunked", refused(501));
  rows.coding("Transfer-Encoding: chunked, identity", refused(501));
  rows.coding("Transfer-Encoding: identity", refused(501));
  rows.coding("Transfer-Encoding: xchunked", refused(501));
  rows.coding("Transfer-Encoding: chunkedx", refused(501));
  rows.coding("Transfer-Encoding: chunked;q=1", refused(501));
  rows.coding("Transfer-Encoding: \"chunked\"", refused(501));
  rows.coding("Transfer-Encoding: chunked,", refused(501));
  rows.coding("Transfer-Encoding:", refused(501));
  rows.coding("Transfer-Encoding: gzip", refused(501));
  rows.coding(
      "Transfer-Encoding: \x0b"
      "chunked",
      refused(400));
  rows.coding("Transfer-Encoding : chunked", refused(400));
  rows.coding("Transfer-Encoding:\r\n chunked", refused(400));
  rows.coding("X: y\nTransfer-Encoding: chunked", refused(400));
  rows.coding("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", refused(400));
  rows.coding("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", refused(400));
  rows.coding("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", refused(501));
  rows.bent("in HTTP/1.0", refused(400), [](RequestText& request) {
    request.version = "HTTP/1.0";
    request.chunked(in_chunks(request.body, 100));
  });
  rows.bent("GET with chunked", refused(400), [](RequestText& request) {
    request.method = "GET";
    request.chunked(in_chunks(request.body, 100));
  });
  rows.bent("PUT with chunked", refused(405), [](RequestText& request) {
    request.method = "PUT";
    request.chunked(in_chunks(request.body, 100));
  });
}

void add_chunks(Rows& rows) {
  using Text = const std::string&;
  const auto all = [](Text body) { return in_chunks(body, body.size()); };
  const auto size_line = [&](const std::string& name, int status, const std::string& before,
                             const std::string& after) {
    rows.chunks(
        name, refused(status),
        [&](Text body) { return before + chunk(body).insert(3, after) + "0\r\n\r\n"; }, 300);
  };
  rows.chunks("one", kAccepted, all);
  rows.chunks("of one byte", kAccepted, [](Text body) { return in_chunks(body, 1); });
  rows.chunks("upper-case size", kAccepted, [](Text body) {
    return "A\r\n" + body.substr(0, 10) + "\r\n" + in_chunks(body.substr(10), 1'000);
  });
  rows.chunks("zeros before the size", kAccepted,
              [](Text body) { return "00" + in_chunks(body, body.size()); });
  rows.chunks("an end of two zeros", kAccepted,
              [](Text body) { return chunk(body) + "00\r\n\r\n"; });
  size_line("0xn", 400, "0x", "");
  size_line("-n", 400, "-", "");
  size_line("+n", 400, "+", "");
  size_line(" n", 400, " ", "");
  size_line("n and a blank", 400, "", " ");
  size_line("n and a tab", 400, "", "\t");
  size_line("n and NUL", 400, "", "\0"s);
  size_line("an extension", 400, "", ";a=b");
  size_line("an empty extension", 400, "", ";");
  size_line("an extension of 20 KB", 400, "", ";" + std::string(20'000, 'x'));
  size_line("a hundred zeros", 400, std::string(100, '0'), "");
  const auto size = [&](Text text, int status) {
    rows.chunks("size '" + text + "'", refused(status),
                [&](Text body) { return text + "\r\n" + body + "\r\n0\r\n\r\n"; });
  };
  size("", 400);
  size("g", 400);
  size("-2", 400);
  size("0x10", 400);
  size("fffffffffffffffff", 400);
  size("ffffffffffffffff", 400);
  size("10000000000000001", 400);
  size("80000000", 413);
  size("7fffffff", 413);
  size("ffffffff", 413);
  rows.chunks("a size line of LF", refused(400),
              [](Text body) { return chunk(body).erase(2, 1) + "0\r\n\r\n"; });
  rows.chunks("a size line of CR", refused(400),
              [](Text body) { return chunk(body).erase(3, 1) + "0\r\n\r\n"; });
  rows.chunks("no line end behind the data", refused(400),
              [](Text body) { return chunk(body).erase(chunk(body).size() - 2) + "0\r\n\r\n"; });
  rows.chunks("LF behind the data", refused(400),
              [](Text body) { return chunk(body).erase(chunk(body).size() - 2, 1) + "0\r\n\r\n"; });
  rows.chunks("more data than said", refused(400),
              [](Text body) { return chunk(body).insert(10, "xx") + "0\r\n\r\n"; });
  rows.chunks("a trailer", refused(400),
              [](Text body) { return chunk(body) + "0\r\nX-Trailer: 1\r\n\r\n"; });
  rows.chunks("a length as a trailer", refused(400),
              [](Text body) { return chunk(body) + "0\r\nContent-Length: 5\r\n\r\n"; });
  rows.chunks("an end of LF", refused(400), [](Text body) { return chunk(body) + "0\r\n\n"; });
  rows.chunks("no end", refused(400), [](Text body) { return chunk(body); }).ends_sending = true;
}

void add_persistence(Rows& rows) {
  const auto version_1_0 = [](RequestText& request) { request.version = "HTTP/1.0"; };
  rows.bent("HTTP/1.1", kAccepted, [](RequestText&) {});
  rows.bent("HTTP/1.0", kAcceptedLast, version_1_0);
  rows.bent("HTTP/1.0 without Host", kAcceptedLast, [&](RequestText& request) {
    version_1_0(request);
    request.remove("Host");
  });
  rows.bent("HTTP/1.0 with keep-alive", kAccepted, [&](RequestText& request) {
    version_1_0(request);
    request.add("Connection: keep-alive");
  });
  rows.bent("HTTP/1.0 with an expectation", kAcceptedLast, [&](RequestText& request) {
    version_1_0(request);
    request.add("Expect: 100-continue");
  });
  rows.header("Connection: close", kAcceptedLast);
  rows.header("Connection: Close", kAcceptedLast);
  rows.header("Connection: keep-alive, close", kAcceptedLast);
  rows.header("Connection: keep-alive", kAccepted);
  rows.header("Keep-Alive: timeout=1, max=1", kAccepted);
  rows.bent("a wrong signature", answered(401),
            [](RequestText& request) { request.body[request.body.size() / 2] ^= 1; });
  rows.bent("HTTP/1.1, then half-closed", kAcceptedLast, [](RequestText&) {}).ends_sending = true;
  rows.chunks("chunked, then half-closed", kAcceptedLast,
              [](const std::string& body) { return in_chunks(body, 100); })
      .ends_sending = true;
}

// The second request is inside the first one's body for whoever believes the length, and behind it
// for whoever believes the coding, or the other way round.
void add_smuggled(Rows& rows) {
  const auto end = "0\r\n\r\n"s;
  const auto both_ways = [&](const std::string& coding) {
    auto& by_length = rows.raw(coding + ", hidden by the length", refused(400), "");
    by_length.first = smuggling_head(coding, end.size() + by_length.second.size()) + end;
    auto& by_coding = rows.raw(coding + ", hidden by the coding", refused(400), "");
    by_coding.first = smuggling_head(coding, chunk_size_line(by_coding.second).size()) +
                      chunk_size_line(by_coding.second);
    by_coding.second += "\r\n" + end;
  };
  both_ways("Transfer-Encoding: chunked");
  both_ways("Transfer-Encoding : chunked");
  both_ways("Transfer-Encoding: xchunked");
  both_ways("Transfer-Encoding:\tchunked");
  both_ways(
      "Transfer-Encoding: \x0b"
      "chunked");
  both_ways("Transfer-Encoding:\r\n chunked");
  both_ways(" Transfer-Encoding: chunked");
  both_ways("X: y\nTransfer-Encoding: chunked");
  both_ways("X: y\rTransfer-Encoding: chunked");
  both_ways("Transfer-Encoding: chunked\r\nTransfer-Encoding: x");
  both_ways("Transfer-Encoding: x\r\nTransfer-Encoding: chunked");
  both_ways("Transfer-Encoding: identity, chunked");
  both_ways("Transfer-Encoding\x01: chunked");
}

const std::vector<std::pair<std::string, void (*)(Rows&)>> kGroups{
    {"request_line", add_request_lines},
    {"target", add_targets},
    {"method", add_methods},
    {"header", add_headers},
    {"limit", add_limits},
    {"length", add_lengths},
    {"coding", add_codings},
    {"chunk", add_chunks},
    {"persistence", add_persistence},
    {"smuggled", add_smuggled},
};

}  // namespace

std::vector<std::string> framing_groups() {
  std::vector<std::string> names;
  names.reserve(kGroups.size());
  for (const auto& [name, add] : kGroups) names.push_back(name);
  return names;
}

std::vector<FramingCase> framing_cases(const std::string& group, const std::string& run,
                                       std::size_t body_bytes_max) {
  Rows rows{group, run, body_bytes_max};
  for (const auto& [name, add] : kGroups) {
    if (name == group) add(rows);
  }
  return rows.take();
}

}  // namespace hookgate
