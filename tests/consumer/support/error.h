#error "A header of the library has the project's own support/error.h in place of the library's."
