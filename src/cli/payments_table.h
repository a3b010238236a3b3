#pragma once

#include <string>
#include <vector>

#include "store/ledger_reader.h"

namespace hookgate {

// The payments as aligned text; amounts in minor units, `?` where the events do not decide one.
std::string payments_table(const std::vector<PaymentRow>& payments);

// The same as JSON, one object a line.
std::string payments_json_lines(const std::vector<PaymentRow>& payments);

}  // namespace hookgate
