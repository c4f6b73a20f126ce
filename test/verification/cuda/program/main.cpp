#include <cstdio>
#include "scale.h"

int main() {
  float values[192];
  for (int at = 0; at < 192; ++at) values[at] = static_cast<float>(at);
  const std::string failure = scale(values, 192, 2.0f);
  if (failure.empty()) std::printf("%g %g\n", static_cast<double>(values[128]), static_cast<double>(values[191]));
  else std::printf("failed: %s\n", failure.c_str());
}
