// SPDX-License-Identifier: MIT
// interface.cli: the command line of the engine.
#pragma once

// engine --harness | engine MODEL_DIR (--prompt TEXT | --ids 1,2,3) [options]. Exit 0, 1 on an error, 2 on bad usage.
int main(int argc, char** argv);
