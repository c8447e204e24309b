// The simulated DRD, the part of the SDK that moves devices by itself.
#ifndef VOXSHELL_TESTS_SIM_DRDC_H
#define VOXSHELL_TESTS_SIM_DRDC_H

#include "dhdc.h"

int drdOpen();
int drdOpenID(char ID);
int drdClose(char ID = -1);
bool drdIsInitialized(char ID = -1);
int drdAutoInit(char ID = -1);
int drdStop(bool frc = false, char ID = -1);

#endif
