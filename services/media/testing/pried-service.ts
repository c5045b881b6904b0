/* Stands for a service with secrets. It starts a child that pries, as it would start a parser, and prints the reach. */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '@reelgate/platform/log';
import { findConfinement } from '../src/probe/confinement/confinement.ts';
import { confineCommand } from '../src/probe/confinement/limited-command.ts';

const MIB = 1024 ** 2;
const PERL = '/usr/bin/perl';
const [least = ''] = process.argv.slice(2);
const secret = process.env['SECRET_OF_THE_TEST'] ?? '';
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-pried-'));
const at = (name: string): string => path.join(folder, name);
for (const name of ['data', 'in', 'out']) mkdirSync(at(name));
const script = path.join(import.meta.dirname, 'prying-child.pl');
const files = [at('data'), ...['data/signing-key', 'reelgate.yaml', 'key.pem'].map(at)];
for (const file of files.slice(1)) writeFileSync(file, secret);
const kept = openSync(at('data/signing-key'), 'r');

const listening = (server: Server, where: number | string): Promise<unknown> =>
  new Promise((resolve) => server.listen(where, () => resolve(undefined)));
const [tcp, unix, udp] = [createServer((socket) => socket.end()), createServer(), createSocket('udp4')];
await listening(tcp, 0);
await listening(unix, at('socket'));
await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));

const found = await findConfinement(silentLog);
const confinement =
  least === 'process' ? ({ ...found, level: 'process', prefix: [], launcher: undefined } as const) : found;
const [program, ...args] = confineCommand(
  confinement,
  { processorMs: 20_000, fileBytes: MIB, dataBytes: 1024 * MIB },
  { readable: [at('in'), script], writable: [at('out')] },
  [
    PERL,
    script,
    secret,
    String(process.pid),
    String((tcp.address() as AddressInfo).port),
    String(udp.address().port),
    at('socket'),
    ...files,
  ],
);
const { stdout } = await promisify(execFile)(program, args, { env: {}, cwd: at('out') });
const reached = stdout
  .trim()
  .split('\n')
  .map((line) => line.replaceAll(folder, 'FOLDER'));
process.stdout.write(JSON.stringify({ level: confinement.level, reached, kept: kept > 0 }));
for (const server of [tcp, unix, udp]) server.close();
rmSync(folder, { recursive: true });
