import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A certificate and its private key, in PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** Default: `localhost`. */
  readonly name?: string;
  /** Such as `DNS:localhost` or `URI:spiffe://a/b`. Default: the loopback address and `localhost`. */
  readonly alternatives?: readonly string[];
  /** From now on. A negative number: it has expired. */
  readonly days?: number;
}

/** An authority of a test, which lives in a folder of its own. */
export interface Authority {
  /** Its certificate, in PEM. */
  readonly certificate: string;
  issue(options?: CertificateOptions): Issued;
  /** Removes its folder. */
  end(): void;
}

const LOOPBACK = ['DNS:localhost', 'IP:127.0.0.1', 'IP:::1'];
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function newAuthority(name = 'authority of a test'): Authority {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-authority-'));
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
  openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', `/CN=${name}`, '-days', '30');
  return {
    certificate: read('ca.crt'),
    issue: ({ name: common = 'localhost', alternatives = LOOPBACK, days = 30 } = {}) => {
      openssl('req', '-new', ...NEW_KEY, '-keyout', 'own.key', '-out', 'own.csr', '-subj', `/CN=${common}`);
      writeFileSync(
        path.join(folder, 'extensions'),
        alternatives.length === 0 ? 'basicConstraints=CA:FALSE' : `subjectAltName=${alternatives.join(',')}`,
      );
      const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions'];
      openssl('x509', '-req', '-in', 'own.csr', '-out', 'own.crt', ...signing, '-days', String(days));
      return { certificate: read('own.crt'), key: read('own.key') };
    },
    end: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The files of a port or a client, in a folder that the test has made. */
export interface WrittenTls {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

/** Writes the files one after another, each whole, as a tool that renews certificates does. */
export function writeTls(folder: string, { certificate, key }: Issued, ca: string): WrittenTls {
  mkdirSync(folder, { recursive: true });
  const written = (file: string, text: string): string => {
    const at = path.join(folder, file);
    writeFileSync(`${at}.new`, text, { mode: 0o600 });
    renameSync(`${at}.new`, at);
    return at;
  };
  return {
    certificate: written('tls.crt', certificate),
    key: written('tls.key', key),
    ca: written('ca.crt', ca),
  };
}
