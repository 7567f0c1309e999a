"""Do unmodified programs reach a served drive over TLS, and those without a certificate not?"""

from __future__ import annotations

import json
import random
import re
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.nbd_server import PATIENCE, Served, client, started
from tests.tls_files import Authority

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
STARTTLS = b"\0\0\0\3IHAVEOPT\0\0\0\5\0\0\0\0"
"""Flags of a client, and the option that begins TLS."""


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.new()


@pytest.fixture
def folder(tmp_path: Path, authority: Authority) -> Path:
    """A folder with the certificates of a server and of a client."""
    authority.sign(tmp_path / "server", "server")
    authority.sign(tmp_path / "client", "client")
    return tmp_path


def serving(folder: Path, *options: str, listen: str = "tcp:127.0.0.1:0") -> Served:
    server = Served(folder, "--listen", listen, "--pace", "max", "--tls-certificates", "server", *options)
    assert server.uri.startswith("nbds://")
    return server


def port(server: Served) -> int:
    found = re.search(r":(\d+)/drive$", server.uri)
    assert found
    return int(found[1])


def uri(server: Served, certificates: str = "client") -> str:
    return f"nbds://localhost:{port(server)}/drive?tls-certificates={server.folder / certificates}"


def qemu(server: Served) -> list[str]:
    """Arguments of qemu-img for the export."""
    creds = f"tls-creds-x509,id=tls,endpoint=client,dir={server.folder / 'client'}"
    where = f"driver=nbd,host=127.0.0.1,port={port(server)},export=drive,tls-creds=tls"
    return ["--object", creds, "--image-opts", where]


def expect_line(server: Served, text: str) -> None:
    began = time.monotonic()
    while text not in server.log:
        assert time.monotonic() - began < PATIENCE, server.log
        time.sleep(0.02)


def test_programs_copy_through_tls(folder: Path) -> None:
    with serving(folder) as server:
        export = json.loads(client("nbdinfo", "--json", uri(server), folder=folder))["exports"][0]
        assert (export["export-size"], export["is_read_only"]) == (server.size, False)
        image = random.Random(1).randbytes(48 * MIB)
        (folder / "image").write_bytes(image + bytes(server.size - len(image)))
        client("nbdcopy", "image", uri(server), folder=folder)
        client("nbdcopy", uri(server), "copy", folder=folder)
        assert (folder / "copy").read_bytes() == (folder / "image").read_bytes()
        assert "nbd" in client("qemu-img", "info", *qemu(server), folder=folder)
        # Many commands at a time, in both directions.
        secret, creds, _, export_options = qemu(server)
        many = [secret, creds, "--image-opts", "-m", "16", "-W"]
        (folder / "second").write_bytes(random.Random(2).randbytes(48 * MIB) + bytes(server.size - 48 * MIB))
        second = "driver=raw,file.driver=file,file.filename=second"
        client("qemu-img", "convert", *many, "-n", "--target-image-opts", second, export_options, folder=folder)
        client("qemu-img", "convert", *many, "-O", "raw", export_options, "third", folder=folder)
        assert (folder / "third").read_bytes() == (folder / "second").read_bytes()
        assert "closed" not in server.log, "no client did anything wrong"
        assert "latency in drive time" in server.end()


