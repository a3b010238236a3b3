#pragma once

#include <filesystem>
#include <string>

namespace hookgate {

// Secrets of the configuration that `hookgate dev` writes and of the fixtures. Invented; worth
// nothing.
inline constexpr auto kDevStripeSecret = "whsec_hookgate_dev_only_invented_secret_stripe";
inline constexpr auto kDevAdyenKey =
    "00112233445566778899AABBCCDDEEFF102132435465768798A9BACBDCEDFE0F";
inline constexpr auto kDevStandardSecret = "whsec_aG9va2dhdGUtZGV2LW9ubHktaW52ZW50ZWQtc2VjcmV0";
inline constexpr auto kDevWebKey = "hookgate-dev-only-invented-key-web";
inline constexpr auto kDevMobileKey = "hookgate-dev-only-invented-key-mobile";

// Writes D/hookgate.toml for the user to edit.
void write_dev_config(const std::filesystem::path& file, const std::string& database_url);

// `server_url` with another database name.
std::string with_dev_database(const std::string& server_url, const std::string& database);

// Makes the database when missing (anew when `fresh`), with the table of the source "orders", and
// returns its URL. Throws StoreUnavailable,
// SqlError.
std::string prepare_dev_database(const std::string& server_url, const std::string& database,
                                 bool fresh);

}  // namespace hookgate
