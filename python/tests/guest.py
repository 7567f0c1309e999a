"""A small Linux guest under plain emulation: a kernel, and an initramfs with busybox and the programs of a script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PATIENCE = 240
"""Most seconds that a guest may take under emulation."""

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /dev /proc /sys /mnt /tmp
export PATH=/bin:/usr/bin
/bin/busybox --install -s /usr/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in /modules/*.ko; do [ -e "$module" ] && insmod "$module"; done
sh /script
echo "guest: exit code $?"
poweroff -f
"""

VIRTIO = ("virtio", "virtio_ring", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk")
"""Modules of virtio-blk; a kernel that has them built in has no files of them."""


def kernel() -> Path:
    """The kernel of the guest: INTERPULSE_GUEST_KERNEL, or one of Debian's cloud kernels, which has ext4 and NVMe.

    Skips the test where there is none.
    """
    named = os.environ.get("INTERPULSE_GUEST_KERNEL")
    found = [Path(named)] if named else sorted(Path("/boot").glob("vmlinuz-*cloud*"))
    if not found or not found[-1].is_file():
        pytest.skip(
            "there is no kernel for a guest here: apt-get install linux-image-cloud-amd64, or INTERPULSE_GUEST_KERNEL"
        )
    return found[-1]


def modules(image: Path) -> list[Path]:
    """Files of the modules that virtio-blk needs beside this kernel, each behind those that it depends on."""
    release = image.name.removeprefix("vmlinuz-")
    for root in (Path("/lib/modules"), image.parent.parent / "lib" / "modules"):
        folder = root / release
        if folder.is_dir():
            files = {name: path for name in VIRTIO for path in folder.rglob(f"{name}.ko")}
            order = TopologicalSorter({name: depends(path) for name, path in files.items()}).static_order()
            return [files[name] for name in order if name in files]
    return []


def depends(module: Path) -> list[str]:
    """Modules that have to be loaded before this one."""
    found = re.search(rb"\0depends=([^\0]+)\0", module.read_bytes())
    return found[1].decode().split(",") if found else []


def initramfs(folder: Path, script: str, programs: tuple[str, ...], drivers: list[Path]) -> Path:
    """Makes an initramfs that runs `script` and powers off."""
    root = folder / "root"
    (root / "bin").mkdir(parents=True)
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "modules").mkdir()
    for name in ("busybox", *programs):
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if found is None:
            package = {"busybox": "busybox-static", "mkfs.ext4": "e2fsprogs", "e2fsck": "e2fsprogs"}.get(name, name)
            pytest.skip(f"there is no {name} here: apt-get install {package}")
        shutil.copy(found, root / "bin" / name)
        libraries = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+)", libraries):
            target = root / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    for number, driver in enumerate(drivers):
        shutil.copy(driver, root / "modules" / f"{number}-{driver.name}")
    (root / "script").write_text(script)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    archive = folder / "initramfs"
    with archive.open("wb") as out:
        subprocess.run(
            ["busybox", "cpio", "-o", "-H", "newc"],
            cwd=root, input=names.encode(), stdout=out, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    return archive


def run(folder: Path, uri: str, script: str, programs: tuple[str, ...], device: str) -> str:
    """Boots a guest with the export as `device` (`nvme` or `virtio-blk`), and returns what its console shows."""
    qemu = shutil.which("qemu-system-x86_64")
    if qemu is None:
        pytest.skip("there is no qemu-system-x86_64 here: apt-get install qemu-system-x86")
    image = kernel()
    drivers = modules(image) if device == "virtio-blk" else []
    if device == "virtio-blk" and not drivers:
        pytest.skip(f"there are no modules of virtio-blk beside {image.name}")
    archive = initramfs(folder, script, programs, drivers)
    option = {"nvme": "nvme,drive=export,serial=interpulse", "virtio-blk": "virtio-blk-pci,drive=export"}[device]
    line = [qemu, "-machine", "q35", "-accel", "tcg", "-cpu", "max", "-m", "256", "-display", "none", "-nodefaults"]
    line += ["-serial", "stdio", "-monitor", "none", "-no-reboot", "-kernel", str(image), "-initrd", str(archive)]
    line += ["-append", "console=ttyS0 quiet panic=-1", "-device", option]
    line += ["-drive", f"file={uri},if=none,id=export,format=raw,cache=none,discard=unmap"]
    done = subprocess.run(
        line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
