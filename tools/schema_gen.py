#!/usr/bin/env python3
"""Turns the rows of src/api/schema/*.txt into C tables.

usage: schema_gen.py OUT.c OUT.h ROWS.txt...

A row file describes one API group and version. Indented lines belong to the line above them:

    group core/v1                          the group; `core` is the legacy one without a name
    resource PLURAL KIND SINGULAR namespaced|cluster [off]      off: not served by default
        verbs VERB...
        short NAME...
        categories NAME...
        sub NAME GROUP/VERSION.KIND VERB...
    enum NAME                              allowed values, one JSON string a line
        "Value"
    type NAME [object] [wrapper] [json-only] [map=atomic|granular] [shape=...]
        union DISCRIMINATOR|- FIELD=GoName...
        FIELD  TYPE  PROTOBUF-NUMBER  [OPTION...]

Of a type: `object` has kind and apiVersion, `wrapper` is a bare list in JSON and a message in protobuf,
`json-only` has no protobuf form, `shape` lets the JSON shape choose among its fields.
TYPE is string, bool, int32, int64, uint32, double, float, bytes, duration, time, microTime, quantity,
intOrString, raw, json, fieldsV1, or a type's name (with its group unless it is this one), behind [] for a list or {} for a
map with string keys. Options of a field:

    keep       written to JSON even when empty        ptr        absent and zero differ
    omitzero   left out of JSON when zero             inline     embedded: its fields stand in the parent's JSON object
    required   listed as required                     list=atomic|set|map:KEY,...   how apply merges a list
    map=...    how apply merges a map or struct       patch=merge,replace,retainKeys  strategic merge patch
    key=NAME   merge key of that patch                default=JSON   declared default
    enum=NAME  allowed values                         go=TYPE    name of the type in error texts, where it differs

The tables come out sorted by name; every type gets a perfect hash over its JSON names.
"""
import json
import os
import re
import sys

SCALARS = {  # row name: (C constant, name in error texts)
    "string": ("KIND_STRING", "string"), "bool": ("KIND_BOOL", "bool"),
    "int32": ("KIND_INT32", "int32"), "int64": ("KIND_INT64", "int64"),
    "uint32": ("KIND_UINT32", "uint32"), "double": ("KIND_DOUBLE", "float64"),
    "float": ("KIND_FLOAT", "float32"),
    "bytes": ("KIND_BYTES", "[]uint8"), "duration": ("KIND_DURATION", "v1.Duration"), "time": ("KIND_TIME", "v1.Time"),
    "microTime": ("KIND_MICRO_TIME", "v1.MicroTime"), "quantity": ("KIND_QUANTITY", "resource.Quantity"),
    "intOrString": ("KIND_INT_OR_STRING", "intstr.IntOrString"), "raw": ("KIND_RAW", "runtime.RawExtension"),
    "json": ("KIND_JSON", "v1.JSON"), "fieldsV1": ("KIND_FIELDS_V1", "v1.FieldsV1"),
}
SHAPES = {"object-or-list": "TYPE_OBJECT_OR_LIST", "object-or-bool": "TYPE_OBJECT_OR_BOOL",
          "object-or-strings": "TYPE_OBJECT_OR_STRINGS"}
VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
MASK64 = (1 << 64) - 1
SLOT_INLINED, SLOT_NONE = 254, 255  # as in schema.h
MAX_NUMBER = 1023  # of a protobuf field; the tables have an entry for each up to the largest


class RowError(Exception):
    pass


class Field:
    def __init__(self, name, row_type, number, options, group):
        self.name, self.number, self.group = name, number, group
        self.shape = "SHAPE_ONE"
        for prefix, shape in (("[]", "SHAPE_LIST"), ("{}", "SHAPE_MAP")):
            if row_type.startswith(prefix):
                self.shape, row_type = shape, row_type[2:]
        self.element = row_type
        self.options = options

    def has(self, option):
        return option in self.options

    def get(self, option):
        return self.options.get(option)


class Type:
    def __init__(self, group, name, options):
        self.group, self.short, self.options = group, name, options
        self.name = f"{group}.{name}"
        self.fields, self.unions = [], []


class Schema:
    def __init__(self):
        self.types, self.enums, self.resources = {}, {}, []

    def resolve(self, name, group):
        full = name if "." in name else f"{group}.{name}"
        if full not in self.types:
            raise RowError(f"unknown type {full}")
        return self.types[full]


def parse_options(words):
    options = {}
    for word in words:
        key, _, value = word.partition("=")
        options[key] = value or True
    return options


