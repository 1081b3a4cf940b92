/* Runs the kernels over random input against slow but plain code. Built by the tests with sanitizers, once for each
 * FS_ISA_LIMIT. Each check_ function draws its own input and returns whether all was well. */
#ifndef FS_CHECK_H
#define FS_CHECK_H
#include "csim.h"
#include "mix64.h"

#include <stdlib.h>

uint64_t draw(uint64_t below);               /* 0 .. below - 1 */
void *copy(const void *from, size_t bytes); /* on the heap and of exact size: a step outside is a sanitizer's report */

int check_address(void);
int check_division(void);
int check_tables(void);
int check_place(void);
int check_lru(void);
int check_match(void);
int check_weave(void);
int check_stack(void);
int check_policies(void);
int check_queues(void);
int check_target(void);
int check_drive(void);
int check_replay(void);

#endif
