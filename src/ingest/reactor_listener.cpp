#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/resource.h>
#include <sys/socket.h>

#include "crypto/tls.h"
#include "ingest/http_response.h"
#include "ingest/listener.h"
#include "ingest/listening_socket.h"
#include "ingest/reactor_connection.h"
#include "ingest/request_workers.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr milliseconds kSweepPause{200};  // between two looks at the deadlines
constexpr milliseconds kSweepPauseDraining{20};
// Up to this size a request is verified by the reactor itself: that takes less time than handing it
// over, and what has become whole in one turn of the loop is then submitted together.
constexpr std::size_t kInlineBytesMax = 16UL * 1024;
constexpr int kAcceptsPerTurn = 64;                // before connections get their turn
constexpr std::size_t kDescriptorsReserved = 256;  // for the database, the log, other listeners

// Answers on their way back to the reactor, from any thread, and after it has ended too.
class ReplyBox {
 public:
  struct Reply {
    std::uint64_t connection = 0;
    std::uint64_t sequence = 0;
    Answer answer;
    ReactorClock::time_point at_hand;
  };

  // `wake` is called, by whoever puts a reply into the empty box, under the lock.
  void open(std::function<void()> wake) {
    const std::scoped_lock lock{mutex_};
    wake_ = std::move(wake);
  }
  void close() {
    const std::scoped_lock lock{mutex_};
    wake_ = nullptr;
    replies_.clear();
  }
  void put(Reply reply) {
    const std::scoped_lock lock{mutex_};
    if (!wake_) return;
    replies_.push_back(std::move(reply));
    if (replies_.size() == 1) wake_();
  }
  void take(std::vector<Reply>& replies) {
    const std::scoped_lock lock{mutex_};
    replies.swap(replies_);
  }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  // guarded by mutex_
  std::vector<Reply> replies_;  // guarded by mutex_
};

// Lets the process have as many descriptors as it may, and returns how many connections fit.
std::size_t connections_that_fit(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const auto needed = static_cast<rlim_t>(wanted + kDescriptorsReserved);
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? needed : std::min(needed, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= needed) return wanted;
  const auto available = static_cast<std::size_t>(limit.rlim_cur);
  const auto fit = available > 2 * kDescriptorsReserved ? available - kDescriptorsReserved
                                                        : std::max<std::size_t>(available / 2, 1);
  log(LogLevel::kWarn, "fewer connections than configured: the limit of open files is too low",
      {{"configured", wanted}, {"connections", fit}, {"open_files", available}});
  return fit;
}

class ReactorListener final : public Listener, private ReactorConnections {
 public:
  ReactorListener(ListenerSettings listener_settings, Receiver& request_receiver)
      : ReactorConnections(std::move(listener_settings), request_receiver),
        sweep_timer_(context_),
        workers_(settings.workers, {settings.requests_waiting_max, settings.buffered_bytes_max},
                 [this](RequestJob job) { work(std::move(job)); }) {}
  ~ReactorListener() override { stop(); }

  void start() override;
  void stop() noexcept override;
  void reload_tls() override;
  std::string address() const override { return listening_.address(); }

 private:
  using Handles = std::vector<std::shared_ptr<ReactorConnection>>;

  bool submit(const ReactorConnection& from, std::uint64_t sequence,
              InboundRequest request) override;
  void remove(ReactorConnection& connection) override;

  void wait_for_peers();
  void accept_peers(int peers_max);
  void take_peer(Peer peer);
  bool make_room();
  bool is_at_address_limit(const Peer& peer) const;
  std::unique_ptr<TlsSession> tls_session(int socket);
  void turn_away(const Peer& peer);
  void flush_batch();
  void work(RequestJob job);
  void deliver_replies();
  void sweep();
  void wait_for_sweep();
  void begin_drain();
  void end_when_drained();
  Handles handles() const;

  asio::io_context context_{1};
  asio::steady_timer sweep_timer_;
  ListeningSocket listening_;
  std::optional<asio::posix::stream_descriptor> acceptor_;  // a duplicate of listening_'s
  bool accept_paused_ = false;                              // out of descriptors
  std::size_t connections_max_ = 0;
  std::size_t per_address_max_ = 0;
  std::mutex tls_mutex_;
  std::shared_ptr<const TlsContext> tls_;  // guarded by tls_mutex_

