# ruff: noqa: E501
"""Templates that would hang or fill the memory without bounds, by what they abuse."""

DOUBLING = "{% set ns = namespace(v=START) %}{% for i in range(200) %}{% set ns.v = STEP %}{% endfor %}"


def _doubled(start: str, step: str, use: str = "") -> str:
    return DOUBLING.replace("START", start).replace("STEP", step) + use


_DAG = _doubled("[1]", "[ns.v, ns.v]")
_TUPLE_DAG = _doubled("(1,)", "(ns.v, ns.v)")
_BIG = "{% set b = 'ab cd <i>' * 1000000 %}"

HOSTILE = {
    "power": "{{ 9 ** (9 ** 9) }}",
    "power of a variable": "{% set x = 10 ** 8 %}{{ (x ** x) is odd }}",
    "squares": _doubled("3", "ns.v * ns.v"),
    "division of large integers": "{% set x = 0x" + "f" * 400_000 + " %}{{ (x // 3) is odd }}",
    "repeated text": "{{ 'a' * 10 ** 12 }}",
    "repeated list": "{{ ([1] * 10 ** 12)|length }}",
    "doubled text": _doubled("'a'", "ns.v + ns.v"),
    "doubled with ~": _doubled("'a'", "ns.v ~ ns.v"),
    "doubled list": _doubled("[1]", "ns.v + ns.v"),
    "doubled by a set block": "{% set ns = namespace(v='ab') %}{% for i in range(99) %}{% set x %}{{ ns.v }}{{ ns.v }}"
    "{% endset %}{% set ns.v = x %}{% endfor %}",
    "doubled by a macro": "{% macro m(v) %}{{ v }}{{ v }}{% endmacro %}" + _doubled("'ab'", "m(ns.v)"),
    "doubled by join": _doubled("'ab'", "[ns.v, ns.v]|join"),
    "doubled by format": _doubled("'ab'", "'%s%s' % (ns.v, ns.v)"),
    "doubled by str.format": _doubled("'ab'", "'{0}{0}'.format(ns.v)"),
    "doubled by format_map": _doubled("'ab'", "'{a}{a}'.format_map({'a': ns.v})"),
    "doubled by replace": _doubled("'a'", "ns.v.replace('a', 'aa')"),
    "doubled by the replace filter": _doubled("'a'", "ns.v|replace('a', 'aa')"),
    "doubled bytes": _doubled("'a'.encode()", "ns.v + ns.v"),
    "doubled by escape": _doubled("'&'", "ns.v|forceescape ~ ns.v"),
    "doubled by urlencode": _doubled("'%'", "ns.v|urlencode ~ ns.v"),
    "doubled by tojson": _doubled("'\"'", "ns.v|tojson"),
    "doubled dict": _doubled("{'a': 1}", "{'a': ns.v, 'b': ns.v}", "{{ ns.v }}"),
    "wide text": "{{ 'a'|center(10 ** 12) }}",
    "wide text, constant": "{{ 'a'|center(1000000000000) }}",
    "wide by methods": "{{ 'a'.ljust(10 ** 12) }}",
    "zeros": "{{ 'a'.zfill(10 ** 12) }}",
    "tabs": "{{ 'a\tb'.expandtabs(10 ** 12) }}",
    "wide bytes": "{{ (5).to_bytes(10 ** 12, 'big')|length }}",
    "wide indent": "{{ 'a\nb'|indent(10 ** 12) }}",
    "wide indent of JSON": "{{ [[1]]|tojson(indent=10 ** 12) }}",
    "wide separators of JSON": "{% set s = 'x' * 1000000 %}{{ ([1] * 100000)|tojson(separators=(s, s)) }}",
    "wide printf": "{{ '%1000000000000d' % 1 }}",
    "wide printf, star": "{{ '%*d' % (10 ** 9, 1) }}",
    "wide printf by a test": "{{ '%1000000000000d' is even }}",
    "precise printf": "{{ '%.1000000000f' % 1.5 }}",
    "printf filter": "{{ '%1000000000000d'|format(1) }}",
    "wide format": "{{ '{:1000000000000}'.format(1) }}",
    "wide format, nested": "{{ '{:{}}'.format(1, 10 ** 12) }}",
    "many fields": _BIG + "{{ ('{0}' * 100000).format(b) }}",
    "many printf fields": _BIG + "{{ ('%(a)s' * 100000) % {'a': b} }}",
    "many parts": _BIG + "{{ ([b] * 100000)|join }}",
    "many parts, one by one": _BIG + "{{ range(100000)|map('default')|map('replace', '1', b)|join }}",
    "many parts of a method": _BIG + "{{ ''.join([b] * 100000) }}",
    "many outputs": _BIG + "{% for i in range(100000) %}{{ b }}{% endfor %}",
    "many outputs of a block": _BIG
    + "{% block c scoped %}{% for i in range(100000) %}{{ 'xy' * 100000 }}{% endfor %}{% endblock %}{{ self.c() }}",
    "long separator": _BIG + "{{ range(100000)|join(b) }}",
    "long replacement": _BIG + "{{ b.replace('a', b) }}",
    "long translation": _BIG + "{{ b.translate({97: b}) }}",
    "filled batch": "{{ [1]|batch(10 ** 12, 0)|list|length }}",
    "many slices": "{{ [1]|slice(10 ** 12)|list|length }}",
    "rounded": "{{ 1.5|round(10 ** 9, 'ceil') }}",
    "wrapped": "{{ ('a' * 50000000)|wordwrap(1)|length }}",
    "links": "{{ ('a.' * 3000000)|urlize|length }}",
    "tags": "{{ ('<!-- -->' * 2000000)|striptags|length }}",
    "summed lists": "{{ range(100000)|batch(1)|sum(start=[])|length }}{{ ([[1] * 1000] * 100000)|sum(start=[])|length }}",
    "backwards": "{% for i in range(100) %}{{ ('a' * 5000000).rfind('b' ~ 'a' * 1000000) }}{% endfor %}",
    "punycode": "{{ ('üa' * 5000000).encode('punycode')|length }}",
    "lorem ipsum": "{{ lipsum(10 ** 6) }}",
    "strftime": "{{ strftime_now('%Y' * 200000000)|length }}",
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "nested filtered loops": "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}",
    "loops over generators": "{% for a in range(99999) %}{% set x = range(99999)|map('string')|list %}{% endfor %}",
    "chained generators": "{% for a in range(9999) %}{{ range(99999)"
    + "|map('default')" * 50
    + "|select('string')|first }}{% endfor %}",
    "lists": "{% for a in range(99999) %}{{ range(99999)|list|length }}{% endfor %}",
    "endless macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "two ways down": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "endless block": "{% block a %}{{ self.a() }}{% endblock %}",
    "endless loop recursion": "{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
    "endless caller": "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
    "printed graph": _DAG + "{{ ns.v }}",
    "printed graph, ~": _DAG + "{{ ns.v ~ '' }}",
    "printed graph, string": _DAG + "{{ ns.v|string|length }}",
    "printed graph, JSON": _DAG + "{{ ns.v|tojson }}",
    "printed graph, pprint": _DAG + "{{ ns.v|pprint }}",
    "printed graph, join": _DAG + "{{ [ns.v]|join }}",
    "printed graph, printf": _DAG + "{{ '%s' % [ns.v] }}",
    "printed graph, printf of a dict": _DAG + "{{ '%(a)s' % {'a': ns.v} }}",
    "printed graph, format": _DAG + "{{ '{}'.format(ns.v) }}",
    "printed graph, format !r": _DAG + "{{ '{!r}'.format(ns.v) }}",
    "printed graph, namespace": _DAG + "{{ ns }}",
    "printed graph, raise_exception": _DAG + "{{ raise_exception(ns.v) }}",
    "printed graph, attr": _DAG + "{{ 1|attr(ns.v) }}",
    "printed graph, test": _DAG + "{{ ns.v is lower }}",
    "printed graph, default filter": _DAG + "{{ ns.v|upper }}",
    "printed graph, unsafe call": _DAG + "{% set ns.alters_data = true %}{{ ns() }}",
    "printed graph, index": _DAG + "{{ ''[ns.v] }}",
    "printed graph, views": _DAG + "{{ {'a': ns.v}.values() }}",
    "printed graph, xmlattr": _DAG + "{{ {'a': ns.v}|xmlattr }}",
    "compared graph": _doubled("[1]", "[ns.v, ns.v]") + "{% set a = ns.v %}" + _DAG + "{{ a == ns.v }}",
    "compared graph, in": _doubled("[1]", "[ns.v, ns.v]") + "{% set a = ns.v %}" + _DAG + "{{ a in [ns.v] }}",
    "compared graph, index": _doubled("[1]", "[ns.v, ns.v]")
    + "{% set a = ns.v %}"
    + _DAG
    + "{{ [ns.v].index(a) }}",
    "compared graph, test": _doubled("[1]", "[ns.v, ns.v]")
    + "{% set a = ns.v %}"
    + _DAG
    + "{{ a is eq(ns.v) }}",
    "compared graph, selectattr": _doubled("[1]", "[ns.v, ns.v]")
    + "{% set a = ns.v %}"
    + _DAG
    + "{{ [{'x': a}]|selectattr('x', 'eq', ns.v)|list }}",
    "compared graph, sort": _doubled("[1]", "[ns.v, ns.v]")
    + "{% set a = ns.v %}"
    + _DAG
    + "{{ [a, ns.v]|sort }}",
    "compared graph, max": _doubled("[1]", "[ns.v, ns.v]")
    + "{% set a = ns.v %}"
    + _DAG
    + "{{ [a, ns.v]|max }}",
    "compared graph, changed": _doubled("[1]", "[ns.v, ns.v]")
    + "{% set a = ns.v %}"
    + _DAG
    + "{% for i in [a, ns.v] %}{{ loop.changed(i) }}{% endfor %}",
    "hashed graph": _TUPLE_DAG + "{{ {ns.v: 1}|length }}",
    "hashed graph, index": _TUPLE_DAG + "{{ {}[ns.v] }}",
    "hashed graph, get": _TUPLE_DAG + "{{ {}.get(ns.v) }}",
    "hashed graph, in": _TUPLE_DAG + "{{ ns.v in {} }}",
    "hashed graph, unique": _TUPLE_DAG + "{{ [ns.v]|unique|list|length }}",
    "hashed graph, dict": _TUPLE_DAG + "{{ dict([(ns.v, 1)])|length }}",
    "hashed graph, fromkeys": _TUPLE_DAG + "{{ dict.fromkeys([ns.v])|length }}",
    "hashed graph, views": _TUPLE_DAG + "{{ ({'a': ns.v}.items() - [])|length }}",
    "hashed graph, isdisjoint": _TUPLE_DAG + "{{ {}.keys().isdisjoint([ns.v]) }}",
    "searched text": _BIG
    + "{% for i in range(99999) %}{% for j in range(99) %}{{ 'zz' in b }}{% endfor %}{% endfor %}",
    "compared text": _BIG
    + "{% set c = b ~ 'x' %}{% set d = b ~ 'x' %}{% for i in range(99999) %}{% for j in range(99) %}{{ c == d }}"
    "{% endfor %}{% endfor %}",
    "sliced text": _BIG + "{% for i in range(99999) %}{{ b[1:]|length }}{% endfor %}",
    "upper case": _BIG + "{% for i in range(99999) %}{{ b.upper()|length }}{% endfor %}",
    "split text": _BIG + "{% for i in range(99999) %}{{ b.split('a')|length }}{% endfor %}",
    "kept text": _BIG
    + "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = ns.l + [b ~ i] %}{% endfor %}",
    "wide body": "{% for i in range(99999) %}" + "{% set x = [1, 2, 3, 4, i] %}" * 2_000 + "{% endfor %}",
    "wide call": "{% macro m() %}{{ varargs|length }}{% endmacro %}{% for i in range(99999) %}{{ m(*range(99999)) }}"
    "{% endfor %}",
    "deep value": _doubled("[]", "[ns.v]")
    + "{% for i in range(99999) %}{% set ns.v = [ns.v] %}{% endfor %}{{ ns.v }}",
    "value in itself": "{% set ns = namespace() %}{% set ns.a = [ns, ns] %}{{ ns }}",
    "range": "{{ range(10 ** 12)|list }}",
}
"""Each must end soon with a limit, or with what Jinja itself makes of it."""