def parse_file(schema, path):
    group = current = None
    for number, line in enumerate(open(path), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if not line[0].isspace():
                if words[0] == "group":
                    group = words[1]
                elif words[0] == "type":
                    current = Type(group, words[1], parse_options(words[2:]))
                    schema.types[current.name] = current
                elif words[0] == "enum":
                    current = schema.enums[f"{group}.{words[1]}"] = []
                elif words[0] == "resource":
                    current = dict(group=group, plural=words[1], kind=words[2], singular=words[3],
                                   namespaced=words[4] == "namespaced", on="off" not in words[5:],
                                   short=[], categories=[], subs=[], verbs=[])
                    schema.resources.append(current)
                else:
                    raise RowError(f"unknown word {words[0]}")
            elif isinstance(current, list):
                current.append(json.loads(line))
            elif isinstance(current, dict):
                if words[0] == "sub":
                    current["subs"].append((words[1], words[2], words[3:]))
                else:
                    current[words[0]] = words[1:]
            elif words[0] == "union" and not words[2].isdigit():
                current.unions.append((words[1], [w.split("=") for w in words[2:]]))
            else:
                current.fields.append(Field(words[0], words[1], int(words[2]), parse_options(words[3:]), group))
        except (RowError, IndexError, ValueError, AttributeError) as error:
            sys.exit(f"{path}:{number}: {error}: {line.strip()}")


def c_str(text):
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_slice(text):
    return f"{{ {c_str(text)}, {len(text.encode())} }}"


def symbol(name):
    return re.sub(r"[^A-Za-z0-9]", "_", name.replace(".k8s.io", ""))


def load8(data):
    return int.from_bytes(data[:8], "little")


def name_hash(name, seed, bits):
    """The same function as schema_name_hash in schema.h."""
    data = name.encode()
    tail = data[-8:] if len(data) >= 8 else data
    mixed = load8(data) ^ ((load8(tail) << 23 | load8(tail) >> 41) & MASK64) ^ len(data)
    return ((mixed * seed) & MASK64) >> (64 - bits)


def perfect_hash(names):
    bits = max(1, (2 * len(names) - 1).bit_length())
    for seed in range(0x9E3779B97F4A7C15, 0x9E3779B97F4A7C15 + 2 * 200000, 2):
        seed &= MASK64
        slots = {}
        for index, name in enumerate(names):
            if slots.setdefault(name_hash(name, seed, bits), index) != index:
                break
        else:
            return seed, bits, [slots.get(i, 255) for i in range(1 << bits)]
    raise SystemExit(f"no perfect hash for {names}")


def flatten(schema, a_type, path=""):
    """(field, Go path of the embedded structs) in JSON order, with what is inlined in its place."""
    rows = []
    if a_type.options.get("object") and not path:
        for name in ("kind", "apiVersion"):
            rows.append((Field(name, "string", 0, {}, a_type.group), "TypeMeta."))
    for field in a_type.fields:
        if field.has("inline"):
            inner = schema.resolve(field.element, field.group)
            rows += flatten(schema, inner, path + inner.short + ".")
        else:
            rows.append((field, path))
    return rows


def n_slots(schema, a_type):
    return len(flatten(schema, a_type, "x"))


def sent_when_absent(schema, field):
    """Protobuf has every field that is no pointer, list or map; bytes and wrappers are lists here."""
    if field.shape != "SHAPE_ONE" or field.has("ptr") or field.element == "bytes":
        return False
    return field.element in SCALARS or not schema.resolve(field.element, field.group).options.get("wrapper")


def wires(schema, a_type):
    """(number, first slot, whether it is written when absent, inlined type or None) by ascending number."""
    slot = 2 if a_type.options.get("object") else 0
    rows = []
    for field in a_type.fields:
        inner = schema.resolve(field.element, field.group) if field.has("inline") else None
        if field.number:
            rows.append((field.number, slot, bool(inner) or sent_when_absent(schema, field), inner))
        slot += n_slots(schema, inner) if inner else 1
    return sorted(rows, key=lambda row: row[0])


def go_names(schema, field):
    if field.element in SCALARS:
        element = SCALARS[field.element][1]
    else:
        inner = schema.resolve(field.element, field.group)
        element = inner.group.split("/")[-1] + "." + inner.short
    prefix = {"SHAPE_ONE": "", "SHAPE_LIST": "[]", "SHAPE_MAP": "map[string]"}[field.shape]
    whole = field.get("go") or prefix + element
    if whole.startswith("[]") and field.shape == "SHAPE_LIST":
        element = whole[2:]
    elif whole.startswith("map[") and field.shape == "SHAPE_MAP":
        element = whole[whole.index("]") + 1:]
    elif field.shape == "SHAPE_ONE":
        element = whole
    return whole, element


def field_row(schema, out, field, path):
    flags = [f"FIELD_{f.upper()}" for f in ("keep", "ptr", "omitzero", "required") if field.has(f)]
    whole, element = go_names(schema, field)
    parts = [f".name = {c_slice(field.name)}", f".number = {field.number}"]
    if field.element in SCALARS:
        parts.append(f".kind = {SCALARS[field.element][0]}")
    else:
        inner = schema.resolve(field.element, field.group)
        parts += [".kind = KIND_STRUCT", f".type = &schema_types[T_{symbol(inner.name)}]"]
    if field.shape != "SHAPE_ONE":
        parts.append(f".shape = {field.shape}")
    if flags:
        parts.append(f".flags = {' | '.join(flags)}")
    parts += [f".go_type = {c_str(whole)}", f".go_elem = {c_str(element)}", f".go_path = {c_str(path)}"]
    if field.get("list"):
        kind, _, keys = field.get("list").partition(":")
        parts.append(f".list_type = LIST_{kind.upper()}")
        if keys:
            items = ", ".join(c_str(k) for k in keys.split(","))
            parts.append(f".map_keys = (const char *const[]){{ {items}, NULL }}")
    if field.get("map"):
        parts.append(f".map_type = MAP_{field.get('map').upper()}")
    if field.get("patch"):
        names = {"merge": "PATCH_MERGE", "replace": "PATCH_REPLACE", "retainKeys": "PATCH_RETAIN_KEYS"}
        parts.append(".patch = " + " | ".join(names[p] for p in field.get("patch").split(",")))
    if field.get("key"):
        parts.append(f".merge_key = {c_str(field.get('key'))}")
    if field.get("default"):
        parts.append(f".default_json = {c_str(field.get('default'))}")
    if field.get("enum"):
        name = field.get("enum")
        full = name if "." in name else f"{field.group}.{name}"
        if full not in schema.enums:
            raise RowError(f"unknown enum {full}")
        parts.append(f".values = E_{symbol(full)}")
    out.append("    { " + ", ".join(parts) + " },")


SELF_WRITTEN = {"duration", "time", "microTime", "quantity", "intOrString", "raw", "json", "fieldsV1"}


def written_when_absent(schema, field):
    """Whether JSON has the field when it was not given: omitempty leaves out no Go struct."""
    if field.has("keep"):
        return True
    if field.shape != "SHAPE_ONE" or field.has("ptr") or field.has("omitzero"):
        return False
    if field.element in SCALARS:
        return field.element in SELF_WRITTEN
    return not schema.resolve(field.element, field.group).options.get("wrapper")


def absent_bits(schema, rows):
    bits = sum(written_when_absent(schema, field) << slot for slot, (field, _) in enumerate(rows))
    return [bits >> shift & MASK64 for shift in range(0, max(1, len(rows)), 64)]


def type_tables(schema, out, a_type):
    name = symbol(a_type.name)
    rows = flatten(schema, a_type)
    if len(rows) > SLOT_INLINED:
        raise RowError(f"{a_type.name}: more than {SLOT_INLINED} fields")
    seed, bits, slots = perfect_hash([field.name for field, _ in rows])
    if rows:
        out.append(f"static const struct field F_{name}[] = {{")
        for field, path in rows:
            field_row(schema, out, field, path)
        out.append("};")
    wire_rows = wires(schema, a_type)
    if wire_rows:
        out.append(f"static const struct wire W_{name}[] = {{")
        for number, slot, when_absent, inner in wire_rows:
            inlined = f"&schema_types[T_{symbol(inner.name)}]" if inner else "NULL"
            out.append(f"    {{ {number}, {slot}, {str(when_absent).lower()}, {inlined} }},")
        out.append("};")
        by_number = {number: SLOT_INLINED if inner else slot for number, slot, _, inner in wire_rows}
        if max(by_number) > MAX_NUMBER:
            raise RowError(f"{a_type.name}: protobuf numbers go up to {MAX_NUMBER}")
        slots_by_number = ", ".join(str(by_number.get(number, SLOT_NONE)) for number in range(max(by_number) + 1))
        out.append(f"static const uint8_t N_{name}[] = {{ {slots_by_number} }};")
    words = ", ".join(f"{word}ull" for word in absent_bits(schema, rows))
    out.append(f"static const uint64_t A_{name}[] = {{ {words} }};")
    out.append(f"static const uint8_t H_{name}[] = {{ {', '.join(map(str, slots))} }};")
    if a_type.unions:
        out.append(f"static const struct union_rule U_{name}[] = {{")
        for discriminator, fields in a_type.unions:
            members = ", ".join(f"{{ {c_str(a)}, {c_str(b)} }}" for a, b in fields)
            out.append(f"    {{ {c_str(None if discriminator == '-' else discriminator)}, "
                       f"(const struct union_member[]){{ {members}, {{ NULL, NULL }} }} }},")
        out.append("    { NULL, NULL },\n};")
    out.append("")
    return len(rows), len(wire_rows), seed, bits


def type_row(a_type, counts):
    n_fields, n_wires, seed, bits = counts
    name = symbol(a_type.name)
    flags = [c for o, c in (("object", "TYPE_OBJECT"), ("wrapper", "TYPE_WRAPPER"), ("json-only", "TYPE_JSON_ONLY"))
             if a_type.options.get(o)]
    if a_type.options.get("shape"):
        flags.append(SHAPES[a_type.options["shape"]])
    version = a_type.group.split("/")[-1]
    parts = [f".name = {c_slice(a_type.name)}", f".kind = {c_slice(a_type.short)}",
             f".go_name = {c_str(version + '.' + a_type.short)}",
             f".hash = H_{name}", f".written_when_absent = A_{name}", f".hash_seed = {seed}ull", f".hash_bits = {bits}"]
    if n_fields:
        parts.append(f".fields = F_{name}, .n_fields = {n_fields}")
    if n_wires:
        parts.append(f".wires = W_{name}, .n_wires = {n_wires}, .by_number = N_{name}, "
                     f".n_numbers = sizeof(N_{name})")
    if flags:
        parts.append(f".flags = {' | '.join(flags)}")
    if a_type.options.get("map"):
        parts.append(f".map_type = MAP_{a_type.options['map'].upper()}")
    if a_type.unions:
        parts.append(f".unions = U_{name}")
    return f"    [T_{name}] = {{ {', '.join(parts)} }},"


def name_list(names):
    return f"(const char *const[]){{ {', '.join(c_str(n) for n in names)}, NULL }}" if names else "NULL"


def verb_mask(verbs):
    return " | ".join(f"VERB_{v.upper()}" for v in verbs) if verbs else "0"


def resource_row(schema, out, r):
    group, version = r["group"].split("/")
    full = f"{r['group']}.{r['kind']}"
    a_type = f"&schema_types[T_{symbol(full)}]" if full in schema.types else "NULL"
    subs = "NULL"
    if r["subs"]:
        items = []
        for name, kind, verbs in r["subs"]:
            items.append(f"{{ {c_str(name)}, {c_str(kind)}, {verb_mask(verbs)} }}")
        subs = f"(const struct subresource[]){{ {', '.join(items)}, {{ NULL, NULL, 0 }} }}"
    out.append(f"    {{ .group = {c_slice('' if group == 'core' else group)}, .version = {c_slice(version)}, "
               f".plural = {c_slice(r['plural'])}, .singular = {c_slice(r['singular'])}, .kind = {c_slice(r['kind'])}, "
               f".type = {a_type}, .verbs = {verb_mask(r['verbs'])}, "
               f".namespaced = {str(r['namespaced']).lower()}, .served = {str(r['on']).lower()}, "
               f".short_names = {name_list(r['short'])}, .categories = {name_list(r['categories'])}, "
               f".subresources = {subs} }},")


def write_c(schema, names, path):
    out = ["/* Made by tools/schema_gen.py from src/api/schema/; not to be edited. */",
           '#include "api/schema.h"', "", '#include "api/schema_slots.h"', ""]
    for name, values in sorted(schema.enums.items()):
        items = ", ".join(c_str(v) for v in values)
        out.append(f"static const char *const E_{symbol(name)}[] = {{ {items}, NULL }};")
    out.append("")
    counts = {name: type_tables(schema, out, schema.types[name]) for name in names}
    out += ["const struct type schema_types[] = {"] + [type_row(schema.types[n], counts[n]) for n in names]
    out += ["};", "const size_t schema_n_types = N_TYPES;", "", "const struct resource schema_resources[] = {"]
    for r in schema.resources:
        resource_row(schema, out, r)
    out += ["};", f"const size_t schema_n_resources = {len(schema.resources)};", ""]
    open(path, "w").write("\n".join(out))


def write_h(schema, names, path):
    out = ["/* Made by tools/schema_gen.py from src/api/schema/; not to be edited.",
           " * T_<group>_<version>_<Type>: index of the type in schema_types.",
           " * SLOT_<group>_<version>_<Type>_<field>: where a struct value keeps that field. */", "#pragma once", "",
           "enum {"]
    out += [f"    T_{symbol(name)}," for name in names]
    out += ["    N_TYPES", "};"]
    for name in names:
        rows = flatten(schema, schema.types[name])
        if rows:
            out.append("enum {")
            for slot, (field, _) in enumerate(rows):
                out.append(f"    SLOT_{symbol(name)}_{symbol(field.name)} = {slot},")
            out.append("};")
    open(path, "w").write("\n".join(out) + "\n")


def main():
    schema = Schema()
    for path in sorted(sys.argv[3:], key=os.path.basename):
        parse_file(schema, path)
    names = sorted(schema.types)
    try:
        write_c(schema, names, sys.argv[1])
        write_h(schema, names, sys.argv[2])
    except RowError as error:
        sys.exit(f"schema_gen: {error}")


if __name__ == "__main__":
    main()
