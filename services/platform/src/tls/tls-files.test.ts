import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newAuthority, writeTls } from '../../testing/certificates.ts';
import type { Issued, WrittenTls } from '../../testing/certificates.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { silentLog } from '../log.ts';
import type { Log } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { REREAD_MS, readTlsFiles, watchTls } from './tls-files.ts';
import type { WatchedTls } from './tls-files.ts';

const DAY_MS = 24 * 3_600_000;

const authority = newAuthority();
const first = authority.issue();
const second = authority.issue();
const expired = authority.issue({ days: -1 });
afterAll(() => {
  authority.end();
});

let folder: string;
let files: WrittenTls;
let clock: FakeClock;
let metrics: Metrics;
let logged: string[];
const watched: WatchedTls[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-tls-'));
  files = write(first);
  clock = fakeClock(Date.now());
  metrics = newMetrics(false);
  logged = [];
});
afterEach(async () => {
  for (const one of watched.splice(0)) await one.stop();
  rmSync(folder, { recursive: true });
});

const write = (issued: Issued, ca = authority.certificate): WrittenTls => writeTls(folder, issued, ca);

/** Resolves when the first pass over the files has ended. */
async function watch(): Promise<WatchedTls> {
  const note = (fields: object, message: string): void => void logged.push(`${message}: ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, warn: note, error: note };
  const one = watchTls('tasks', files, { clock, log, metrics });
  watched.push(one);
  await clock.advance(0);
  return one;
}

describe('files that cannot be used name the file and what would be right', () => {
  const broken = (file: keyof WrittenTls, text: string) => (): void => {
    writeFileSync(files[file], text);
  };

  test.each<[string, () => void, string, string]>([
    ['a missing key', () => rmSync(files.key), 'key', 'cannot be read (ENOENT); expected a PEM file'],
    ['a certificate that is none', broken('certificate', 'hello'), 'certificate', 'has no certificate; expected'],
    [
      'a certificate that is cut',
      broken('certificate', first.certificate.replace(/\n.{20}/, '\n')),
      'certificate',
      'cannot be parsed (',
    ],
    ['authorities that are none', broken('ca', first.key), 'ca', 'has no certificate; expected certificates in PEM'],
    ['a key that is none', broken('key', 'hello'), 'key', 'has no private key that can be read; expected one in PEM'],
    ['the key of another certificate', broken('key', second.key), 'key', 'is not the key of the certificate; expected'],
    ['an expired certificate', () => void write(expired), 'certificate', 'expired on '],
  ])('%s', (_what, breakThem, file, expected) => {
    breakThem();

    expect(() => readTlsFiles(files, clock.now())).toThrow(
      expect.objectContaining({ file, message: expect.stringContaining(expected) }),
    );
  });

  test('a certificate that is valid only later', () => {
    expect(() => readTlsFiles(files, clock.now() - 2 * DAY_MS)).toThrow(/is valid from .* on; expected/);
  });

  test('no message holds a key', () => {
    writeFileSync(files.key, second.key);

    expect(() => readTlsFiles(files, clock.now())).not.toThrow(/PRIVATE/);
    expect(JSON.stringify(readTlsFiles(write(first), clock.now()))).not.toContain('PRIVATE');
  });
});

describe('certificates that are watched', () => {
  test('follow their files within seconds, and say so once', async () => {
    const tls = await watch();
    const changes: (string | undefined)[] = [];
    tls.onChange(({ certificate }) => void changes.push(certificate));
    write(second);
    await clock.advance(REREAD_MS);
    await clock.advance(REREAD_MS);

    expect(tls.current().certificate).toBe(second.certificate);
    expect(changes).toEqual([second.certificate]);
    expect(logged).toEqual([expect.stringMatching(/^new certificates are in use: \{"tls":"tasks","expires":"20/)]);
  });

  test('follow a change of the authorities alone', async () => {
    const tls = await watch();
    const other = newAuthority('another authority');
    other.end();
    write(first, authority.certificate + other.certificate);
    await clock.advance(REREAD_MS);

    expect(tls.current().ca).toContain(other.certificate);
  });

  test('stay while the new files do not fit one another, which is said once, and follow when they do', async () => {
    const tls = await watch();
    writeFileSync(files.certificate, second.certificate);
    await clock.advance(REREAD_MS);
    await clock.advance(REREAD_MS);
    expect(tls.current().certificate).toBe(first.certificate);
    expect(logged).toEqual([
      expect.stringMatching(/^the certificates of the files are refused; the last ones stay .*key is not the key of/),
    ]);

    writeFileSync(files.key, second.key);
    await clock.advance(REREAD_MS);
    expect(tls.current().certificate).toBe(second.certificate);
  });

  test('stay while a file is missing', async () => {
    const tls = await watch();
    rmSync(files.ca);
    await clock.advance(REREAD_MS);

    expect(tls.current().ca).toBe(authority.certificate);
    expect(logged).toHaveLength(1);
  });

  test('are read at once when that is wanted', async () => {
    const tls = await watch();
    write(second);
    tls.reread();
    await clock.advance(0);

    expect(tls.current().certificate).toBe(second.certificate);
  });

  test('show when they expire', async () => {
    await watch();
    const shown = /reelgate_tls_certificate_expiry_seconds\{certificate="tasks"\} (\d+)/.exec(await metrics.text());

    expect(Number(shown?.[1]) * 1000 - clock.now()).toBeGreaterThan(29 * DAY_MS);
  });
});
