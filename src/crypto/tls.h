#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hookgate {

// A certificate or key cannot be used; `what()` says which file and why.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What one non-blocking call came to.
struct TransferResult {
  enum class Status {
    kDone,       // `bytes` were moved, at least one
    kWantRead,   // call again when the socket is readable
    kWantWrite,  // call again when it is writable
    kEnd,        // the peer sends no more
    kFailed,     // the connection is of no use any more
  };
  Status status = Status::kFailed;
  std::size_t bytes = 0;
};

// One server connection. Not thread-safe. The socket stays the caller's.
class TlsSession {
 public:
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  TransferResult handshake();  // kDone (of 0 bytes) when it is complete
  TransferResult receive(char* buffer, std::size_t bytes_max);
  TransferResult send(std::string_view bytes);
  void shutdown();  // tells the peer that no more is sent; never waits

 private:
  friend class TlsContext;
  struct Impl;
  explicit TlsSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A server's certificate chain and key: TLS 1.2 and 1.3, no renegotiation, no compression, sessions
// resumed by tickets. Immutable; to renew a certificate make another one.
class TlsContext {
 public:
  // PEM files. Throws TlsError.
  TlsContext(const std::string& certificate_file, const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Over a connected, non-blocking socket; keeps what it needs of this context alive.
  std::unique_ptr<TlsSession> accept(int socket) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hookgate
