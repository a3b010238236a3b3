#include "crypto/tls.h"

#include <algorithm>
#include <climits>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace hookgate {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};

// The deepest cause OpenSSL knows; its queue is empty afterwards.
std::string last_reason() {
  const auto code = ERR_peek_last_error();
  const auto* const text = ERR_reason_error_string(code);
  ERR_clear_error();
  return text != nullptr ? text : "unknown reason";
}

[[noreturn]] void fail(const std::string& what, const std::string& file) {
  throw TlsError{what + " " + file + ": " + last_reason()};
}

// A key with a passphrase must not make a service ask on a terminal.
int refuse_passphrase(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*data*/) {
  return -1;
}

TransferResult failed_call(SSL* session, int result) {
  const int error = SSL_get_error(session, result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_READ: return {TransferResult::Status::kWantRead};
    case SSL_ERROR_WANT_WRITE: return {TransferResult::Status::kWantWrite};
    case SSL_ERROR_ZERO_RETURN: return {TransferResult::Status::kEnd};
    default: return {TransferResult::Status::kFailed};
  }
}

}  // namespace

struct TlsSession::Impl {
  std::unique_ptr<SSL, FreeSession> session;
  bool is_broken = false;  // after a fatal error even a shutdown may not be tried
};

struct TlsContext::Impl {
  std::unique_ptr<SSL_CTX, FreeContext> context;
};

TlsSession::TlsSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsSession::~TlsSession() = default;

TransferResult TlsSession::handshake() {
  const int result = SSL_accept(impl_->session.get());
  if (result == 1) return {TransferResult::Status::kDone};
  const auto failed = failed_call(impl_->session.get(), result);
  impl_->is_broken = failed.status == TransferResult::Status::kFailed;
  return failed;
}

TransferResult TlsSession::receive(char* buffer, std::size_t bytes_max) {
  std::size_t bytes = 0;
  const int result = SSL_read_ex(impl_->session.get(), buffer, bytes_max, &bytes);
  if (result == 1) return {TransferResult::Status::kDone, bytes};
  const auto failed = failed_call(impl_->session.get(), result);
  impl_->is_broken = failed.status == TransferResult::Status::kFailed;
  return failed;
}

TransferResult TlsSession::send(std::string_view bytes) {
  std::size_t sent = 0;
  const int result = SSL_write_ex(impl_->session.get(), bytes.data(), bytes.size(), &sent);
  if (result == 1) return {TransferResult::Status::kDone, sent};
  const auto failed = failed_call(impl_->session.get(), result);
  impl_->is_broken = failed.status == TransferResult::Status::kFailed;
  return failed;
}

void TlsSession::shutdown() {
  if (impl_->is_broken) return;
  SSL_shutdown(impl_->session.get());
  ERR_clear_error();
}

TlsContext::TlsContext(const std::string& certificate_file, const std::string& key_file)
    : impl_(std::make_unique<Impl>()) {
  ERR_clear_error();
  impl_->context.reset(SSL_CTX_new(TLS_server_method()));
  auto* const context = impl_->context.get();
  if (context == nullptr) throw TlsError{"TLS cannot be set up: " + last_reason()};
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Forward secrecy and authenticated encryption only; TLS 1.3 has nothing else.
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  // Answers are written from strings that may move between two tries; idle sessions give their
  // buffers back.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1)
    fail("cannot use the certificate", certificate_file);
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    fail("cannot use the key", key_file);
  if (SSL_CTX_check_private_key(context) != 1)
    fail("the key does not belong to the certificate", certificate_file);
}

TlsContext::~TlsContext() = default;

std::unique_ptr<TlsSession> TlsContext::accept(int socket) const {
  auto impl = std::make_unique<TlsSession::Impl>();
  impl->session.reset(SSL_new(impl_->context.get()));
  if (!impl->session || SSL_set_fd(impl->session.get(), socket) != 1)
    throw TlsError{"TLS session cannot be made: " + last_reason()};
  return std::unique_ptr<TlsSession>{new TlsSession(std::move(impl))};
}

}  // namespace hookgate
