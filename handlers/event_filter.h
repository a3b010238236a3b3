#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/handler.h"

namespace hookgate {

// A handler that sees only events whose type fits one of the globs, and ignores the others.
class EventFilter final : public Handler {
 public:
  EventFilter(std::unique_ptr<Handler> inner, std::vector<std::string> globs)
      : inner_(std::move(inner)), globs_(std::move(globs)) {}

  std::string_view name() const override { return inner_->name(); }
  Outcome handle(const Event& event, HandlerContext& context) override;
  bool wants(std::string_view event_type) const override;
  bool sees_versions() const override { return inner_->sees_versions(); }
  std::vector<std::string> lock_keys(const Event& event) const override;
  void check(SqlTransaction& sql) const override { inner_->check(sql); }

 private:
  std::unique_ptr<Handler> inner_;
  std::vector<std::string> globs_;
};

}  // namespace hookgate
