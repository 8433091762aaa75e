// The other half of link_caller.cu.
#include "device.h"

SIM_GLOBAL unsigned step = 3;

extern "C" SIM_DEVICE unsigned far_away(unsigned value) { return value * step + 1; }