  std::unordered_map<std::uint64_t, std::shared_ptr<ReactorConnection>> connections_;
  std::map<IpAddress, std::size_t> per_address_;
  std::uint64_t last_id_ = 0;
  ReactorClock::time_point drain_until_;
  std::time_t date_at_ = 0;

  std::vector<RequestJob> batch_;  // whole requests of this turn of the loop
  std::vector<ReplyBox::Reply> taken_replies_;
  std::shared_ptr<ReplyBox> replies_ = std::make_shared<ReplyBox>();
  RequestWorkers workers_;
  std::thread thread_;
};

void ReactorListener::start() {
  reload_tls();
  if (settings.port == ListenerSettings::kUnixSocket) {
    listening_.open_unix(settings.host);
  } else {
    listening_.open_tcp(settings.host, settings.port);
  }
  connections_max_ = connections_that_fit(settings.connections_max);
  per_address_max_ = settings.connections_per_address_max > 0
                         ? settings.connections_per_address_max
                         : std::max<std::size_t>(connections_max_ / 2, 1);
  acceptor_.emplace(context_, listening_.duplicate());
  replies_->open([this] { asio::post(context_, [this] { deliver_replies(); }); });
  workers_.start();
  sweep();
  wait_for_peers();
  thread_ = std::thread{[this] { context_.run(); }};
}

void ReactorListener::stop() noexcept {
  if (!thread_.joinable()) return;
  asio::post(context_, [this] { begin_drain(); });
  thread_.join();
  workers_.stop();
  replies_->close();
  listening_.close();
}

void ReactorListener::reload_tls() {
  if (settings.tls_certificate.empty()) return;
  try {
    auto renewed = std::make_shared<const TlsContext>(settings.tls_certificate, settings.tls_key);
    const std::scoped_lock lock{tls_mutex_};
    tls_ = std::move(renewed);
  } catch (const TlsError& error) {
    throw ListenError(error.what());
  }
}

void ReactorListener::wait_for_peers() {
  acceptor_->async_wait(asio::posix::descriptor_base::wait_read,
                        [this](const boost::system::error_code& error) {
                          if (error || is_draining) return;
                          accept_peers(kAcceptsPerTurn);
                          if (!accept_paused_) wait_for_peers();
                        });
}

void ReactorListener::accept_peers(int peers_max) {
  for (int i = 0; i < peers_max; ++i) {
    auto error = ListeningSocket::AcceptError::kNone;
    auto peer = listening_.accept(error);
    if (peer) {
      take_peer(*std::move(peer));
    } else if (error == ListeningSocket::AcceptError::kNoDescriptors && make_room()) {
      continue;
    } else {
      // Without descriptors the socket stays readable; asking again at once would spin.
      accept_paused_ = error == ListeningSocket::AcceptError::kNoDescriptors;
      return;
    }
  }
}

// Closes the connection that has been idle for the longest time; false when none is idle.
bool ReactorListener::make_room() {
  if (idle.empty()) return false;
  const auto held = idle.front()->shared_from_this();
  held->close();
  return true;
}

bool ReactorListener::is_at_address_limit(const Peer& peer) const {
  if (!peer.address) return false;
  const auto known = per_address_.find(*peer.address);
  if (known == per_address_.end() || known->second < per_address_max_) return false;
  return std::ranges::none_of(settings.trusted_proxies, [&](const IpNetwork& network) {
    return network.contains(*peer.address);
  });
}

