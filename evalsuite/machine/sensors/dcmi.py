"""Ascend devices by DCMI, the library of their driver.

Huawei's "DCMI API Reference" and its header dcmi_interface_api.h (Ascend 910 and 910B).
"""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from evalsuite.core.documents import Gpu
from evalsuite.machine.sensors.sensor import Sensor, visible
from evalsuite.runs.samples import GpuReading

PLACES = ("libdcmi.so", "/usr/local/dcmi/libdcmi.so", "/usr/local/Ascend/driver/lib64/driver/libdcmi.so")
MOST_CARDS = 64
NAME_BYTES = 32
VERSION_BYTES = 64
NPU = 0  # enum dcmi_unit_type
AI_CORE, HBM_BANDWIDTH = 2, 10  # DCMI_UTILIZATION_RATE_…
HBM_CLOCK, AI_CORE_CLOCK = 6, 7  # enum dcmi_freq_type
HBM_ERRORS = 2  # enum dcmi_device_type
MEBIBYTE = 1 << 20


class ChipInfo(ctypes.Structure):
    """struct dcmi_chip_info."""

    _fields_ = (
        ("chip_type", ctypes.c_ubyte * NAME_BYTES),
        ("chip_name", ctypes.c_ubyte * NAME_BYTES),
        ("chip_ver", ctypes.c_ubyte * NAME_BYTES),
        ("aicore_cnt", ctypes.c_uint),
    )


class HbmInfo(ctypes.Structure):
    """struct dcmi_hbm_info: sizes in MB of 2^20 bytes."""

    _fields_ = (
        ("memory_size", ctypes.c_ulonglong),
        ("freq", ctypes.c_uint),
        ("memory_usage", ctypes.c_ulonglong),
        ("temp", ctypes.c_int),
        ("bandwith_util_rate", ctypes.c_uint),
    )


class EccInfo(ctypes.Structure):
    """struct dcmi_ecc_info."""

    _fields_ = tuple(
        (name, ctypes.c_int if name == "enable_flag" else ctypes.c_uint)
        for name in (
            *("enable_flag", "single_bit_error_cnt", "double_bit_error_cnt"),
            *("total_single_bit_error_cnt", "total_double_bit_error_cnt"),
            *("single_bit_isolated_pages_cnt", "double_bit_isolated_pages_cnt"),
        )
    )


class Ascend(Sensor):
    """Huawei's devices, numbered as programs number them."""

    kind = "npu"

    def __init__(self) -> None:
        self._library = _library()
        self._devices = self._find_devices() if self._library is not None else {}

    def facts(self) -> list[Gpu]:
        return [self._facts(index, *place) for index, place in sorted(self._devices.items())]

    def reading(self) -> list[GpuReading]:
        return [self._reading(index, *place) for index, place in sorted(self._devices.items())]

    def visible(self, gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        return visible(gpus, environment.get("ASCEND_RT_VISIBLE_DEVICES"))

    def versions(self) -> Mapping[str, str | None]:
        text = ctypes.create_string_buffer(VERSION_BYTES)
        known = self._call("dcmi_get_driver_version", text, VERSION_BYTES)
        return {"driver": text.value.decode(errors="replace") if known else None, "toolkit": None}

    def _find_devices(self) -> dict[int, tuple[int, int]]:
        count, cards = ctypes.c_int(), (ctypes.c_int * MOST_CARDS)()
        if not self._call("dcmi_get_card_list", ctypes.byref(count), cards, MOST_CARDS):
            return {}
        places: dict[int, tuple[int, int]] = {}
        for card in cards[: max(0, min(count.value, MOST_CARDS))]:
            for device in range(self._whole("dcmi_get_device_num_in_card", card) or 0):
                kind = self._whole("dcmi_get_device_type", card, device)
                number = self._logic_id(card, device)
                if kind in (None, NPU):
                    places[len(places) if number is None else number] = (card, device)
        return places

    def _facts(self, index: int, card: int, device: int) -> Gpu:
        chip, memory = ChipInfo(), self._memory(card, device)
        known = self._call("dcmi_get_device_chip_info", card, device, ctypes.byref(chip))
        words = [bytes(part).split(b"\0")[0].decode(errors="replace") for part in (chip.chip_type, chip.chip_name)]
        return Gpu(
            index=index,
            kind="npu",
            vendor="Huawei",
            name=" ".join(words) if known else None,
            memory_total_bytes=memory.memory_size * MEBIBYTE if memory else None,
        )

    def _reading(self, index: int, card: int, device: int) -> GpuReading:
        memory, errors = self._memory(card, device), self._errors(card, device)
        power = self._whole("dcmi_get_device_power_info", card, device)  # in 0.1 W
        return GpuReading(
            index=index,
            utilisation_percent=self._whole("dcmi_get_device_utilization_rate", card, device, AI_CORE),
            memory_used_bytes=memory.memory_usage * MEBIBYTE if memory else None,
            memory_bandwidth_percent=self._whole("dcmi_get_device_utilization_rate", card, device, HBM_BANDWIDTH),
            power_w=None if power is None else power / 10,
            temperature_c=self._whole("dcmi_get_device_temperature", card, device),
            sm_clock_mhz=self._whole("dcmi_get_device_frequency", card, device, AI_CORE_CLOCK),
            memory_clock_mhz=self._whole("dcmi_get_device_frequency", card, device, HBM_CLOCK),
            memory_errors_uncorrected=errors.total_double_bit_error_cnt if errors else None,
        )

    def _memory(self, card: int, device: int) -> Any:
        info = HbmInfo()
        return info if self._call("dcmi_get_device_hbm_info", card, device, ctypes.byref(info)) else None

    def _errors(self, card: int, device: int) -> Any:
        info = EccInfo()
        answered = self._call("dcmi_get_device_ecc_info", card, device, HBM_ERRORS, ctypes.byref(info))
        return info if answered and info.enable_flag else None

    def _logic_id(self, card: int, device: int) -> int | None:
        """What a program calls the device: the one function with its output argument first."""
        number = ctypes.c_int()
        answered = self._call("dcmi_get_device_logic_id", ctypes.byref(number), card, device)
        return number.value if answered and number.value >= 0 else None

    def _whole(self, name: str, *arguments: int) -> int | None:
        number = ctypes.c_int()
        return number.value if self._call(name, *arguments, ctypes.byref(number)) else None

    def _call(self, name: str, *arguments: Any) -> bool:
        function = getattr(self._library, name, None) if self._library is not None else None
        return function is not None and function(*arguments) == 0


def _library() -> ctypes.CDLL | None:
    for place in PLACES:
        try:
            library = ctypes.CDLL(place)
        except OSError:
            continue
        begin = getattr(library, "dcmi_init", None)
        if begin is not None and begin() == 0:
            return library
    return None
