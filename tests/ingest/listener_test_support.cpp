#include "listener_test_support.h"

#include <array>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

sockaddr_storage socket_address(const std::string& address, socklen_t& size) {
  sockaddr_storage storage{};
  if (address.starts_with("unix:")) {
    auto* const path = reinterpret_cast<sockaddr_un*>(&storage);
    path->sun_family = AF_UNIX;
    std::memcpy(path->sun_path, address.data() + 5, address.size() - 5);
    size = sizeof *path;
    return storage;
  }
  const auto colon = address.rfind(':');
  const auto port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  if (address.starts_with('[')) {
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = port;
    ::inet_pton(AF_INET6, address.substr(1, colon - 2).c_str(), &v6->sin6_addr);
    size = sizeof *v6;
    return storage;
  }
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
  v4->sin_family = AF_INET;
  v4->sin_port = port;
  ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &v4->sin_addr);
  size = sizeof *v4;
  return storage;
}

PoolSettings nowhere() {
  PoolSettings settings;
  settings.url = Secret{"postgresql:///nowhere?host=/nonexistent"};
  return settings;
}

}  // namespace

TestSocket::TestSocket(const std::string& address) {
  socklen_t size = 0;
  const auto to = socket_address(address, size);
  socket_ = FileDescriptor{::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), size) == 0;
}

void TestSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void TestSocket::end_sending() {
  ::shutdown(socket_.get(), SHUT_WR);
}

bool TestSocket::read_some(steady_clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
  pollfd wait{socket_.get(), POLLIN, 0};
  if (closed_ || left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
  std::array<char, 16384> buffer{};
  const auto count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  closed_ = count <= 0;
  if (count > 0) input_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string TestSocket::read_until(std::string_view text, int limit_ms) {
  const auto until = steady_clock::now() + milliseconds{limit_ms};
  auto found = input_.find(text);
  while (found == std::string::npos && read_some(until)) found = input_.find(text);
  const auto end = found == std::string::npos ? input_.size() : found + text.size();
  auto taken = input_.substr(0, end);
  input_.erase(0, end);
  return taken;
}

std::string TestSocket::read_all(bool& closed, int limit_ms) {
  const auto until = steady_clock::now() + milliseconds{limit_ms};
  while (!closed_ && read_some(until)) {
  }
  closed = closed_;
  return std::exchange(input_, {});
}

ProbesOnly::ProbesOnly()
    : pool_(nowhere()),
      queue_(pool_, {}, [] {}),
      responder_(pool_, system_now, {}, [] {}),
      receiver_({}, queue_, responder_, system_now, {}, [] { return false; }) {}

void write_certificate(const std::string& certificate_file, const std::string& key_file,
                       const std::string& name) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  const std::unique_ptr<X509, decltype(&X509_free)> certificate{X509_new(), X509_free};
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  auto* const subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  X509_sign(certificate.get(), key.get(), EVP_sha256());

  const std::unique_ptr<FILE, decltype(&std::fclose)> certificate_out{
      std::fopen(certificate_file.c_str(), "w"), std::fclose};
  PEM_write_X509(certificate_out.get(), certificate.get());
  const std::unique_ptr<FILE, decltype(&std::fclose)> key_out{std::fopen(key_file.c_str(), "w"),
                                                              std::fclose};
  PEM_write_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

}  // namespace hookgate