NESTED = {
    "parentheses": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "lists": "{{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "ifs": "{% if x %}" * 5_000 + "{% endif %}" * 5_000,
    "loops": "{% for x in y %}" * 300 + "{% endfor %}" * 300,
    "macros": "{% macro m() %}" * 300 + "{% endmacro %}" * 300,
    "sum": "{{ " + "1 + " * 20_000 + "1 }}",
    "filters": "{{ 1" + "|string" * 20_000 + " }}",
    "attributes": "{{ x" + ".a" * 20_000 + " }}",
    "conditions": "{{ " + "1 if x else " * 20_000 + "1 }}",
    "not": "{{ " + "not " * 20_000 + "1 }}",
    "minus": "{{ " + "-" * 20_000 + "1 }}",
    "elifs": "{% if x %}" + "{% elif x %}" * 20_000 + "{% endif %}",
    "digits": "{{ " + "9" * 100_000 + " }}",
    "hexadecimal digits": "{{ 0x" + "9" * 100_000 + " }}",
    "exponent": "{{ 1e999999999 }}",
    "NUL": "{{ '\0' }}\0",
    "lone surrogate": "{{ '\ud800' }}\ud800",
    "control characters": "".join(map(chr, range(32))) + "{{ x }}",
    "odd names": "{{ ª }}{{ 变 }}{% set ﬁ = 1 %}{{ fi }}",
    "break outside a loop": "{% break %}",
    "continue in generation": "{% for x in messages %}{% generation %}{% continue %}{% endgeneration %}{% endfor %}",
    "loop assigned": "{% for loop in messages %}{% endfor %}",
    "extends": "{% extends 'a' %}",
    "include": "{% include 'a' %}",
    "import": "{% import 'a' as a %}",
    "from": "{% from 'a' import b %}",
    "super": "{% block a %}{{ super() }}{% endblock %}",
    "caller": "{{ caller() }}",
}
"""Templates that strain the parser, Python's own compiler, or neither."""
