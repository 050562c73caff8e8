"""The bridge between the two template languages: what one side lacks is lowered or refused by name."""

from transplate.convert.go_to_jinja.convert import to_jinja as to_jinja
from transplate.convert.jinja_to_go.convert import to_go as to_go
from transplate.convert.report import Assumption as Assumption
from transplate.convert.report import Conversion as Conversion
from transplate.convert.report import Loss as Loss
