// Include it right before main(): Clang 15 gives main a name that Emscripten 3.1.6 does not look for.
// Ubuntu 24.04 pairs the two, and the program would end at once, successfully.
#pragma once

#ifdef __EMSCRIPTEN__
int named_main(int argc, char** argv) __asm__("main");
#define main named_main
#endif
