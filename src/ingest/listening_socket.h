#pragma once

#include <optional>
#include <string>

#include "domain/ip_network.h"

namespace hookgate {

// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return number_; }
  int release();
  void close();

 private:
  int number_ = -1;
};

struct Peer {
  FileDescriptor socket;             // non-blocking, closed on exec, without Nagle's delay
  std::optional<IpAddress> address;  // none on a Unix socket
};

// A bound, listening stream socket: TCP over IPv4 or IPv6, or a Unix socket. Not thread-safe.
class ListeningSocket {
 public:
  ListeningSocket() = default;
  ~ListeningSocket() { close(); }
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  // `port` 0 picks one. Throws ListenError.
  void open_tcp(const std::string& host, int port);
  // Takes the place of a socket file that nobody listens on; owner and group may connect. Throws
  // ListenError.
  void open_unix(const std::string& path);

  enum class AcceptError { kNone, kAgainLater, kNoDescriptors };
  // The next waiting peer; without one `error` says why. Never waits.
  std::optional<Peer> accept(AcceptError& error);

  int duplicate() const;  // a descriptor to wait with; the caller's to close
  std::string address() const { return address_; }  // "127.0.0.1:8080", "[::1]:80", "unix:/path"
  void close();                                     // removes the socket file

 private:
  FileDescriptor socket_;
  std::string address_;
  std::string unix_path_;
};

}  // namespace hookgate