def refused(folder: Path, where: str) -> None:
    """Runs nbdinfo, which must fail."""
    if shutil.which("nbdinfo") is None:
        pytest.skip("there is no nbdinfo here: apt-get install libnbd-bin")
    done = subprocess.run(["nbdinfo", where], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode != 0, done.stdout


def test_clients_without_a_valid_certificate_are_named_and_harm_nobody(folder: Path, authority: Authority) -> None:
    Authority.new().sign(folder / "other", "client")
    # It trusts this server, and its own certificate is of another authority.
    shutil.copy(folder / "client" / "ca-cert.pem", folder / "other")
    authority.sign(folder / "late", "client", expired=True)
    authority.revoke(folder / "server", authority.sign(folder / "revoked", "client"))
    (folder / "none").mkdir()
    shutil.copy(folder / "client" / "ca-cert.pem", folder / "none")
    with serving(folder) as server:
        for certificates, expected in [
            ("other", "TLS: invalid peer certificate: "),
            ("late", "expired"),
            ("revoked", "Revoked"),
            ("none", "TLS: peer sent no certificates"),
        ]:
            refused(folder, uri(server, certificates))
            expect_line(server, expected)
        refused(folder, f"nbd://localhost:{port(server)}/drive")
        expect_line(server, "a client without TLS, which this address needs")
        for data, expected in [
            (STARTTLS + b"\x16\x03\x01\0\5", "bytes between STARTTLS and TLS"),
            (STARTTLS, "TLS: the client left during its handshake"),
        ]:
            with socket.create_connection(("127.0.0.1", port(server))) as hostile:
                hostile.sendall(data)
                assert hostile.recv(18, socket.MSG_WAITALL).startswith(b"NBDMAGIC")
                if data == STARTTLS:
                    hostile.recv(20, socket.MSG_WAITALL)
            expect_line(server, expected)
        with socket.create_connection(("127.0.0.1", port(server))) as hostile:
            hostile.sendall(STARTTLS)
            hostile.recv(38, socket.MSG_WAITALL)
            hostile.sendall(b"no record of TLS" * 100)
            expect_line(server, "TLS: received corrupt message")
        assert "drive" in client("nbdinfo", uri(server), folder=folder)


@pytest.mark.parametrize(("options", "writes"), [([], False), (["--remote-writes"], True)])
def test_other_machines_write_only_where_that_is_said(folder: Path, options: list[str], writes: bool) -> None:
    with serving(folder, *options, listen="tcp:0.0.0.0:0") as server:
        export = json.loads(client("nbdinfo", "--json", uri(server), folder=folder))["exports"][0]
        assert export["is_read_only"] is not writes


def test_a_socket_of_the_file_system_stays_plain_and_writable(folder: Path) -> None:
    listen = ["--listen", "unix:socket", "--listen", "tcp:0.0.0.0:0"]
    with started(folder, *listen, "--pace", "max", "--tls-certificates", "server") as server:
        assert server.uri.startswith("nbd+unix://")
        export = json.loads(client("nbdinfo", "--json", server.uri, folder=folder))["exports"][0]
        assert export["is_read_only"] is False


def break_file(folder: Path, name: str, content: str | None) -> None:
    path = folder / "server" / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("ca-cert.pem", None, "ca-cert.pem: No such file"),
        ("server-cert.pem", None, "server-cert.pem: No such file"),
        ("server-key.pem", None, "server-key.pem: No such file"),
        ("ca-cert.pem", "text", "ca-cert.pem: no certificate in it"),
        ("server-cert.pem", "", "server-cert.pem: no certificate in it"),
        ("server-key.pem", "text", "server-key.pem: no private key without a password in it"),
        ("server-cert.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "server-cert.pem: "),
        ("ca-cert.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "ca-cert.pem: "),
        ("ca-crl.pem", "text", "ca-crl.pem: no revocation list in it"),
    ],
)
def test_a_wrong_file_is_named(folder: Path, name: str, content: str | None, expected: str) -> None:
    break_file(folder, name, content)
    error = start_error(folder, "--listen", "tcp:127.0.0.1:0", "--tls-certificates", "server")
    assert expected in error
    assert "legal: a folder with ca-cert.pem" in error


def test_a_key_of_another_certificate_is_named(folder: Path) -> None:
    shutil.copy(folder / "client" / "client-key.pem", folder / "server" / "server-key.pem")
    error = start_error(folder, "--listen", "tcp:127.0.0.1:0", "--tls-certificates", "server")
    assert "server-cert.pem: with server-key.pem: keys may not be consistent" in error


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--listen", "tcp:0.0.0.0:0"], "legal: a loopback address, or tls-certificates"),
        (["--listen", "tcp:[::]:0"], "legal: a loopback address, or tls-certificates"),
        (["--listen", "unix:socket", "--tls-certificates", "server"], "no address uses them"),
        (["--listen", "tcp:127.0.0.1:0", "--tls-certificates", "nowhere"], "nowhere/ca-cert.pem: No such file"),
        (["--remote-writes"], "no other machine reaches this server"),
        (
            ["--listen", "tcp:0.0.0.0:0", "--tls-certificates", "server", "--remote-writes", "--read-only"],
            "contradict each other",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(folder: Path, options: list[str], expected: str) -> None:
    assert expected in start_error(folder, *options)


def start_error(folder: Path, *options: str) -> str:
    with started(folder, *options) as server:
        code, _, error = server.wait()
    assert code == 2, error
    return error
