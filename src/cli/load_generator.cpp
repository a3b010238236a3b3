#include "cli/load_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <variant>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/load_generator_connection.h"
#include "cli/load_generator_events.h"
#include "config_values.h"
#include "domain/text.h"

namespace hookgate {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using SteadyClock = std::chrono::steady_clock;
using Time = SteadyClock::time_point;
using Io = LoadConnection::Io;
using Kind = LoadConnection::Kind;
using State = LoadConnection::State;

constexpr milliseconds kTick{50};  // timeouts are looked for so often
constexpr milliseconds kProgressEvery{100};
constexpr milliseconds kConnectPause{200};  // after one that failed or was lost
constexpr std::size_t kKnownMax = 4096;     // events to choose a redelivery from
constexpr std::size_t kShownBytesMax = 160;
constexpr double kDueSecondsMax = 1e8;  // keeps a tiny rate from overflowing the clock

std::chrono::duration<double> thread_cpu() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return std::chrono::duration<double>{seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

void check(const LoadOptions& options) {
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  if (options.provider == nullptr) throw LoadError("no provider to sign with");
  if (options.connections < 1 || options.connections > kLoadConnectionsMax) {
    throw LoadError("connections must be from 1 to " + std::to_string(kLoadConnectionsMax));
  }
  if (!std::isfinite(options.rate) || options.rate < 0) {
    throw LoadError("the rate must be a number of requests a second, or 0 for as fast as it goes");
  }
  if (options.duration <= milliseconds{0}) throw LoadError("the duration must be above 0");
  if (!is_share(options.duplicates) || !is_share(options.forged) ||
      options.duplicates + options.forged > 1) {
    throw LoadError("shares must be from 0 to 100 %, and together not above 100 %");
  }
}

// The usual limit of 1,024 descriptors is below what a test may ask for.
void allow_descriptors(int connections) {
  rlimit limit{};
  const auto wanted = static_cast<rlim_t>(connections) + 64;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

class Epoll {
 public:
  Epoll() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
    if (fd_ < 0) throw LoadError("epoll is not available");
  }
  ~Epoll() { close(fd_); }
  Epoll(const Epoll&) = delete;
  Epoll& operator=(const Epoll&) = delete;

  void add(LoadConnection& connection, bool waits_for_room) const {
    control(EPOLL_CTL_ADD, connection, waits_for_room);
  }
  void change(LoadConnection& connection, bool waits_for_room) const {
    if (connection.waits_for_room != waits_for_room) {
      control(EPOLL_CTL_MOD, connection, waits_for_room);
    }
  }
  // How many of `events` were filled.
  template <std::size_t kSize>
  std::size_t wait(std::array<epoll_event, kSize>& events, nanoseconds limit) const {
    const auto seconds = duration_cast<std::chrono::seconds>(limit);
    const timespec time{seconds.count(), (limit - seconds).count()};
    const int count =
        epoll_pwait2(fd_, events.data(), static_cast<int>(events.size()), &time, nullptr);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

 private:
  void control(int operation, LoadConnection& connection, bool waits_for_room) const {
    epoll_event event{};
    event.events = EPOLLIN | (waits_for_room ? EPOLLOUT : 0U);
    event.data.ptr = &connection;
    epoll_ctl(fd_, operation, connection.fd, &event);
    connection.waits_for_room = waits_for_room;
  }

  int fd_;
};

class LoadRun {
 public:
  LoadRun(const LoadOptions& options, const std::stop_token& stop)
      : options_(options),
        stop_(stop),
        address_(resolve(options.target)),
        random_(std::random_device{}()),
        events_(*options.provider, options.target.path, options.body_bytes, random_()) {
    for (int i = 0; i < options.connections; ++i) {
      connections_.push_back(std::make_unique<LoadConnection>());
    }
    prefix_ = options.target.path + " HTTP/1.1\r\nHost: " + host_header() + "\r\n";
    for (const auto& header : options.headers)
      prefix_ += header.name + ": " + header.value + "\r\n";
  }

  LoadReport run() {
    connect_all();
    const auto cpu_before = thread_cpu();
    started_ = SteadyClock::now();
    last_answer_ = started_;
    sending_ends_ = started_ + options_.duration;
    next_progress_ = started_ + kProgressEvery;
    while (!is_over(SteadyClock::now())) turn();
    count_unanswered();
    report_.elapsed = last_answer_ - started_;
    report_.generator_cpu = thread_cpu() - cpu_before;
    return std::move(report_);
  }

 private:
  std::string host_header() const {
    const auto& target = options_.target;
    if (!target.unix_path.empty()) return "localhost";
    const bool is_ipv6 = target.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + target.host + "]" : target.host) + ":" + std::to_string(target.port);
  }

  // Before the clock starts, so that connecting is no part of the figures.
  void connect_all() {
    const auto limit = SteadyClock::now() + options_.connect_timeout;
    for (auto& connection : connections_) begin_connect(*connection, SteadyClock::now());
    while (SteadyClock::now() < limit && !stop_.stop_requested() &&
           std::ranges::any_of(connections_, [](const auto& connection) {
             return connection->state == State::kConnecting;
           })) {
      handle_ready(kTick);
    }
    if (idle_.empty()) {
      throw LoadTargetUnreachable("no connection to " + (options_.target.unix_path.empty()
                                                             ? host_header()
                                                             : options_.target.unix_path));
    }
  }

  bool is_closed_loop() const { return options_.rate <= 0; }

  bool may_send(Time now) const {
    return !stop_.stop_requested() && now < sending_ends_ &&
           (options_.count == 0 || report_.sent < options_.count);
  }

  // When the next request of an open loop is due; the end of time when there is none.
  Time next_due() const {
    if (is_closed_loop() || (options_.count != 0 && scheduled_ >= options_.count))
      return Time::max();
    const std::chrono::duration<double> offset{
        std::min(static_cast<double>(scheduled_) / options_.rate, kDueSecondsMax)};
    const auto due = started_ + duration_cast<SteadyClock::duration>(offset);
    return due < sending_ends_ ? due : Time::max();
  }

  bool has_more_to_send(Time now) const {
    if (is_closed_loop()) return may_send(now);
    return !stop_.stop_requested() && next_due() != Time::max();
  }

  bool is_over(Time now) const {
    if (now >= sending_ends_ + options_.answer_timeout) return true;
    return under_way_ == 0 && !has_more_to_send(now);
  }

  void turn() {
    const auto now = SteadyClock::now();
    send_due(now);
    auto wake = std::min(now + kTick, is_closed_loop() ? Time::max() : wake_for_due(now));
    handle_ready(std::max(nanoseconds{0}, duration_cast<nanoseconds>(wake - SteadyClock::now())));
    const auto after = SteadyClock::now();
    if (after < next_tick_) return;
    next_tick_ = after + kTick;
    look_after_connections(after);
    show_progress(after);
  }

  // Nothing to wake up for while every connection is busy: an answer will.
  Time wake_for_due(Time now) const {
    const auto due = next_due();
    return idle_.empty() && due <= now ? Time::max() : due;
  }

  void send_due(Time now) {
    while (!idle_.empty()) {
      const auto due = is_closed_loop() ? now : next_due();
      if (is_closed_loop() ? !may_send(now) : due > now || stop_.stop_requested()) return;
      auto& connection = *idle_.front();
      idle_.pop_front();
      connection.is_listed = false;
      if (connection.state != State::kIdle) continue;
      ++scheduled_;
      send_request(connection, due, now);
    }
  }

  void send_request(LoadConnection& connection, Time due, Time now) {
    choose(connection);
    const auto signed_at = options_.clock();
    const auto& request = connection.kind == Kind::kForged
                              ? events_.forged_request(connection.number, signed_at)
                              : events_.signed_request(connection.number, signed_at);
    write_request(request, connection.out);
    connection.out_sent = 0;
    connection.due = due;
    connection.since = now;
    connection.state = State::kBusy;
    ++report_.sent;
    ++under_way_;
    after_io(connection, connection.flush());
  }

  void choose(LoadConnection& connection) {
    const auto dice = share_(random_);
    if (dice < options_.forged) {
      connection.kind = Kind::kForged;
      connection.number = next_number_++;
      ++report_.forged;
    } else if (dice < options_.forged + options_.duplicates && !known_.empty()) {
      connection.kind = Kind::kRedelivery;
      connection.number = known_[random_() % known_.size()];
      ++report_.redelivered;
    } else {
      connection.kind = Kind::kFresh;
      connection.number = next_number_++;
      ++report_.fresh;
    }
  }

  void write_request(const InboundRequest& request, std::string& out) const {
    out.assign(request.method);
    out += ' ';
    out += prefix_;
    for (const auto& header : request.headers) {
      out += header.name;
      out += ": ";
      out += header.value;
      out += "\r\n";
    }
    out += "Content-Length: ";
    out += std::to_string(request.body.size());
    out += "\r\n\r\n";
    out += request.body;
  }

  void handle_ready(nanoseconds limit) {
    const auto count = epoll_.wait(ready_, limit);
    for (std::size_t i = 0; i < count; ++i) {
      handle(*static_cast<LoadConnection*>(ready_[i].data.ptr), ready_[i].events);
    }
  }

  void handle(LoadConnection& connection, std::uint32_t events) {
    switch (connection.state) {
      case State::kDown: return;
      case State::kConnecting: finish_connect(connection); return;
      case State::kIdle: on_idle_readable(connection); return;
      case State::kBusy:
        if ((events & EPOLLOUT) != 0) after_io(connection, connection.flush());
        if (connection.state == State::kBusy && (events & ~std::uint32_t{EPOLLOUT}) != 0) {
          on_answer_bytes(connection);
        }
        return;
    }
  }

  void after_io(LoadConnection& connection, Io io) {
    if (io == Io::kFailed) return lose(connection, "the connection ended while a request was sent");
    epoll_.change(connection, io == Io::kAgain);
  }

  void on_idle_readable(LoadConnection& connection) {
    if (connection.read() == Io::kAgain) return;
    ++report_.reconnects;
    begin_connect(connection, SteadyClock::now());
  }

  void on_answer_bytes(LoadConnection& connection) {
    const auto io = connection.read();
    if (io == Io::kAgain) return;
    if (io == Io::kFailed) return lose(connection, "the connection ended before the answer");
    const auto answer = read_answer(connection.in);
    if (std::holds_alternative<IncompleteAnswer>(answer)) return;
    const auto* complete = std::get_if<LoadAnswer>(&answer);
    if (complete == nullptr || complete->bytes != connection.in.size()) {
      return lose(connection, "what came is no answer");
    }
    const auto now = SteadyClock::now();
    report_.latency.record(now - connection.due);
    last_answer_ = now;
    count_answer(connection, *complete);
    --under_way_;
    if (complete->closes) {
      ++report_.reconnects;
      return begin_connect(connection, now);
    }
    connection.in.clear();
    set_idle(connection, now);
    if (is_closed_loop()) send_due(now);
  }

  void count_answer(const LoadConnection& connection, const LoadAnswer& answer) {
    ++report_.answered;
    const bool is_success = answer.status >= 200 && answer.status < 300;
    const auto says = [&](std::string_view word) {
      return answer.body.find(word) != std::string_view::npos;
    };
    const char* expected = "200 accepted";
    bool is_right = false;
    if (answer.status == 429 || answer.status == 503) {
      ++report_.limited;
      return;
    }
    if (is_success && (answer.replayed || says(R"("status":"duplicate")"))) {
      ++report_.duplicate;
      is_right = connection.kind == Kind::kRedelivery;
    } else if (is_success && says(R"("status":"conflict")")) {
      ++report_.conflict;
    } else if (is_success) {
      ++report_.accepted;
      is_right = connection.kind == Kind::kFresh;
    } else if (answer.status >= 400 && answer.status < 500) {
      ++report_.rejected;
      is_right = connection.kind == Kind::kForged && answer.status == 401;
    } else {
      ++report_.broken;
    }
    if (is_right) {
      if (connection.kind == Kind::kFresh) remember(connection.number);
      return;
    }
    ++report_.wrong;
    if (connection.kind == Kind::kRedelivery) expected = "200 duplicate";
    if (connection.kind == Kind::kForged) expected = "401";
    note_error("expected " + std::string{expected} + ", got " + std::to_string(answer.status) +
               " " + std::string{answer.body});
  }

  void remember(std::uint64_t number) {
    if (known_.size() < kKnownMax) {
      known_.push_back(number);
    } else {
      known_[random_() % kKnownMax] = number;
    }
  }

  void lose(LoadConnection& connection, const char* why) {
    ++report_.lost;
    --under_way_;
    note_error(why);
    put_down(connection, SteadyClock::now());
  }

  // To be connected again a little later: what ends or hangs once may do so again and again.
  static void put_down(LoadConnection& connection, Time now) {
    connection.close();
    connection.since = now;
  }

  void begin_connect(LoadConnection& connection, Time now) {
    const auto io = connection.connect(address_);
    connection.since = now;
    if (io == Io::kFailed) {
      ++report_.connects_failed;
      return;
    }
    epoll_.add(connection, io == Io::kAgain);
    if (io == Io::kDone) set_idle(connection, now);
  }

  void finish_connect(LoadConnection& connection) {
    if (connection.finish_connect() == Io::kFailed) return give_up_connect(connection);
    epoll_.change(connection, false);
    set_idle(connection, SteadyClock::now());
  }

  void give_up_connect(LoadConnection& connection) {
    ++report_.connects_failed;
    put_down(connection, SteadyClock::now());
  }

  void set_idle(LoadConnection& connection, Time now) {
    connection.state = State::kIdle;
    connection.since = now;
    if (!std::exchange(connection.is_listed, true)) idle_.push_back(&connection);
  }

  void look_after_connections(Time now) {
    for (auto& connection : connections_) {
      const auto age = now - connection->since;
      if (connection->state == State::kBusy && age >= options_.answer_timeout) {
        ++report_.hung;
        --under_way_;
        note_error("no answer in time");
        put_down(*connection, now);
      } else if (connection->state == State::kConnecting && age >= options_.connect_timeout) {
        give_up_connect(*connection);
      } else if (connection->state == State::kDown && age >= kConnectPause &&
                 has_more_to_send(now)) {
        begin_connect(*connection, now);
      }
    }
  }

  void show_progress(Time now) {
    if (!options_.on_progress || now < next_progress_) return;
    next_progress_ = now + kProgressEvery;
    const std::chrono::duration<double> passed = now - started_;
    auto share = passed / std::chrono::duration<double>{options_.duration};
    if (options_.count != 0) {
      share =
          std::max(share, static_cast<double>(report_.sent) / static_cast<double>(options_.count));
    }
    options_.on_progress(report_.answered, std::min(1.0, share));
  }

  void count_unanswered() {
    for (const auto& connection : connections_) {
      if (connection->state == State::kBusy) ++report_.hung;
    }
    if (is_closed_loop() || stop_.stop_requested()) return;
    for (; next_due() != Time::max(); ++scheduled_) ++report_.unsent;
  }

  void note_error(const std::string& text) {
    if (report_.errors.size() >= kLoadErrorsMax) return;
    auto line = clean_text(text, kShownBytesMax);
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
    report_.errors.push_back(std::move(line));
  }

  const LoadOptions& options_;
  const std::stop_token stop_;
  const LoadAddress address_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> share_{0, 1};
  LoadEvents events_;
  Epoll epoll_;
  std::vector<std::unique_ptr<LoadConnection>> connections_;
  std::deque<LoadConnection*> idle_;  // those that stopped being idle meanwhile are passed over
  std::array<epoll_event, 256> ready_{};
  std::string prefix_;  // of every request, after the method

  Time started_;
  Time sending_ends_;
  Time last_answer_;
  Time next_tick_;
  Time next_progress_;
  std::uint64_t scheduled_ = 0;    // requests of an open loop that had their moment
  std::uint64_t next_number_ = 0;  // of an event nobody has seen
  std::uint64_t under_way_ = 0;
  std::vector<std::uint64_t> known_;  // some of the accepted events
  LoadReport report_;
};

}  // namespace

bool LoadTarget::is_loopback() const {
  return !unix_path.empty() || ListenAddress{host, port}.is_loopback();
}

LoadReport generate_load(const LoadOptions& options, const std::stop_token& stop) {
  check(options);
  allow_descriptors(options.connections);
  return LoadRun{options, stop}.run();
}

}  // namespace hookgate
