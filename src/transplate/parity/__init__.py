"""Whether two templates, in either language, print the same prompts."""

from transplate.parity.caches import CacheReport as CacheReport
from transplate.parity.caches import check_cache as check_cache
from transplate.parity.compare import check_parity as check_parity
from transplate.parity.injection import InjectionReport as InjectionReport
from transplate.parity.injection import check_injection as check_injection
from transplate.parity.report import Difference as Difference
from transplate.parity.report import Kind as Kind
from transplate.parity.report import ParityReport as ParityReport
from transplate.parity.report import Verdict as Verdict
from transplate.parity.suggest import Suggestion as Suggestion
from transplate.parity.suggest import suggest as suggest
