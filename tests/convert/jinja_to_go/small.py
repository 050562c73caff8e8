"""Small chat templates, one for each thing that real ones do."""

SMALL = {
    "roles": "{% for m in messages %}<|{{ m.role }}|>{{ m['content'] }}{{ eos_token }}{% endfor %}",
    "first and last": (
        "{% for m in messages %}{% if loop.first %}F{% endif %}{{ loop.index }}{{ m.content|trim }}"
        "{% if not loop.last %},{% endif %}{% endfor %}"
    ),
    "namespace": (
        "{% set ns = namespace(n=-1, last='') %}{% for m in messages %}{% if m.role == 'user' %}"
        "{% set ns.n = loop.index0 %}{% set ns.last = m.content %}{% endif %}{% endfor %}{{ ns.n }}{{ ns.last }}"  # noqa: E501
    ),
    "think tags": (
        "{% for m in messages %}{% if '</think>' in m.content %}{{ m.content.split('</think>')[-1].lstrip('\\n') }}"  # noqa: E501
        "{% else %}{{ m.content.strip() }}{% endif %}|{% endfor %}"
    ),
    "tools": (
        "{% for t in tools or [] %}{{ t|tojson }}\n{% endfor %}{% for m in messages %}{{ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}"  # noqa: E501
    ),
    "macro": (
        "{% macro show(m, last=false) %}[{{ m.content ~ ('!' if last else '') }}]{% endmacro %}"
        "{% for m in messages %}{{ show(m, loop.last) }}{% endfor %}"
    ),
    "macro in a loop": (
        "{% for m in messages %}{% set end = '!' %}"
        "{% macro mark(x) %}[{{ x }}{{ m.role }}{{ end }}]{% endmacro %}"
        "{% macro twice(x) %}{{ mark(x) }}{{ mark(m.content) }}{% endmacro %}{{ mark(m.content) }}"
        "{% for c in m.tool_calls or [] %}{{ twice(c.function.name) }}{% endfor %}"
        "{% endfor %}"
    ),
    "slices": (
        "{% set rest = messages[1:] if messages[0].role == 'system' else messages %}"
        "{% for m in rest[::-1] %}{{ loop.index0 }}{{ m.content[:3] }}{% endfor %}"
    ),
    "ends of texts": ("{% for m in messages %}{{ m.content[-3:] }}|{{ m.content[:-2] }}|{% endfor %}"),
    "lists that grow": (
        "{% set ns = namespace(names=[], picked=[]) %}{% for m in messages %}"
        "{% set ns.names = ns.names + [m.role ~ '=' ~ m.content] %}"
        "{% if m.role == 'user' %}{% set ns.picked = ns.picked + [m] %}{% endif %}{% endfor %}"
        "{{ ns.names|join(', ') }}{% for m in ns.picked %}{{ m.content }}{% endfor %}"
    ),
    "dicts in lists": (
        "{% set ns = namespace(turns=[], ids=[]) %}{% for m in messages %}"
        "{% if m.role == 'tool' %}{% set ns.turns = ns.turns + [m] %}"
        "{% else %}{% set ns.turns = ns.turns + [{'role': m.role|upper, 'content': m.content}] %}{% endif %}"
        "{% set ns.ids = ns.ids + [m.tool_call_id] %}{% endfor %}"
        "{% for t in ns.turns %}{{ loop.index }}{{ t.role }}={{ t['content'] }}{% if t.name %}({{ t.name }}){% endif %}"  # noqa: E501
        "{% endfor %}{{ ns.turns[-1].role }}{{ 'call_1' in ns.ids }}"
    ),
    "calls in lists": (
        "{% set ns = namespace(calls=[]) %}{% for m in messages %}{% if m.tool_calls %}"
        "{% set ns.calls = ns.calls + m.tool_calls %}{% endif %}{{ m.content }}{% endfor %}"
        "{% for c in ns.calls %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}"
    ),
    "types in a list": (
        "{% for m in messages %}{{ m.content }}{% endfor %}{% for tool in tools or [] %}"
        "{% for k, v in tool.function.parameters.properties|dictsort(true) %}"
        "{% set types = [v.type] if v.type is string else v.type or [] %}{{ k }}: {{ types|join(' or ') }}"
        "{% set known = v.enum if v.enum else ([v.type] if v.type is string else (v.type or ['any'])) %}"
        "{% for one in known %}{{ one }},{% endfor %}{{ 'null' in types }}{% endfor %}{% endfor %}"
    ),
    "types": (
        "{% macro named(t) %}{{ 'number' if t == 'integer' or t == 'float' else t }}{% endmacro %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% for tool in tools or [] %}{% for k, v in tool.function.parameters.properties.items() %}"
        "{% set t = 'any' %}{% if v.type %}{% if v.type is not string %}{% set t = v.type|join('|') %}"
        "{% else %}{% set t = v.type %}{% endif %}{% endif %}{{ k }}: {{ named(t) }}{{ '!' if t is string }}"
        "{{ 'same' if v.type == tool.type }};{% endfor %}{% endfor %}"
    ),
    "lengths of types": (
        "{% macro typed(type) %}{% if type is not string and type and type|length == 1 %}{{ type[0] }}"
        "{% else %}{{ type|tojson if type }}{{ type|length }}{% endif %}{% endmacro %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% for tool in tools or [] %}{% for k, v in tool.function.parameters.properties.items() %}"
        "{{ k }}: {{ typed(v.type) }};{% endfor %}{% endfor %}"
    ),
    "sorted": (
        "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}"
        "{% for k, v in c.function.arguments|dictsort(case_sensitive=true) %}{{ k }},{% endfor %}"
        "{% for k, v in c.function.arguments|dictsort(true) %}{{ k }},{% endfor %}"
        "{% for k, v in c.function.arguments|dictsort(case_sensitive=false) %}{{ k }},{% endfor %}"
        "{% endfor %}{% endfor %}"
    ),
    "one message": "{{ messages[0].content }}",
    "braces": "{% for m in messages %}{{ '{{' }}{{ m.content }}{{ '}}{' }}{{ m.role }}{% endfor %}",
    "ascii": "{% for m in messages %}{{ m.content|tojson(ensure_ascii=True) }}{% endfor %}\x7f",
    "ascii of DEL": "{% for m in messages %}{{ ('\x7f' ~ m.content)|tojson(ensure_ascii=True) }}{% endfor %}",
    "items that are methods": (
        "{% for m in messages %}{{ m.content }}{{ m['get'] is defined }}{{ 'x' if m.content['title'] }}"
        "{{ m.content['type'] is defined }}{% endfor %}{% for t in tools or [] %}"
        "{% for k, p in t.function.parameters.properties.items() %}{{ k }}{% if p['items'] %}"
        "{{ p['items']['type'] }}!{% endif %}{{ p['items'] is mapping }}{% endfor %}{% endfor %}"
    ),
    "a loop that is written twice, behind text": (
        "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}"
        "{% set ns.last = loop.index0 %}{% endif %}{{ m.content }}{% endfor %}"
        "{% if tools %}tools:{% for key in tools|first %},{% endfor %}{% endif %}"
    ),
    "None walked": (
        "{% for m in messages %}{{ m.content }}{% endfor %}{% for t in tools %}{{ t.function.name }}"
        "{% for k in t.function.parameters.properties %}{{ k }}{% endfor %}{% endfor %}"
    ),
    "None counted": "{% for m in messages %}{{ m.content }}{% endfor %}{{ tools|length }}",
    "None mapped": (
        "{% for m in messages %}{{ m.content }}{% endfor %}{{ tools|map(attribute='type')|join }}"
        "{{ tools|selectattr('function')|list|length }}{{ tools|reject|list|length }}"
    ),
    "a number below nought": (
        "{% set ns = namespace(last=-1, seen='') %}{% for m in messages %}"
        "{% set ns.seen = ns.seen ~ ',' ~ ns.last ~ (ns.last|tojson) ~ (ns.last|string)|length %}"
        "{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}{{ ns.seen }}"
    ),
    "errors that are called as templates are": (
        "{% macro f(x) %}{% for k in x %}{{ k }}{% if x[k] is mapping %}{{ f(x[k]) }}{% endif %}{% endfor %}"
        "{% endmacro %}{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('f') }}{% endif %}"
        "{% if m.role == 'system' and not loop.first %}{{ raise_exception('') }}{% endif %}{{ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ f(c.function.arguments) }}{{ c.function.arguments|tojson }}"
        "{% endfor %}{% if 'json' in m.content %}{{ raise_exception('json') }}{% endif %}{% endfor %}"
    ),
    "calls in dicts": (
        "{% set ns = namespace(all=[]) %}{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% set ns.all = ns.all + [{'t': m.content, 'c': m.tool_calls}] %}{% endif %}{% endfor %}"
        "{% for d in ns.all %}{{ d.t }}{% if d.c %}{% for c in d.c %}{{ c.function.name }}"
        "{% endfor %}{% endif %}{% endfor %}"
    ),
    "calls or other lists": (
        "{% set ns = namespace(x=[]) %}{% for m in messages %}{{ m.content }}"
        "{% if m.tool_calls %}{% set ns.x = m.tool_calls %}{% else %}{% set ns.x = ['a', m.role] %}"
        "{% endif %}{% for c in ns.x %}{% if c is string %}{{ c }}{% else %}{{ c.function.name }}"
        "{% endif %}{% endfor %}{% endfor %}{{ ns.x|length }}"
    ),
    "a dict that may be empty": (
        "{% set ns = namespace(v={}) %}{% for m in messages %}{{ m.content }}{% if m.role != 'tool' %}"
        "{% set ns.v = {'a': m.role} %}{% endif %}|{% if ns.v %}T{{ ns.v.a }}{% else %}F{% endif %}"
        "{% if ns.v == {} %}E{% endif %}{{ 'a' in ns.v }}{% endfor %}"
    ),
    "an item of a list that is none": (
        "{% for m in messages %}{% if loop.first %}{% set v = [['a']] %}{% else %}{% set v = m.content %}"
        "{% endif %}{% if v is not string %}{% for c in v %}{% if c.function is defined %}X{% else %}"
        "{{ c[0] }}{% endif %}{% endfor %}{% else %}{{ v }}{% endif %}{% endfor %}"
    ),
    "a dict copied of one that may be empty": (
        "{% set ns = namespace(v={}) %}{% for m in messages %}{% if m.role != 'tool' %}"
        "{% set ns.v = {'a': m.role} %}{% endif %}{% set d = dict(ns.v, b=m.content) %}|{{ d.a }}{{ d.b }}"
        "{{ 'a' in d }}{{ 'b' in d }}{% if d %}T{% endif %}{% endfor %}"
    ),
    "characters of texts": (
        "{% set ns = namespace(u='-') %}{% for m in messages %}{{ ns.u|first }}{{ ns.u[1] is defined }}"
        "{{ (m.role ~ m.content)[0] }}{{ (m.content ~ 'x')|first }}{{ 'é:'[-1] }}{{ m.content[0] }}"
        "{% if m.role == 'user' %}{% set ns.u = m.content ~ '!' %}{% endif %}{% endfor %}"
    ),
    "a loop over what may be undefined": (
        "{% for m in messages %}{% if m.content %}{% set v = m.tool_calls %}{% else %}{% set v = m.name %}"
        "{% endif %}{% for c in v %}{{ c.function.name }}{% endfor %}{% if v is defined %}D{% endif %}"
        "{% if v %}T{% endif %}{{ m.content }}{% endfor %}"
    ),
    "a key that a dict has not, and a method": (
        "{% set ns = namespace(v={}) %}{% for m in messages %}{% if m.role != 'tool' %}"
        "{% set ns.v = {'a': m.role} %}{% endif %}{{ 'items' in ns.v }}{{ 'a' in ns.v }}{{ 'b' in ns.v }}"
        "{{ m.content }}{% endfor %}"
    ),
    "in order": (
        "{% set ns = namespace(roles=[], turns=[]) %}{% for m in messages %}{{ m.content }}"
        "{% set ns.roles = ns.roles + [m.role] %}"
        "{% set ns.turns = ns.turns + [{'type': 'text' if loop.first else m.role, 'text': m.content}] %}"
        "{% for c in (m.tool_calls or [])|sort(attribute='function.name') %}{{ c.function.name }}"
        "{% for k in c.function.arguments|sort %}{{ k }}{{ loop.last }}{% endfor %}{% endfor %}"
        "{% endfor %}{{ ns.roles|unique|sort(reverse=true)|join(', ') }}"
        "{% for t in ns.turns[:3]|sort(attribute='type') %}{{ t.type }}{{ t.text }}{% endfor %}"
        "{% for t in tools or [] %}{{ (t.function.parameters.required or [])|sort|join(',') }}{% endfor %}"
    ),
    "once": (
        "{% set roles = messages|map(attribute='role')|unique|list %}{{ roles|join(', ') }}{{ roles|length }}"
        "{{ roles[-1] }}{% for m in messages|unique(attribute='role') %}{{ m.content }}{% endfor %}"
        "{% for t in tools or [] %}{% for k, p in t.function.parameters.properties.items() %}"
        "{{ p.enum|unique|join('|') if p.enum }}{% endfor %}{% endfor %}"
    ),
    "dicts in the order of their keys": (
        "{% for m in messages %}{{ m.content }}"
        "{% for k, v in {'b': m.role, 'B': 1, 'a': m.content}|dictsort(true) %}{{ k }}{{ v }}{% endfor %}"
        "{% endfor %}{% for t in tools or [] %}{% for k, v in t|dictsort(true) %}{{ k }},{% endfor %}"
        "{% for k, p in t.function.parameters.properties.items() %}{% if p.properties %}"
        "{% for a, b in p.properties|dictsort(true) %}{{ a }},{% endfor %}{% endif %}{% endfor %}{% endfor %}"
    ),
    "slices of lists that grow": (
        "{% set ns = namespace(roles=[]) %}{% for m in messages %}{{ m.content }}"
        "{% set ns.roles = ns.roles + [m.role] %}{% endfor %}{{ ns.roles[:2]|join }}|{{ ns.roles[1:]|join }}"
        "|{{ ns.roles[-2:]|join(',') }}|{{ ns.roles[:-1]|join(',') }}|{{ ns.roles[1:-2]|join(',') }}"
        "{{ ns.roles[:0]|length }}"
    ),
    "the list of what is undefined": (
        "{% for m in messages %}{{ m.content }}{{ m.tool_calls|list|length }}{% endfor %}"
        "{% for t in tools or [] %}{% set names = t.function.parameters.required|list %}{{ names }}"
        "{{ names|tojson }}{{ names is defined }}{{ names == [] }}{{ 'city' in names }}{{ names|join(',') }}"
        "{% for name in names %}{{ name }}{% endfor %}{% endfor %}"
    ),
    "characters of the template's own": (
        "{% for m in messages %}{{ ('\u00a0' ~ m.role)|trim }}{{ ('é' ~ m.role)|upper }}{{ m.content }}"
        "{{ ('\u2028' ~ m.role)|tojson }}{{ m.content|safe + '\x00<' ~ m.role }}{% endfor %}"
    ),
    "methods of what is marked safe": (
        "{% for m in messages %}{% set s = m.content|safe %}{{ s.split('<')[0] + '<' }}{{ s[:3] + '<' }}"
        "{{ s.split(' ')[-1] + '<' }}{{ s|trim + '&' }}{{ s|replace('a', '&') + '<' }}{{ s|first + '<' }}"
        "{{ s.replace('a', '&') + '<' }}{{ (s * 2) + '<' }}{% for x in s.split('\n') %}{{ x + '<' }}"
        "{% endfor %}{% set r = m.role|safe %}{{ r|upper + '<' }}{{ r.title() + '<' }}{{ r|title + '<' }}"
        "{{ r|capitalize + '<' }}"
        "{{ ('a<b'|safe).split('<')[1] + '<' }}{{ ('a'|safe).replace('a', '<') + '<' }}"
        "{{ (m.content|safe if m.role == 'user' else m.content).split('<')[0] + '<' }}{% endfor %}"
    ),
    "what is put together of what is marked safe": (
        "{% set ns = namespace(s='', l='') %}{% for m in messages %}{{ ('' ~ (m.content|safe)) + '<' }}"
        "{{ [m.content|safe]|join + '<' }}{{ ('%s' % (m.content|safe)) + '<' }}"
        "{{ (m.content|safe if m.role == 'user' else m.content) + (m.role|safe) }}{{ ns.l + 'a' }}"
        "{% set ns.s = ns.s ~ m.content|safe %}{% set ns.l = m.content|safe %}{% endfor %}{{ ns.s + '<' }}"
    ),
    "capitals of a template with letters of its own": (
        "{% for m in messages %}{{ ('é' ~ m.role).strip('é').capitalize() }}{{ m.content }}{% endfor %}"
    ),
    "methods of constants": (
        "{% for m in messages %}{{ m.content }}{{ 'a:b'.partition(':') }}{{ 'a\tb'.expandtabs(4) }}"
        "{% if m.role == 'tool' %}{{ 'a'.swapcase(8) }}{% endif %}{% endfor %}"
    ),
    "the same": (
        "{% for m in messages %}{{ m.content }}{{ (m.role == 'user') is sameas true }}{{ 1 is sameas true }}"
        "{{ none is sameas m.role }}{% for c in m.tool_calls or [] %}"
        "{% for k, v in c.function.arguments.items() %}{{ v is sameas true }}{{ v is sameas false }}"
        "{{ v is sameas none }}{% endfor %}{% endfor %}{% endfor %}{{ enable_thinking is sameas false }}"
    ),
    "generators": (
        "{% for m in messages %}{{ m.content }}{% endfor %}{{ 'Y' if messages[1:]|reverse else 'N' }}"
        "{{ messages|reverse is sequence }}{{ (messages|reverse)[0] is defined }}"
        "{{ messages|map(attribute='role') is sequence }}{{ (messages|reverse|list)[0].content }}"
        "{{ 'Y' if [1, 2]|reverse else 'N' }}{% for n in [1, 2]|reverse %}{{ n }}{% endfor %}"
        "{{ [1, 2]|reverse|list }}{{ 'Y' if nothing|items else 'N' }}"
        "{% for k, v in nothing|items %}{% endfor %}"
        "{{ 'Y' if range(messages|length - 1) else 'N' }}{% for c in messages[-1].tool_calls or [] %}"
        "{{ 'Y' if c.function.arguments|items else 'N' }}{{ 'Y' if c.function.arguments.items() else 'N' }}"
        "{{ c.function.arguments.items() is sequence }}{{ c.function.arguments|dictsort is sequence }}"
        "{% endfor %}"
    ),
    "the length of a generator": (
        "{% for m in messages %}{{ m.content }}"
        "{% if m.role == 'tool' %}{{ messages|reverse|length }}{% endif %}"
        "{% if m.role == 'system' and not loop.first %}{{ none[:2] }}{% endif %}{% endfor %}"
    ),
    "texts in three parts": (
        "{% for m in messages %}{% set a, b, c = m.content.partition('</think>') %}{{ a }}|{{ b }}|{{ c }}"
        "{{ m.content.rpartition(' ')[0] }}|{{ m.content.rpartition(' ')[2] }}{{ m.role.partition('s')[1] }}"
        "{% endfor %}"
    ),
    "numbers": (
        "{% for m in messages %}{{ m.content }}{{ loop.index0 // 2 }}{{ loop.index * loop.index0 }}"
        "{{ loop.index * 3 // 4 }}{{ ' ' * (2 * loop.index) }}{{ loop.index is odd }}"
        "{{ loop.index0 is even }}{{ loop.index is divisibleby(3) }}{% endfor %}"
    ),
    "texts of other kinds": (
        "{% for m in messages %}{{ m.content|e }}{{ (m.role|escape) ~ '<' }}{{ (m.role|e) + '<' }}"
        "{{ m.content|trim('.') }}{{ ', '.join([m.role, m.content]) }}{% endfor %}"
        "{{ '-'.join(messages|map(attribute='role')) }}"
    ),
    "neighbours from the end": (
        "{% for m in messages[::-1] %}{{ m.content }}{% if loop.previtem and loop.previtem.role == 'user' %}U"
        "{% endif %}{% if loop.nextitem is defined %}{{ loop.nextitem.content }}{% endif %}{% endfor %}"
    ),
    "any of several constants": (
        "{% for m in messages %}{% set failed = 'error:' in m.content or ('fatal:' in m.content or "
        "'<broken>' in m.content) or '\\nstop:' in m.content or 'ö' in m.content or 'cannot' in m.content %}"
        "{{ m.content|upper if failed else m.content }}{{ 'not found' in m.role or 'user' in m.role or "
        "'fatal:' in m.role or m.tool_calls and true }}{% endfor %}"
    ),
    "a constant taken out or replaced by another": (
        "{% for m in messages %}{% if '<|off|>' in m.content %}{{ m.content.split('<|off|>')|join('')|trim }}"
        "{% else %}{{ m.content.split(m.role)|join('_') }}{% endif %}{{ m.content.split('a')[1:]|join('a') }}|"  # noqa: E501
        "{{ m.content.split('\\n')|join(m.role) }}{% endfor %}"
    ),
    "numbers as keys in their order": (
        "{% set names = {10: 'ten', 9: 'nine', 100: 'hundred'} %}{% for m in messages %}{{ m.content }}"
        "{% for n, name in names|dictsort %}{% if m.content|length < n %}{{ name }}{% endif %}{{ n }}"
        "{% endfor %}{% endfor %}"
    ),
    "items that are taken for a dict": (
        "{% macro kind(spec) %}{{ spec.type or spec['type'] or 'any' }}{% endmacro %}"
        "{% for m in messages %}{{ m.content }}{% for t in tools or [] %}"
        "{% for name, p in t.function.parameters.properties|items %}{{ kind(p|items) }}{{ kind(p.items()) }}"
        "{{ kind(range(3)) }}{% endfor %}{% endfor %}{% endfor %}"
    ),
}
