# Reads what a Linux binary asks of the system: its machine, its own name, the libraries and symbol versions it needs.
# Called by openwinml_build.py to name the wheel's platform.
"""The dynamic section of 64-bit ELF files."""

from __future__ import annotations

import pathlib
import struct

_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_VERNEED, _DT_VERNEEDNUM = 1, 5, 14, 0x6FFFFFFE, 0x6FFFFFFF


class ElfError(Exception):
    pass


class ElfFile:
    machine: str
    soname: "str | None"
    needed: "list[str]"
    needed_versions: "set[str]"  # such as GLIBC_2.34

    def __init__(self, path: pathlib.Path) -> None:
        self._data = path.read_bytes()
        try:
            self._read()
        except (struct.error, IndexError, OverflowError, ValueError) as error:
            raise ElfError(f"{path} is damaged: {error}") from None

    def _read(self) -> None:
        data = self._data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a 64-bit little-endian ELF file")
        machine, program_headers = struct.unpack_from("<H", data, 18)[0], struct.unpack_from("<Q", data, 32)[0]
        self.machine = _MACHINES.get(machine) or str(machine)
        entry_size, count = struct.unpack_from("<HH", data, 54)
        segments, dynamic = [], None
        for index in range(count):
            header = struct.unpack_from("<IIQQQQQQ", data, program_headers + index * entry_size)
            kind, _, offset, address, _, size = header[:6]
            if kind == _PT_LOAD:
                segments.append((address, offset, size))
            elif kind == _PT_DYNAMIC:
                dynamic = (offset, size)
        self._segments = segments
        self.soname, self.needed, self.needed_versions = None, [], set()
        if dynamic is None:
            return
        entries = []
        for position in range(dynamic[0], dynamic[0] + dynamic[1], 16):
            tag, value = struct.unpack_from("<qQ", data, position)
            if tag == 0:
                break
            entries.append((tag, value))
        by_tag = dict(entries)
        self._strings = self._offset(by_tag[_DT_STRTAB]) if _DT_STRTAB in by_tag else 0
        self.needed = [self._string(value) for tag, value in entries if tag == _DT_NEEDED]
        if _DT_SONAME in by_tag:
            self.soname = self._string(by_tag[_DT_SONAME])
        if _DT_VERNEED in by_tag:
            self._read_versions(self._offset(by_tag[_DT_VERNEED]), by_tag.get(_DT_VERNEEDNUM, 0))

    def _read_versions(self, position: int, libraries: int) -> None:
        for _ in range(libraries):
            _, count, _, first, following = struct.unpack_from("<HHIII", self._data, position)
            entry = position + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", self._data, entry)
                self.needed_versions.add(self._string(name))
                entry += step
            position += following

    def _offset(self, address: int) -> int:
        for start, offset, size in self._segments:
            if start <= address < start + size:
                return address - start + offset
        raise ValueError(f"address {address:#x} is in no segment")

    def _string(self, position: int) -> str:
        start = self._strings + position
        return self._data[start : self._data.index(b"\0", start)].decode("utf-8")
