#pragma once

#include <filesystem>
#include <vector>

#include <sys/types.h>

namespace hookgate {

// PostgreSQL processes that work in this data folder (absolute, without links): a postmaster, or
// sessions whose postmaster is gone. Told by /proc, never by a recorded number alone, which may by
// now be anyone's.
std::vector<pid_t> postgres_processes_in(const std::filesystem::path& data);

// Ends them: in good order where there is a postmaster, then at once, then by force; at most about
// half a minute. True when none is left. None of them may be our child, or it never goes away.
bool end_postgres_processes_in(const std::filesystem::path& data);

}  // namespace hookgate
