#pragma once

#include <string_view>

namespace hookgate {

// Whether the eventCode is a stage of a dispute; all stages of one share a pspReference.
bool is_adyen_dispute_code(std::string_view code);

}  // namespace hookgate
