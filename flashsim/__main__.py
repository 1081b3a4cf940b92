"""``python -m flashsim``: the command line."""

import sys

from flashsim.cli import main

sys.exit(main())
