#include "io.h"

static int available(void)
{
    return -EOPNOTSUPP;
}

const struct fs_engine fs_io_uring = {"io_uring", available, NULL, NULL, NULL};
