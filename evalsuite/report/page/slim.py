"""The markup of a large page as short as HTML has it."""

import re

# HTML Living Standard §13.1.2.4 and §13.1.2.3: the end of a cell, row or item is where the next begins, and a value
# without blanks needs no quotes. Text holds no bare quote: Jinja and the drawings escape it.
OPTIONAL_END = re.compile(r"</(?:td|th|tr|thead|tbody|li|dt|dd)>\n?")
NEEDLESS_QUOTES = re.compile(r""" ([a-z][\w-]*)="([^\s"'=<>`]+)"(?=[ >])""")
# A link says itself where it leads, and an item what it is: the page's script reads the one like the other.
LINKED_TWICE = re.compile(r'(<a class="num" href="#([\w-]+)") data-ref="\2"')
CELL_OF_A_LINK = re.compile(r'(<td class="[^"]*") data-c="([\w-]+)">(?=<a [^>]*href="#\2")')
# A size or a name that is written alike in both languages.
ALIKE = re.compile(r'<span lang="zh-CN">([^<]+)</span><span lang="en">\1</span>')
RIGHT = "<td class=n data-v="  # the sheet sets a cell with a raw value like one of class n
MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)


def shorten(html: str) -> str:
    return MAIN.sub(lambda match: _short(match[0]), html)


def _short(main: str) -> str:
    main = ALIKE.sub(r"\1", OPTIONAL_END.sub("", main))
    main = CELL_OF_A_LINK.sub(r"\1>", LINKED_TWICE.sub(r"\1", main))
    return NEEDLESS_QUOTES.sub(r" \1=\2", main).replace(RIGHT, "<td data-v=")
