// The certificate with which the gateway itself speaks TLS. Loaded only where one is configured.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** The files of a certificate. An empty `cert`: there is none. */
export interface CertificateFiles {
  /** PEM, followed by the certificates of its issuers. */
  readonly cert: string;
  readonly key: string;
}

/** A certificate and its key, as text. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Larger files are no certificates. */
const BYTES_MAX = 1024 * 1024;

/** Reads both files. Throws an Error that names the setting if one is unreadable or they do not belong together. */
export function readCertificate(files: CertificateFiles): Certificate {
  const cert = textOf("server.tls.cert", files.cert);
  const key = textOf("server.tls.key", files.key);
  const first = parsed("server.tls.cert", files.cert, "a PEM certificate", () => new X509Certificate(cert));
  const own = parsed("server.tls.key", files.key, "a PEM private key without a passphrase", () =>
    createPrivateKey(key),
  );
  if (!first.checkPrivateKey(own)) {
    throw new Error(`server.tls.key: the key in ${files.key} does not belong to the certificate in ${files.cert}`);
  }
  return { cert, key };
}

function textOf(setting: string, path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    if (text.length <= BYTES_MAX) return text;
  } catch (error) {
    throw new Error(`${setting}: ${path} cannot be read (${(error as { code?: string }).code ?? "unknown error"})`);
  }
  throw new Error(`${setting}: ${path} is larger than ${BYTES_MAX} bytes`);
}

function parsed<T>(setting: string, path: string, expected: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    // The runtime's message may quote the file.
    throw new Error(`${setting}: expected ${expected} in ${path}`);
  }
}
