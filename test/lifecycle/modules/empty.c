/* A library that does nothing: what it takes to load any. */
extern int module_empty;
int module_empty;
