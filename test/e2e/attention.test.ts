import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';

const TIMEOUT_MS = 180_000;
/** Five seconds are ordered; this is far above ten times the hold. */
const OVERRUN = '[take:0] [seconds:500]';
/** Enough that the program is killed before the last of them. */
const MANY = 40;
const HELD = '0.4';
const COSTS = '40';

interface Item {
  readonly id: string;
  readonly reason: string;
  readonly held: string;
  readonly deferred_amount: string;
}
interface Decided {
  readonly id: string;
  readonly ok: boolean;
  readonly error?: { readonly reason: string };
}

let world: ScriptedProgram;
beforeAll(async () => {
  world = await startScriptedProgram();
}, TIMEOUT_MS);
afterAll(() => world?.end(), TIMEOUT_MS);

const command = (...args: readonly string[]) => world.program.command(...args);
const waiting = async (): Promise<readonly Item[]> => (await command('attention', 'list')).json as readonly Item[];
const resolve = (ids: readonly string[], as: string, reason: string) =>
  command('attention', 'resolve', ...ids, '--as', as, '--reason', reason, '--actor', 'ann');
const settlementOf = async (id: string) =>
  ((await command('task', 'show', id)).json as { settlement?: { basis: string; amount: string } }).settlement;
const reasonsOf = async (id: string): Promise<readonly string[]> =>
  ((await command('act', 'list', '--subject', id)).json as readonly { reason: string }[]).map(({ reason }) => reason);

/** What the account was charged in all. */
const readSpent = async (): Promise<number> => Number((await world.demo.call('GET', '/v1/usage')).json.total.amount);

/** Makes tasks whose usage is far above their holds, and waits until they wait for a decision. */
async function overrun(count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1)
    ids.push(
      await world.demo.create('/v1/videos', {
        ...{
          model: 'Alpha-H3',
          prompt: `${OVERRUN} boat ${at}`,
          duration: 5,
          resolution: '768P',
          ratio: '16:9',
        },
      }),
    );
  await until(async () => (await waiting()).length === count, TIMEOUT_MS);
  return ids;
}

test(
  'overruns are listed with what is held and what the usage costs, and several are decided with one reason',
  async () => {
    const ids = await overrun(3);
    const [first = '', ...others] = ids;

    expect(await waiting()).toMatchObject(ids.map(() => ({ reason: 'overrun', held: HELD, deferred_amount: COSTS })));
    const one = await resolve([first], 'completed', 'it is as long');
    const several = await resolve([...others, first, 'task_none'], 'failed', 'the upstream counts wrongly');

    expect([one.code, (one.json as { id: string }).id]).toEqual([0, first]);
    expect([several.code, (several.json as Decided[]).map(({ id, ok, error }) => [id, ok, error?.reason])]).toEqual([
      1,
      [
        ...others.map((id) => [id, true, undefined]),
        [first, false, 'not_in_attention'],
        ['task_none', false, 'task_not_found'],
      ],
    ]);
    expect(await settlementOf(first)).toMatchObject({ basis: 'usage', amount: COSTS });
    for (const id of others) expect(await settlementOf(id)).toMatchObject({ basis: 'released' });
    expect(await Promise.all(ids.map(reasonsOf))).toEqual([
      ['it is as long'],
      ...others.map(() => ['the upstream counts wrongly']),
    ]);
    expect(await waiting()).toEqual([]);
    expect((await command('ledger', 'verify')).code).toBe(0);
  },
  TIMEOUT_MS,
);

test(
  'a program that is killed between decisions loses none and makes none twice',
  async () => {
    const ids = await overrun(MANY);
    const before = await readSpent();

    const interrupted = resolve(ids, 'completed', 'it is as long');
    await until(async () => (await readSpent()) > before + Number(COSTS), TIMEOUT_MS);
    await world.program.stop('SIGKILL');
    const first = await interrupted;
    await world.program.start();
    const rest = (await waiting()).map(({ id }) => id);
    const after = await resolve(ids, 'completed', 'it is as long');

    const decided = (answer: typeof after): string[] =>
      (answer.json as Decided[]).flatMap(({ id, ok }) => (ok ? [id] : []));
    expect([first.code, after.code]).toEqual([1, 1]);
    expect([...decided(after)].sort()).toEqual([...rest].sort());
    expect(rest.length).toBeGreaterThan(0);
    expect(decided(first).filter((id) => rest.includes(id))).toEqual([]);
    const shown = (await command('task', 'show', ...ids)).json as readonly { settlement?: object }[];
    expect(shown.map(({ settlement }) => settlement)).toMatchObject(ids.map(() => ({ basis: 'usage', amount: COSTS })));
    const acts = (await command('act', 'list', '--limit', '200')).json as readonly { subject: string }[];
    expect(ids.map((id) => acts.filter(({ subject }) => subject === id).length)).toEqual(ids.map(() => 1));
    expect(await waiting()).toEqual([]);
    expect((await command('ledger', 'verify')).code).toBe(0);
  },
  TIMEOUT_MS,
);
