"""Which module of a Rust crate imports which: read from the `crate::`, `super::` and child paths of its sources."""

import re

ROOT = ()
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*mod \w+ \{.*", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
TOKEN = re.compile(r"\s*(\w+|::|[{},*]|\S)")


def module(file, src):
    """The path of the module that a file is: the root's is empty."""
    parts = file.relative_to(src).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("lib", "mod") else parts


def paths(text, at):
    """The paths of the import tree that begins at a place in the text, and where it ends."""
    token = TOKEN.match(text, at)
    if token[1] == "{":
        found, at = [], token.end()
        while (token := TOKEN.match(text, at)) and token[1] != "}":
            if token[1] == ",":
                at = token.end()
                continue
            inner, at = paths(text, at)
            found += inner
        return found, token.end() if token else at
    name, at = token[1], token.end()
    if (more := TOKEN.match(text, at)) and more[1] == "::":
        following = TOKEN.match(text, more.end())
        if following and re.fullmatch(r"\w+|\{", following[1]):
            inner, at = paths(text, more.end())
            return [(name, *path) for path in inner], at
    return [(name,)], at


def imports(src):
    """For each module of the crate with these sources, the modules that it imports from."""
    texts = {}
    for file in sorted(src.rglob("*.rs")):
        texts.setdefault(module(file, src), []).append(TESTS.sub("", COMMENT.sub("", file.read_text("utf-8"))))
    graph = {}
    for name, several in texts.items():
        graph[name] = set()
        for text in several:
            children = re.findall(r"\bmod (\w+);", text)
            begin = re.compile(rf"(?<![:\w])(?:{'|'.join(['crate', 'super', *children])})::")
            for match in begin.finditer(text):
                for path in paths(text, match.start())[0]:
                    graph[name].add(resolved(path, name, texts))
        graph[name].discard(name)
    return graph


def resolved(path, importer, modules):
    """The module that a path leads into."""
    if path[0] == "crate":
        path = path[1:]
    elif path[0] == "super":
        path = (*importer[:-1], *path[1:])
    else:
        path = (*importer, *path)
    return next(path[:length] for length in range(len(path), -1, -1) if path[:length] in modules)
