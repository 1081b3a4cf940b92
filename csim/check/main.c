/* Prints "N passed, M failed" and exits 1 if M is not 0. */
#include "check.h"

#include <stdio.h>

static uint64_t seed = 88172645463325252u;

uint64_t draw(uint64_t below)
{
    seed = fs_mix13(seed + 0x9E3779B97F4A7C15u);
    return seed % below;
}

void *copy(const void *from, size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);
    if (!made)
        abort();
    memcpy(made, from, bytes);
    return made;
}

int main(void)
{
    const struct {
        int (*check)(void);
        int every; /* rounds */
    } checks[] = {
        {check_address, 1}, {check_division, 1}, {check_tables, 1}, {check_place, 1},
        {check_match, 1},   {check_weave, 1},    {check_lru, 1},    {check_stack, 6},
        {check_policies, 1}, {check_queues, 1}, {check_target, 1}, {check_drive, 1},
        {check_replay, 12},
    };
    int passed = 0, failed = 0;
    for (int round = 0; round < 600; round++)
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
            if (round % checks[i].every == 0)
                *(checks[i].check() ? &passed : &failed) += 1;
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
