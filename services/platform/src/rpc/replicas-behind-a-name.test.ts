import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openCuttableLine } from '../../../../test/harness/cuttable-line.ts';
import { freePorts } from '../../../../test/harness/free-ports.ts';
import type { NamedReplicas } from '../../../../test/harness/named-replicas.ts';
import { startNameServer } from '../../../../test/harness/name-server.ts';
import type { NameServer } from '../../../../test/harness/name-server.ts';
import { until } from '../../testing/until.ts';

// The library decides when it is loaded whether it asks the name server of a target.
process.env['GRPC_NODE_USE_ALTERNATIVE_RESOLVER'] = 'true';
const { namedReplicas } = await import('../../../../test/harness/named-replicas.ts');

const NAME = 'svc.test';
const [FIRST, SECOND, THIRD] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
const FORGOTTEN_MS = 2000;
/** Long enough for dozens of connections that end at their age. */
const CLOSING_MS = 3000;

const TICK_MS = 10;

/**
 * The time of this process. It stands still while the process gets no processor, so no bound depends on a busy machine.
 */
let own: { now(): number; stop(): void };
let names: NameServer;
let replicas: NamedReplicas;
let port: number;
/** The name as a target. */
let target: string;

beforeEach(async () => {
  own = openOwnTime();
  names = await startNameServer();
  [port = 0] = await freePorts(1);
  target = `dns://${names.address}/${NAME}.:${port}`;
  replicas = namedReplicas(port);
});

afterEach(async () => {
  await replicas.stop();
  await names.stop();
  own.stop();
});

function openOwnTime(): typeof own {
  let [last, lostMs] = [performance.now(), 0];
  const timer = setInterval(() => {
    const late = performance.now() - last - TICK_MS;
    if (late > TICK_MS) lostMs += late;
    last = performance.now();
  }, TICK_MS);
  return {
    now: () => performance.now() - lostMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}

async function untilPassed(since: number, ms: number): Promise<void> {
  await until(() => own.now() - since > ms);
}

describe('calls to a name with several addresses', () => {
  test('a replica that is replaced is forgotten within two seconds, and no call fails', async () => {
    await replicas.start(FIRST);
    const old = await replicas.start(SECOND);
    names.set(NAME, [FIRST, SECOND]);
    const load = replicas.load(replicas.connect(target));
    await Promise.all([FIRST, SECOND].map(replicas.untilCalled));

    await replicas.start(THIRD);
    names.set(NAME, [FIRST, THIRD]);
    const stopped = own.now();
    await old.stop();
    const tried = await replicas.watchAddress(SECOND);
    await replicas.untilCalled(THIRD);
    const calledAfterMs = own.now() - stopped;
    await untilPassed(stopped, FORGOTTEN_MS);
    const triedBefore = tried();
    await untilPassed(stopped, 2 * FORGOTTEN_MS);
    await load.stop();

    expect(load.failed).toEqual({});
    expect(calledAfterMs).toBeLessThan(FORGOTTEN_MS);
    expect(tried() - triedBefore).toBe(0);
    expect(replicas.seenTwice()).toEqual([]);
  });

  test('a stopped replica that its name still has is tried in vain, and forgotten two seconds after the name', async () => {
    await replicas.start(FIRST);
    const old = await replicas.start(SECOND);
    names.set(NAME, [FIRST, SECOND]);
    const load = replicas.load(replicas.connect(target));
    await replicas.untilCalled(SECOND);
    await old.stop();
    const tried = await replicas.watchAddress(SECOND);
    await until(() => tried() > 1);

    names.set(NAME, [FIRST]);
    const changed = own.now();
    await untilPassed(changed, FORGOTTEN_MS);
    const triedBefore = tried();
    await untilPassed(changed, 2 * FORGOTTEN_MS);
    await load.stop();

    expect(load.failed).toEqual({});
    expect(tried() - triedBefore).toBe(0);
  });

  test('an added replica gets calls within the age of a connection, and no call fails', async () => {
    const connectionAgeMs = 2000;
    for (const host of [FIRST, SECOND]) await replicas.start(host, { connectionAgeMs });
    names.set(NAME, [FIRST, SECOND]);
    const load = replicas.load(replicas.connect(target));
    await Promise.all([FIRST, SECOND].map(replicas.untilCalled));

    await replicas.start(THIRD, { connectionAgeMs });
    names.set(NAME, [FIRST, SECOND, THIRD]);
    const added = own.now();
    await replicas.untilCalled(THIRD);
    const tookMs = own.now() - added;
    await load.stop();

    // The age varies by a tenth, and the name is resolved at most once a second.
    expect(tookMs).toBeLessThan(1.1 * connectionAgeMs + 1000);
    expect(load.failed).toEqual({});
    expect(replicas.seenTwice()).toEqual([]);
  });

  test('a name that has no address at first is followed by itself, and the first call after that is answered', async () => {
    const grpc = replicas.connect(target);
    await expect(grpc.ready(100)).rejects.toThrow();
    await untilPassed(own.now(), FORGOTTEN_MS);
    await replicas.start(FIRST);
    names.set(NAME, [FIRST]);
    const queries = names.queries(NAME);
    await until(() => names.queries(NAME) > queries);
    await untilPassed(own.now(), 500);

    const load = replicas.load(grpc);
    await replicas.untilCalled(FIRST);
    await load.stop();

    expect(load.failed).toEqual({});
  });

  test('a resolution asks for addresses and for no service configuration', async () => {
    await replicas.start(FIRST);
    names.set(NAME, [FIRST]);

    await replicas.connect(target).ready(5000);

    expect(names.queries(NAME)).toBe(2);
  });
});

describe('a call', () => {
  test('that a closing connection refused reaches one handler, however often connections close', async () => {
    for (const host of [FIRST, SECOND]) await replicas.start(host, { connectionAgeMs: 200 });
    names.set(NAME, [FIRST, SECOND]);
    const load = replicas.load(replicas.connect(target));

    await untilPassed(own.now(), CLOSING_MS);
    await load.stop();

    expect(load.failed).toEqual({});
    expect(replicas.seenTwice()).toEqual([]);
    expect(replicas.seen()).toBe(load.calls());
  });

  test('that had left when its connection broke is not repeated', async () => {
    const { port: behind } = await replicas.start('127.0.0.1', { port: 0 });
    const line = await openCuttableLine(`http://127.0.0.1:${behind}`);
    const load = replicas.load(replicas.connect(new URL(line.url).host));

    for (let cuts = 0; cuts < 5; cuts += 1) {
      const calls = replicas.seen();
      await until(() => replicas.seen() > calls + 100);
      line.cut();
      line.mend();
    }
    await load.stop();
    await line.stop();

    expect(Object.keys(load.failed)).not.toEqual([]);
    expect(replicas.seenTwice()).toEqual([]);
  });

  test('to a target with several addresses goes to each of them in turn', async () => {
    for (const host of [FIRST, SECOND]) await replicas.start(host);
    const load = replicas.load(replicas.connect(`ipv4:${FIRST}:${port},${SECOND}:${port}`));

    await Promise.all([FIRST, SECOND].map(replicas.untilCalled));
    await load.stop();

    expect(load.failed).toEqual({});
  });
});
