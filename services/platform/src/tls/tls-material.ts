import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { Secret } from '../secret.ts';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The paths of PEM files. A client without a certificate of its own has only `ca`. A server may have no `ca`. */
export interface TlsFiles {
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
}

export type TlsFile = keyof TlsFiles;
export const TLS_FILES = ['certificate', 'key', 'ca'] as const satisfies readonly TlsFile[];

/** Makes the path under a key absolute. */
export type ResolveFile = (key: string, file: string) => string;

export function resolveFiles({ certificate, key, ca }: TlsFiles, resolve: ResolveFile): TlsFiles {
  const at = (name: TlsFile, file: string | undefined): string | undefined =>
    file === undefined ? undefined : resolve(name, file);
  return { certificate: at('certificate', certificate), key: at('key', key), ca: at('ca', ca) };
}

/** The contents of the files. */
export type TlsTexts = { readonly [F in TlsFile]?: string | undefined };

/** Certificates that fit together, as TLS uses them. */
export interface TlsMaterial {
  /** The certificate and its intermediates, in PEM. */
  readonly certificate: string | undefined;
  readonly key: Secret | undefined;
  readonly ca: string | undefined;
  /** The time at which the certificate expires, in milliseconds since 1970. */
  readonly expiresAt: number | undefined;
}

/** A file that cannot be used, with the expected content. */
export class TlsFault extends Error {
  override readonly name = 'TlsFault';
  readonly file: TlsFile;

  constructor(file: TlsFile, expected: string) {
    super(expected);
    this.file = file;
  }
}

/** Checks the contents of the files against each other and against the time. Throws a TlsFault. */
export function parseTlsMaterial({ certificate, key, ca }: TlsTexts, now: number): TlsMaterial {
  if (ca !== undefined) parseCertificates('ca', ca);
  if (certificate === undefined || key === undefined)
    return { certificate: undefined, key: undefined, ca, expiresAt: undefined };
  const [own] = parseCertificates('certificate', certificate);
  const from = Date.parse(own.validFrom);
  const expiresAt = Date.parse(own.validTo);
  if (now >= expiresAt)
    throw new TlsFault('certificate', `expired on ${new Date(expiresAt).toISOString()}; expected a valid certificate`);
  if (now < from)
    throw new TlsFault('certificate', `is valid from ${new Date(from).toISOString()} on; expected a valid certificate`);
  if (!own.checkPrivateKey(parsePrivateKey(key)))
    throw new TlsFault('key', 'is not the key of the certificate; expected the private key that belongs to it');
  const material = { certificate, key: new Secret(key), ca, expiresAt };
  assertUsable(material);
  return material;
}

function parseCertificates(file: 'certificate' | 'ca', pem: string): readonly [X509Certificate, ...X509Certificate[]] {
  try {
    const [first, ...others] = (pem.match(PEM_CERTIFICATE) ?? []).map((one) => new X509Certificate(one));
    if (first !== undefined) return [first, ...others];
  } catch (error) {
    throw new TlsFault(file, `cannot be parsed (${readErrorMessage(error)}); expected certificates in PEM`);
  }
  throw new TlsFault(file, 'has no certificate; expected certificates in PEM');
}

function parsePrivateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // the error of OpenSSL may repeat the content of the file
    throw new TlsFault('key', 'has no private key that can be read; expected one in PEM, without a passphrase');
  }
}

/** TLS itself refuses further faults, such as a key that is too short. */
function assertUsable({ certificate, key, ca }: TlsMaterial): void {
  try {
    createSecureContext({ cert: certificate, key: key?.reveal(), ca });
  } catch (error) {
    throw new TlsFault('certificate', `is refused by TLS (${readErrorMessage(error)})`);
  }
}

const readErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
