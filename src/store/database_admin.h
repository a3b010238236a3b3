#pragma once

#include <string>

#include "domain/secret.h"

namespace hookgate {

// `url` (a libpq URL or keyword list) with another database name, as a keyword list.
Secret with_database(const Secret& url, const std::string& database);

// Makes the database (a plain name, [a-z0-9_]) on the server of `url` when it is missing, after
// dropping it first when `fresh`; returns the URL to it. Throws StoreUnavailable, SqlError.
Secret ensure_database(const Secret& url, const std::string& database, bool fresh);

}  // namespace hookgate
