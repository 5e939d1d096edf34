// The main function of the tests; our own, because a packaged one is of no use to WASM.
#define CATCH_CONFIG_RUNNER
#include "catch.h"

#ifdef __EMSCRIPTEN__
// Clang 15 gives main a name that Emscripten 3.1.6 does not look for; Ubuntu 24.04 pairs the two, and
// the program would end at once, successfully.
int main_of_tests(int argc, char** argv) __asm__("main");
#define main main_of_tests
#endif

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
