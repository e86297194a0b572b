#include "pthread.h"
