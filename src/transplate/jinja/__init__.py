"""Chat templates as Hugging Face's transformers runs them."""

from transplate.jinja.template import JinjaTemplate as JinjaTemplate
