// The main function of the tests; our own, because a packaged one is of no use to WASM.
#define CATCH_CONFIG_RUNNER
#include "catch.h"

#include "main_name.h"

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
