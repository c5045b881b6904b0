import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { readRepeatable } from '@reelgate/platform/rpc/repeats';
import { everyRpc } from '../harness/contracts.ts';

/** The verbs of RPCs that change nothing. */
const READS = /^(Get|List|Show|Find|Count|Check|Estimate|Quote|Watch|Verify|Authenticate|Classify|Diagnose)/;
/** It reads, and extends a lease. */
const RENEWS: ReadonlySet<string> = new Set(['reelgate.tasks.v1.BatchService/ListBatchLines']);
/** Each call of these makes, takes or gives something else. */
const MAKES = /^(Create|Upload|Lease|Rotate|Send|Test)/;

const rpcs = await everyRpc();

test.each(rpcs)('%s says whether it can be made again, by a field that it has', (_name, method) => {
  expect(() => readRepeatable(method)).not.toThrow();
});

test('every RPC that only reads says so, and no other', () => {
  const saying = rpcs.filter(([, { idempotency }]) => idempotency === Level.NO_SIDE_EFFECTS).map(([name]) => name);
  const others = new Set(['LinkObject', 'CreateContentLink']);
  const reading = rpcs
    .filter(([name, method]) => (READS.test(method.name) && !RENEWS.has(name)) || others.has(method.name))
    .map(([name]) => name);

  expect(saying.toSorted()).toEqual(reading.toSorted());
  expect(saying.length).toBeGreaterThan(40);
});

test('no RPC that makes something new is made again without a key', () => {
  const without = rpcs.filter(
    ([, method]) => method.idempotency !== Level.NO_SIDE_EFFECTS && readRepeatable(method)({}),
  );

  expect(without.filter(([, { name }]) => MAKES.test(name))).toEqual([]);
});