void ReactorListener::turn_away(const Peer& peer) {
  if (settings.metrics != nullptr) settings.metrics->request("", 503, {});
  if (!settings.tls_certificate.empty()) return;  // could not read it
  ResponseForm form;
  form.keeps_alive = false;
  form.date = date;
  const auto response = serialize_response(receiver.overloaded(), form);
  ::send(peer.socket.get(), response.data(), response.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(peer.socket.get(), SHUT_WR);
}

void ReactorListener::take_peer(Peer peer) {
  const bool is_full = connections_.size() >= connections_max_ && !make_room();
  if (is_full || is_at_address_limit(peer)) return turn_away(peer);
  std::unique_ptr<TlsSession> session;
  try {
    session = tls_session(peer.socket.get());
  } catch (const TlsError& error) {
    log(LogLevel::kError, "connection refused", {{"reason", std::string_view{error.what()}}});
    return;
  }
  if (peer.address) ++per_address_[*peer.address];
  const auto id = ++last_id_;
  const auto connection = std::make_shared<ReactorConnection>(
      context_, static_cast<ReactorConnections&>(*this), id, std::move(peer), std::move(session));
  connections_.emplace(id, connection);
  connection->start();
}

std::unique_ptr<TlsSession> ReactorListener::tls_session(int socket) {
  const std::scoped_lock lock{tls_mutex_};
  return tls_ ? tls_->accept(socket) : nullptr;
}

void ReactorListener::remove(ReactorConnection& connection) {
  if (connection.address()) {
    const auto known = per_address_.find(*connection.address());
    if (--known->second == 0) per_address_.erase(known);
  }
  connections_.erase(connection.id());
  if (accept_paused_ && !is_draining) {
    accept_paused_ = false;
    wait_for_peers();
  }
}

// Requests that become whole in the same turn of the loop go on together.
bool ReactorListener::submit(const ReactorConnection& from, std::uint64_t sequence,
                             InboundRequest request) {
  if (request.body.size() > kInlineBytesMax && !workers_.reserve(request.body.size())) return false;
  if (batch_.empty()) asio::post(context_, [this] { flush_batch(); });
  batch_.push_back({from.id(), sequence, std::move(request), ReactorClock::now()});
  return true;
}

void ReactorListener::flush_batch() {
  const auto large = std::ranges::stable_partition(
      batch_, [](const RequestJob& job) { return job.request.body.size() <= kInlineBytesMax; });
  std::vector<RequestJob> handed_over{std::make_move_iterator(large.begin()),
                                      std::make_move_iterator(large.end())};
  batch_.erase(large.begin(), large.end());
  if (!handed_over.empty()) workers_.push(handed_over);

  const auto burst = receiver.burst();
  for (auto& job : batch_) work(std::move(job));
  batch_.clear();
}

// On a worker's thread, or for small requests the reactor's.
void ReactorListener::work(RequestJob job) {
  if (settings.metrics != nullptr)
    settings.metrics->stage(Stage::kQueue, ReactorClock::now() - job.whole_at);
  const auto reply = [replies = replies_, connection = job.connection,
                      sequence = job.sequence](Answer answer) {
    replies->put({connection, sequence, std::move(answer), ReactorClock::now()});
  };
  try {
    receiver.receive(std::move(job.request), reply);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "request failed", {{"reason", std::string_view{error.what()}}});
    reply(receiver.overloaded());
  }
}

void ReactorListener::deliver_replies() {
  replies_->take(taken_replies_);
  for (const auto& reply : taken_replies_) {
    const auto found = connections_.find(reply.connection);
    if (found == connections_.end()) continue;
    const auto held = found->second;
    held->deliver(reply.sequence, reply.answer, reply.at_hand);
  }
  taken_replies_.clear();
  end_when_drained();
}

ReactorListener::Handles ReactorListener::handles() const {
  Handles handles;
  handles.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) handles.push_back(connection);
  return handles;
}

void ReactorListener::sweep() {
  const auto wall = std::chrono::system_clock::now();
  const auto second = std::chrono::system_clock::to_time_t(wall);
  if (second != date_at_)
    date = http_date(std::chrono::time_point_cast<SystemTime::duration>(wall));
  date_at_ = second;
  const auto now = ReactorClock::now();
  const bool is_over = is_draining && now >= drain_until_;
  for (const auto& connection : handles()) {
    is_over ? connection->close() : connection->check_deadline(now);
  }
  if (accept_paused_ && !is_draining) {
    accept_paused_ = false;
    wait_for_peers();
  }
  if (settings.metrics != nullptr) settings.metrics->set_connections(connections_.size());
  end_when_drained();
  wait_for_sweep();
}

void ReactorListener::wait_for_sweep() {
  sweep_timer_.expires_after(is_draining ? kSweepPauseDraining : kSweepPause);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) sweep();
  });
}

// Peers whose connection the kernel has taken already count as accepted.
void ReactorListener::begin_drain() {
  if (is_draining) return;
  accept_peers(std::numeric_limits<int>::max());
  is_draining = true;
  drain_until_ = ReactorClock::now() + settings.shutdown_grace;
  acceptor_->close();
  listening_.close();
  for (const auto& connection : handles()) connection->drain();
  end_when_drained();
  sweep_timer_.cancel();
  wait_for_sweep();
}

void ReactorListener::end_when_drained() {
  if (is_draining && connections_.empty()) context_.stop();
}

}  // namespace

std::unique_ptr<Listener> make_reactor_listener(ListenerSettings settings, Receiver& receiver) {
  return std::make_unique<ReactorListener>(std::move(settings), receiver);
}

}  // namespace hookgate
