/* Kernels pick their vector path at run time by what the CPU has. A build may hold them to less (check/ does, to run
 * every path on one machine): 0 = portable C, 1 = up to AVX2, 2 = up to AVX-512. */
#ifndef FS_ISA_LIMIT
#define FS_ISA_LIMIT 2
#endif
