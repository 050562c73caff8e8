"""Whether two templates, in either language, print the same prompts."""

from transplate.parity.compare import Difference as Difference
from transplate.parity.compare import ParityReport as ParityReport
from transplate.parity.compare import check_parity as check_parity
