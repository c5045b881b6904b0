import type { ConnectionOptions } from 'node:tls';
import { rereadTls } from '../tls/tls-files.ts';

const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

/** The parameters of a URL that name files. */
export const POSTGRES_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;
/** Stands for the authorities of the system. */
const SYSTEM = 'system';

/** The TLS settings of a URL, as libpq understands them. */
interface UrlTls {
  readonly mode: string | null;
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

export interface PostgresAddress {
  /** Without the parameters of TLS. */
  readonly url: string;
  /** The options of each new connection, undefined if the URL does not ask for TLS. */
  readonly tls: (() => ConnectionOptions) | undefined;
}

/** Separates TLS from the rest of a URL, so that the files are read again for each connection. */
export function postgresAddress(text: string): PostgresAddress {
  const said = readUrlTls(text);
  if (said === undefined || said.mode === null || said.mode === 'disable') return { url: text, tls: undefined };
  const url = new URL(text);
  for (const name of ['sslmode', ...POSTGRES_FILES]) url.searchParams.delete(name);
  const { ca, certificate, key } = said;
  const files = rereadTls({ ca, certificate, key });
  const checks = toVerifyOptions(said.mode as Mode, ca !== undefined);
  return { url: url.href, tls: () => ({ ...files(), ...checks }) };
}

/**
 * Returns the fault in the TLS settings of a URL, in the words of a configuration error, or undefined if they are
 * valid.
 */
export function postgresTlsFault(text: string): string | undefined {
  const said = readUrlTls(text);
  if (said === undefined) return undefined;
  const { mode, ca, certificate, key } = said;
  if (mode === null)
    return ca === undefined && certificate === undefined && key === undefined
      ? undefined
      : 'expected sslmode=verify-full together with the files of TLS';
  if (!MODES.includes(mode as Mode)) return `expected sslmode to be one of: ${MODES.join(', ')}`;
  if (mode === 'verify-ca' && ca === undefined) return 'expected sslrootcert together with sslmode=verify-ca';
  return (certificate === undefined) === (key === undefined) ? undefined : 'expected sslcert and sslkey together';
}

/** Reports whether a URL asks for TLS without a proof that the server is the right one. */
export function isUnverified(text: string): boolean {
  const said = readUrlTls(text);
  return said?.mode === 'require' && said.ca === undefined;
}

function toVerifyOptions(mode: Mode, hasAuthority: boolean): ConnectionOptions {
  if (mode === 'verify-full') return {};
  return mode === 'verify-ca' || hasAuthority
    ? { checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false };
}

function readUrlTls(text: string): UrlTls | undefined {
  if (!URL.canParse(text)) return undefined;
  const { searchParams } = new URL(text);
  const file = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  const ca = file('sslrootcert');
  return {
    mode: searchParams.get('sslmode'),
    ca: ca === SYSTEM ? undefined : ca,
    certificate: file('sslcert'),
    key: file('sslkey'),
  };
}
