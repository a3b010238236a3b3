#include "receiver.h"

#include <cstdio>
#include <stdexcept>

#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace hookgate {

struct Receiver::Server {
  std::unique_ptr<httplib::Server> http;
};

std::unique_ptr<Receiver::Server> Receiver::make_server(const std::string& certificate,
                                                        const std::string& key) {
  auto server = std::make_unique<Server>();
  if (certificate.empty()) {
    server->http = std::make_unique<httplib::Server>();
  } else {
    server->http = std::make_unique<httplib::SSLServer>(certificate.c_str(), key.c_str());
  }
  return server;
}

Receiver::Receiver(Respond respond, const std::string& certificate, const std::string& key)
    : respond_(std::move(respond)), server_(make_server(certificate, key)) {
  auto& http = *server_->http;
  http.set_tcp_nodelay(true);
  http.set_keep_alive_timeout(1);  // its end waits for kept connections
  http.new_task_queue = [] { return new httplib::ThreadPool(16); };
  http.Post(".*", [this](const httplib::Request& from, httplib::Response& to) {
    InboundRequest request;
    request.method = from.method;
    request.target = from.target;
    for (const auto& [name, value] : from.headers) request.headers.push_back({name, value});
    request.body = from.body;
    std::size_t number = 0;
    {
      const std::scoped_lock lock{mutex_};
      requests_.push_back(request);
      number = requests_.size();
    }
    arrived_.notify_all();
    const auto answer = respond_(request, number);
    to.status = answer.status;
    for (const auto& header : answer.headers) to.set_header(header.name, header.value);
    if (!answer.body.empty()) to.set_content(answer.body, answer.content_type);
  });
  port_ = http.bind_to_any_port("127.0.0.1");
  thread_ = std::thread{[&http] { http.listen_after_bind(); }};
  while (!http.is_running()) std::this_thread::yield();
}

Receiver::~Receiver() {
  server_->http->stop();
  thread_.join();
}

std::string Receiver::url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

std::vector<InboundRequest> Receiver::requests() const {
  const std::scoped_lock lock{mutex_};
  return requests_;
}

bool Receiver::wait_for(std::size_t count, std::chrono::seconds limit) const {
  std::unique_lock lock{mutex_};
  return arrived_.wait_for(lock, limit, [&] { return requests_.size() >= count; });
}

void write_certificate_for(const std::string& names, const std::string& certificate,
                           const std::string& key) {
  constexpr long kDay = 86'400;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair{EVP_EC_gen("P-256"),
                                                                 EVP_PKEY_free};
  const std::unique_ptr<X509, decltype(&X509_free)> x509{X509_new(), X509_free};
  X509_set_version(x509.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(x509.get()), kDay);
  X509_set_pubkey(x509.get(), pair.get());
  auto* const name = X509_get_subject_name(x509.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("invented"), -1, -1, 0);
  X509_set_issuer_name(x509.get(), name);
  auto* const extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(x509.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(x509.get(), pair.get(), EVP_sha256());
  auto* file = std::fopen(certificate.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("no file for a certificate");
  PEM_write_X509(file, x509.get());
  std::fclose(file);
  file = std::fopen(key.c_str(), "w");
  PEM_write_PrivateKey(file, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
}

std::string header_of(const InboundRequest& request, const std::string& name) {
  if (request.header_count(name) > 1) return "several";
  return std::string{request.header(name).value_or("")};
}

}  // namespace hookgate
