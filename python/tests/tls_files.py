"""Certificates for the tests of TLS, made when they run: the files that nbdkit, qemu and libnbd expect in a folder."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("cryptography", reason="cryptography is not installed: `make dev` does")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the test")])
"""Of every authority: clients choose their certificate by the name of the authority that a server accepts."""

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """An authority that signs certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls) -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        built = _builder(NAME, key, expired=False).add_extension(x509.BasicConstraints(True, None), critical=True)
        built = built.add_extension(usage, critical=True)
        return cls(key, built.sign(key, hashes.SHA256()))

    def sign(self, folder: Path, role: str, *, expired: bool = False) -> x509.Certificate:
        """Writes `ca-cert.pem`, and certificate and key of a `server` or a `client`."""
        folder.mkdir(exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{role} of the test")])
        use = ExtendedKeyUsageOID.SERVER_AUTH if role == "server" else ExtendedKeyUsageOID.CLIENT_AUTH
        built = _builder(name, key, expired=expired)
        built = built.add_extension(x509.BasicConstraints(False, None), critical=True)
        built = built.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        if role == "server":
            names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            built = built.add_extension(x509.SubjectAlternativeName(names), critical=False)
        certificate = built.sign(self.key, hashes.SHA256())
        pem = serialization.Encoding.PEM
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (folder / "ca-cert.pem").write_bytes(self.certificate.public_bytes(pem))
        (folder / f"{role}-cert.pem").write_bytes(certificate.public_bytes(pem))
        (folder / f"{role}-key.pem").write_bytes(private)
        return certificate

    def revoke(self, folder: Path, certificate: x509.Certificate) -> None:
        """Writes `ca-crl.pem`, which revokes `certificate`."""
        now = datetime.datetime.now(datetime.UTC)
        revoked = x509.RevokedCertificateBuilder().serial_number(certificate.serial_number).revocation_date(now - DAY)
        built = x509.CertificateRevocationListBuilder().issuer_name(NAME).last_update(now - DAY).next_update(now + DAY)
        built = built.add_revoked_certificate(revoked.build()).add_extension(x509.CRLNumber(1), critical=False)
        signed = built.sign(self.key, hashes.SHA256())
        (folder / "ca-crl.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def _builder(name: x509.Name, key: ec.EllipticCurvePrivateKey, *, expired: bool) -> x509.CertificateBuilder:
    end = datetime.datetime.now(datetime.UTC) + (-DAY if expired else DAY)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(NAME)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(end - 3 * DAY)
        .not_valid_after(end)
    )
