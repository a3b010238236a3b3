#include "cli/replay_report.h"

#include <cmath>
#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/table.h"

namespace hookgate {
namespace {

using nlohmann::ordered_json;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUnreachable = 3;

void add(ReplayCounts& counts, ReplayOutcome outcome) {
  ++counts.sent;
  switch (outcome) {
    case ReplayOutcome::kAccepted: ++counts.accepted; break;
    case ReplayOutcome::kDuplicate: ++counts.duplicate; break;
    case ReplayOutcome::kConflict: ++counts.conflict; break;
    case ReplayOutcome::kRejected: ++counts.rejected; break;
    case ReplayOutcome::kFailed: ++counts.failed; break;
  }
}

std::vector<std::string> row(const std::string& name, const ReplayCounts& counts) {
  return {name,
          std::to_string(counts.sent),
          std::to_string(counts.accepted),
          std::to_string(counts.duplicate),
          std::to_string(counts.conflict),
          std::to_string(counts.rejected),
          std::to_string(counts.failed)};
}

ordered_json to_json(const ReplayCounts& counts) {
  return {{"sent", counts.sent},           {"accepted", counts.accepted},
          {"duplicate", counts.duplicate}, {"conflict", counts.conflict},
          {"rejected", counts.rejected},   {"failed", counts.failed}};
}

void print_json(const ReplayReport& report, std::ostream& out) {
  auto sources = ordered_json::object();
  for (const auto& [name, counts] : report.sources) sources[name] = to_json(counts);
  const ordered_json json{{"sources", sources},
                          {"total", to_json(report.total)},
                          {"planned", report.planned},
                          {"not_connected", report.not_connected},
                          {"seconds", std::round(report.elapsed.count() * 1000) / 1000},
                          {"errors", report.errors}};
  out << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void print_text(const ReplayReport& report, std::ostream& out) {
  Table table{{"source", "sent", "accepted", "duplicate", "conflict", "rejected", "failed"},
              {1, 2, 3, 4, 5, 6}};
  for (const auto& [name, counts] : report.sources) table.add(row(name, counts));
  table.add(row("total", report.total));
  out << table.text();
  if (report.total.sent < report.planned) {
    out << "stopped after " << report.total.sent << " of " << report.planned << " requests\n";
  }
  if (!report.errors.empty()) out << "\nfirst errors:\n";
  for (const auto& error : report.errors) out << "  " << error << '\n';
}

}  // namespace

void ReplayReport::count(const std::string& source, ReplayOutcome outcome) {
  add(sources[source], outcome);
  add(total, outcome);
}

void print_replay(const ReplayReport& report, bool as_json, std::ostream& out) {
  if (as_json) {
    print_json(report, out);
  } else {
    print_text(report, out);
  }
  out.flush();
}

int replay_exit_code(const ReplayReport& report) {
  if (report.total.sent > 0 && report.not_connected == report.total.sent) return kUnreachable;
  const bool complete = report.total.sent == report.planned;
  return complete && report.total.rejected == 0 && report.total.failed == 0 ? kDone : kFailed;
}

}  // namespace hookgate
