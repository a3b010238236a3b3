#include "ingest/http_response.h"

#include <array>
#include <chrono>
#include <ctime>

namespace hookgate {
namespace {

constexpr std::size_t kHeadBytesUsual = 256;

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "";
  }
}

void append_header(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string serialize_response(const Answer& answer, const ResponseForm& form) {
  std::string text;
  text.reserve(kHeadBytesUsual + answer.body.size());
  text.append("HTTP/1.1 ").append(std::to_string(answer.status)).append(" ");
  text.append(reason_phrase(answer.status)).append("\r\n");
  if (!form.date.empty()) append_header(text, "Date", form.date);
  append_header(text, "Content-Type", answer.content_type);
  append_header(text, "Content-Length", std::to_string(answer.body.size()));
  for (const auto& header : answer.headers) append_header(text, header.name, header.value);
  if (!form.keeps_alive) {
    append_header(text, "Connection", "close");
  } else if (form.is_http_1_0) {
    append_header(text, "Connection", "keep-alive");
  }
  text.append("\r\n");
  if (!form.without_body) text.append(answer.body);
  return text;
}

// Not by strftime: its names follow the locale.
std::string http_date(SystemTime at) {
  constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  const auto two = [](int number) {
    return std::string{static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
  };
  std::string text{kDays.at(static_cast<std::size_t>(parts.tm_wday))};
  text += ", " + two(parts.tm_mday) + " ";
  text += kMonths.at(static_cast<std::size_t>(parts.tm_mon));
  text += " " + std::to_string(parts.tm_year + 1900) + " " + two(parts.tm_hour) + ":" +
          two(parts.tm_min) + ":" + two(parts.tm_sec) + " GMT";
  return text;
}

}  // namespace hookgate
