# What the interface compiler refuses, and what it numbers: each rule with the smallest file that breaks it.
# Run by ctest with tools/idl on the path.
"""Tests of tools/idl."""

import unittest

from emit_header import emit_header
from emit_python import emit_python
from model import IdlError, Model
from parser import parse

ID = "[uuid(22f5cf71-27be-4a1b-9087-1a36f7a230ad)]"
OTHER = "[uuid(7d2780ed-66b4-4fa5-a935-bae6d28082bd)]"


def model(*bodies: str) -> Model:
    files = [parse(f"F{i}.idl", f'// Room.\nheader "F{i}.h";\n{body}') for i, body in enumerate(bodies)]
    return Model(files)


class Numbering(unittest.TestCase):
    def test_first_method_has_slot_three(self):
        result = model(ID + "interface IA : IUnknown { HRESULT A(); HRESULT B(); };")
        self.assertEqual([m.slot for m in result.interfaces["IA"].methods], [3, 4])

    def test_methods_of_a_derived_interface_come_after_its_base(self):
        result = model(ID + "interface IA : IUnknown { HRESULT A(); };" + OTHER + "interface IB : IA { HRESULT B(); };")
        self.assertEqual(result.interfaces["IB"].methods[0].slot, 4)

    def test_c_table_of_a_derived_interface_repeats_the_base(self):
        result = model(ID + "interface IA : IUnknown { HRESULT A(); };" + OTHER + "interface IB : IA { HRESULT B(); };")
        text = emit_header(result, result.files[0])
        table = text[text.index("struct IBVtbl") :]
        self.assertLess(table.index("Release"), table.index("*A)"))
        self.assertLess(table.index("*A)"), table.index("*B)"))

    def test_struct_padding_is_counted(self):
        result = model("struct S { UINT32 a; UINT64 b; FLOAT c[3]; BYTE d; };")
        self.assertEqual(result.layout(result.structs["S"]), (32, 8, [0, 8, 16, 28]))

    def test_python_tables_can_be_read_back(self):
        result = model(
            "[flags] enum E { E_A = 0x1, }; struct S { E e; };"
            + ID + "interface IA : IUnknown { HRESULT A([in] E e); };"
        )
        tables: dict = {}
        exec(emit_python(result, result.files), tables)
        self.assertEqual(tables["INTERFACES"]["IA"][2], (("A", 3, (("e", "i32", "in", "E"),)),))
        self.assertEqual(tables["STRUCTS"]["S"], (4, (("e", "i32", 0, 0, "E"),)))
        self.assertEqual(tables["FLAGS"], {"E"})


class Refusals(unittest.TestCase):
    def refused(self, expected: str, *bodies: str):
        with self.assertRaisesRegex(IdlError, expected):
            model(*bodies)

    def test_unknown_base(self):
        self.refused("base IZ does not exist", ID + "interface IA : IZ { };")

    def test_interface_without_uuid(self):
        self.refused("IA has no uuid", "interface IA : IUnknown { };")

    def test_two_interfaces_with_one_uuid(self):
        self.refused("same uuid as IA", ID + "interface IA : IUnknown { };" + ID + "interface IB : IUnknown { };")

    def test_method_twice(self):
        self.refused("A appears twice", ID + "interface IA : IUnknown { HRESULT A(); HRESULT A(); };")

    def test_method_that_hides_one_of_the_base(self):
        self.refused("A appears twice",
                     ID + "interface IA : IUnknown { HRESULT A(); };" + OTHER + "interface IB : IA { HRESULT A(); };")

    def test_name_twice_across_files(self):
        self.refused("already defined in F0.idl", "enum E { E_A = 0, };", "enum E { E_B = 0, };")

    def test_unknown_type(self):
        self.refused("unknown type UINT23", ID + "interface IA : IUnknown { HRESULT A([in] UINT23 a); };")

    def test_type_of_a_file_that_is_not_imported(self):
        self.refused("E is not imported", "enum E { E_A = 0, };",
                     ID + "interface IA : IUnknown { HRESULT A([in] E e); };")

    def test_import_in_a_circle(self):
        self.refused("imports itself", 'import "F1.idl";', 'import "F0.idl";')

    def test_import_that_does_not_exist(self):
        self.refused("imports Z.idl, which does not exist", 'import "Z.idl";')

    def test_parameter_without_direction(self):
        self.refused("neither in nor out", ID + "interface IA : IUnknown { HRESULT A(UINT32 a); };")

    def test_out_parameter_that_is_no_pointer(self):
        self.refused("an out parameter is a pointer", ID + "interface IA : IUnknown { HRESULT A([out] UINT32 a); };")

    def test_interface_by_value(self):
        self.refused("passed by pointer", ID + "interface IA : IUnknown { HRESULT A([in] IA a); };")

    def test_struct_by_value(self):
        self.refused("passed by address",
                     "struct S { UINT32 a; };" + ID + "interface IA : IUnknown { HRESULT A([in] S s); };")

    def test_size_that_names_no_parameter(self):
        self.refused("size_is names no parameter",
                     ID + "interface IA : IUnknown { HRESULT A([in, size_is(n)] const BYTE* data); };")

    def test_result_before_the_last_parameter(self):
        self.refused("retval is not the last",
                     ID + "interface IA : IUnknown { HRESULT A([out, retval] UINT32* a, [in] UINT32 b); };")

    def test_text_that_is_not_a_definition(self):
        self.refused("F0.idl:3: expected a definition, found 'banana'", "banana;")

    def test_file_that_ends_in_the_middle(self):
        self.refused("found 'the end'", "enum E { E_A = ")

    def test_file_without_header(self):
        with self.assertRaisesRegex(IdlError, "no header statement"):
            parse("F.idl", "enum E { E_A = 0, };")


if __name__ == "__main__":
    unittest.main()
