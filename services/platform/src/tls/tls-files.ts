import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../clock.ts';
import { startWorker } from '../lifecycle/worker.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { systemClock } from '../clock.ts';
import { TLS_FILES, TlsFault, parseTlsMaterial } from './tls-material.ts';
import type { TlsFile, TlsFiles, TlsMaterial } from './tls-material.ts';

/** The certificates of a port, and its demands on clients. */
export interface ServerTls {
  readonly material: CurrentTls;
  /** Demands a client certificate that the `ca` has signed. With `none`, clients are not asked for a certificate. */
  readonly clientCertificates: 'required' | 'optional' | 'none';
}

/** A mounted secret is replaced by a new link, which a watch of the file would miss. So the files are read again. */
export const REREAD_MS = 5000;

/** Certificates that can change. */
export interface CurrentTls {
  /** The newest material that was sound. */
  current(): TlsMaterial;
  /** Calls back at each change. Returns the function that ends this. */
  onChange(listener: (material: TlsMaterial) => void): () => void;
}

/** Certificates that follow their files. */
export interface WatchedTls extends CurrentTls {
  /** Reads the files immediately. */
  reread(): void;
  stop(): Promise<void>;
}

/** Reads the files, which are small and local. Throws a TlsFault. */
export function readTlsFiles(files: TlsFiles, now: number): TlsMaterial {
  const texts = TLS_FILES.map((file) => {
    const path = files[file];
    try {
      return [file, path === undefined ? undefined : readFileSync(path, 'utf8')] as const;
    } catch (error) {
      throw newReadFault(file, error);
    }
  });
  return parseTlsMaterial(Object.fromEntries(texts), now);
}

/**
 * Reads the files, and again at intervals. New files are taken together or not at all: while one of them is missing,
 * expired or does not fit the others, the old material stays in use, and the log has the reason once. Open connections
 * continue.
 */
export function watchTls(
  name: string,
  files: TlsFiles,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): WatchedTls {
  const listeners = new Set<(material: TlsMaterial) => void>();
  const expiry = metrics.gauge(
    'reelgate_tls_certificate_expiry_seconds',
    'When the certificate in use expires, in seconds since 1970',
    ['certificate'],
  );
  const use = (material: TlsMaterial): TlsMaterial => {
    if (material.expiresAt !== undefined) expiry.labels(name).set(Math.floor(material.expiresAt / 1000));
    return material;
  };
  let current = use(readTlsFiles(files, clock.now()));
  let refused = '';
  const take = (next: TlsMaterial): void => {
    refused = '';
    if (isSameMaterial(next, current)) return;
    current = use(next);
    log.warn({ tls: name, expires: formatIsoTime(next.expiresAt) }, 'new certificates are in use');
    for (const listener of listeners) listener(next);
  };
  const refuse = (fault: TlsFault): void => {
    const reason = `${fault.file} ${fault.message}`;
    if (reason !== refused)
      log.error(
        { tls: name, file: files[fault.file], reason },
        'the certificates of the files are refused; the last ones stay in use',
      );
    refused = reason;
  };
  const worker = startWorker({
    name: `certificates of ${name}`,
    clock,
    log,
    idleMs: REREAD_MS,
    pass: async () => {
      try {
        take(readTlsFiles(files, clock.now()));
      } catch (error) {
        if (!(error instanceof TlsFault)) throw error;
        refuse(error);
      }
      return 0;
    },
  });
  return {
    current: () => current,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reread: () => worker.wake(),
    stop: () => worker.stop(),
  };
}

/** The material as Node's TLS takes it. */
export function toSecureContext({ certificate, key, ca }: TlsMaterial): SecureContextOptions {
  return { cert: certificate, key: key?.reveal(), ca };
}

function newReadFault(file: TlsFile, error: unknown): TlsFault {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return new TlsFault(file, `cannot be read (${code}); expected a PEM file that this process may read`);
}

function isSameMaterial(left: TlsMaterial, right: TlsMaterial): boolean {
  return left.certificate === right.certificate && left.ca === right.ca && left.key?.reveal() === right.key?.reveal();
}

const formatIsoTime = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/**
 * Returns the certificates for connections to a server that is not part of the program. Each call reads the files
 * again. While they are missing or do not fit together, the last valid ones stay in use. The first call happens here,
 * and throws.
 */
export function rereadTls(files: TlsFiles): () => SecureContextOptions {
  let last = read(files);
  return () => {
    try {
      last = read(files);
    } catch (error) {
      if (!(error instanceof TlsFault)) throw error;
    }
    return last;
  };
}

function read(files: TlsFiles): SecureContextOptions {
  try {
    return toSecureContext(readTlsFiles(files, systemClock.now()));
  } catch (error) {
    if (error instanceof TlsFault)
      throw new TlsFault(error.file, `${files[error.file] ?? error.file} ${error.message}`);
    throw error;
  }
}
