import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import timers from 'node:timers';
import workerThreads from 'node:worker_threads';
import type { Random } from '@reelgate/platform/ids';
import type { PendingEvent, Scheduler } from './scheduler.ts';

const SECOND_MS = 1000;

/** What a timer of Node can be asked for. */
interface SimulatedTimer {
  readonly event: PendingEvent;
  readonly ref: () => SimulatedTimer;
  readonly unref: () => SimulatedTimer;
  readonly hasRef: () => boolean;
}

type Callback = (...values: readonly unknown[]) => void;

/** The sources of time and chance of one run. */
export interface NodeSources {
  readonly scheduler: Scheduler;
  readonly random: Random;
}

let sources: NodeSources | undefined;

/**
 * Replaces the sources of time and chance of this process for good: timers, immediates, dates, timeouts, random bytes.
 * What would leave the simulation throws: network, child processes, threads, asynchronous files, and identifiers that
 * no seed decides. Call it after every module of the program is loaded, because the loader itself reads files. A later call
 * only begins another run.
 */
export function replaceNode(next: NodeSources): void {
  const isReplaced = sources !== undefined;
  sources = next;
  if (isReplaced) return;
  replaceTimers();
  replaceDates();
  replaceChance();
  refuseOutside();
  syncBuiltinESMExports();
}

/** The sources of the run that is under way. */
function readSources(): NodeSources {
  if (sources === undefined) throw new Error('no simulation is under way');
  return sources;
}

function replaceTimers(): void {
  const toTimer = (event: PendingEvent): SimulatedTimer => {
    const timer: SimulatedTimer = { event, ref: () => timer, unref: () => timer, hasRef: () => true };
    return timer;
  };
  const cancel = (timer: SimulatedTimer | undefined): void => {
    if (timer !== undefined) timer.event.isCancelled = true;
  };
  const after = (run: () => void): PendingEvent => {
    const { scheduler } = readSources();
    return scheduler.after(0, scheduler.current(), run);
  };
  const replaced = {
    setTimeout: (run: Callback, ms = 0, ...values: readonly unknown[]) =>
      toTimer(
        readSources().scheduler.startTimer(ms, () => {
          run(...values);
        }),
      ),
    clearTimeout: cancel,
    setInterval: () => {
      throw leaves('setInterval');
    },
    clearInterval: cancel,
    setImmediate: (run: Callback, ...values: readonly unknown[]) =>
      toTimer(
        after(() => {
          run(...values);
        }),
      ),
    clearImmediate: cancel,
  };
  Object.assign(globalThis, replaced);
  Object.assign(timers, replaced);
  AbortSignal.timeout = (ms) => {
    const over = new AbortController();
    readSources().scheduler.startTimer(ms, () => {
      over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    });
    return over.signal;
  };
}

function replaceDates(): void {
  const RealDate = Date;
  const now = (): number => readSources().scheduler.localNow();
  const measureRun = (): number => readSources().scheduler.now() - readSources().scheduler.begin;
  class SimulatedDate extends RealDate {
    constructor(...values: readonly unknown[]) {
      super(...((values.length === 0 ? [now()] : values) as [number]));
    }
    static override now(): number {
      return now();
    }
  }
  Object.assign(globalThis, { Date: SimulatedDate });
  performance.now = measureRun;
  performance.eventLoopUtilization = () => ({ idle: 0, active: 0, utilization: 0 });
  process.hrtime.bigint = () => BigInt(measureRun()) * 1_000_000n;
  process.uptime = () => measureRun() / SECOND_MS;
}

function replaceChance(): void {
  const fill = (bytes: Uint8Array): Uint8Array => {
    readSources().random(bytes);
    return bytes;
  };
  Object.assign(crypto, {
    randomFillSync: fill,
    randomBytes: (count: number) => Buffer.from(fill(new Uint8Array(count))),
    ...refuse(['randomUUID', 'randomInt', 'randomFill', 'generateKeyPair', 'generateKey', 'scrypt', 'pbkdf2', 'hkdf']),
  });
  Object.assign(globalThis.crypto, refuse(['randomUUID', 'getRandomValues']));
  Object.assign(Math, refuse(['random']));
}

function refuseOutside(): void {
  Object.assign(net.Socket.prototype, refuse(['connect']));
  Object.assign(net.Server.prototype, refuse(['listen']));
  Object.assign(dns, refuse(['lookup', 'resolve', 'resolve4', 'resolve6']));
  Object.assign(childProcess, refuse(['spawn', 'spawnSync', 'fork', 'exec', 'execSync', 'execFile', 'execFileSync']));
  Object.assign(workerThreads, refuse(['Worker']));
  Object.assign(fs, refuse(['open', 'read', 'readFile', 'write', 'writeFile', 'stat', 'readdir', 'createReadStream']));
  Object.assign(fs.promises, refuse(['open', 'readFile', 'writeFile', 'stat', 'readdir', 'mkdir', 'rm', 'rename']));
}

function refuse(names: readonly string[]): Readonly<Record<string, () => never>> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      // a constructor too, so no arrow function
      function refuseCall(): never {
        throw leaves(name);
      },
    ]),
  );
}

function leaves(name: string): Error {
  return new Error(`${name} leaves the simulation; replace it in test/simulation/whole/simulated-node.ts`);
}
