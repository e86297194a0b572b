/* What Android's C library declares and musl's headers, which stand in for its own, do not. */
const char* getprogname(void);
