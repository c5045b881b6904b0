import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import type { ListActsResponseJson } from '@reelgate/proto/tasks/v1/operator_service';
import { listAttention, showTask } from '../harness/records.ts';

const TIMEOUT_MS = 180_000;
/** Five seconds are ordered; this is far above ten times the hold. */
const OVERRUN = '[take:0] [seconds:500]';
/** Enough that the program is killed before the last of them. */
const MANY = 40;
const HELD_NANOS = '400000000';
const COSTS = 40;
const COSTS_NANOS = '40000000000';

interface Decision {
  readonly taskId: string;
  readonly error?: { readonly reason: string };
}
const listDecisions = (json: unknown) => (json as { readonly decisions: readonly Decision[] }).decisions;

let world: ScriptedProgram;
beforeAll(async () => {
  world = await startScriptedProgram();
}, TIMEOUT_MS);
afterAll(() => world?.end(), TIMEOUT_MS);

const command = (...args: readonly string[]) => world.program.command(...args);
const waiting = () => listAttention(world.program);
const resolve = (ids: readonly string[], as: string, reason: string) =>
  command('attention', 'resolve', ...ids, '--as', as, '--reason', reason, '--actor', 'ann');
const settlementOf = async (id: string) => (await showTask(world.program, id)).settlement;
const listActs = async (...options: readonly string[]) =>
  ((await command('act', 'list', ...options)).json as ListActsResponseJson).acts ?? [];
const reasonsOf = async (id: string) => (await listActs('--subject', id)).map(({ reason }) => reason);

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

    const listed = (await command('attention', 'list')).json as {
      readonly items: object[];
      readonly charges: object[];
    };
    const charge = { heldNanos: HELD_NANOS, deferredNanos: COSTS_NANOS, currency: 'USD' };
    expect(listed.items).toHaveLength(ids.length);
    for (const taskId of ids) {
      expect(listed.items).toContainEqual(expect.objectContaining({ taskId, reason: 'overrun' }));
      expect(listed.charges).toContainEqual(expect.objectContaining({ taskId, ...charge }));
    }
    const one = await resolve([first], 'completed', 'it is as long');
    const several = await resolve([...others, first, 'task_none'], 'failed', 'the upstream counts wrongly');

    expect(one).toMatchObject({ code: 0, json: { record: { task: { id: first } } } });
    expect([several.code, listDecisions(several.json).map(({ taskId, error }) => [taskId, error?.reason])]).toEqual([
      1,
      [...others.map((id) => [id, undefined]), [first, 'not_in_attention'], ['task_none', 'task_not_found']],
    ]);
    expect(await settlementOf(first)).toMatchObject({ basis: 'BASIS_USAGE', amountNanos: COSTS_NANOS });
    for (const id of others) expect(await settlementOf(id)).toMatchObject({ basis: 'BASIS_RELEASED' });
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
    await until(async () => (await readSpent()) > before + COSTS, TIMEOUT_MS);
    await world.program.stop('SIGKILL');
    const first = await interrupted;
    await world.program.start();
    const rest = (await waiting()).map(({ taskId }) => taskId);
    const after = await resolve(ids, 'completed', 'it is as long');

    const decided = (answer: typeof after): string[] =>
      listDecisions(answer.json).flatMap(({ taskId, error }) => (error === undefined ? [taskId] : []));
    // the same decision again is answered as before, also for those that the killed program decided
    expect([first.code, after.code]).toEqual([1, 0]);
    expect([...decided(after)].sort()).toEqual([...ids].sort());
    expect(rest.length).toBeGreaterThan(0);
    expect(decided(first).filter((id) => rest.includes(id))).toEqual([]);
    const shown = await Promise.all(ids.map(settlementOf));
    expect(shown).toMatchObject(ids.map(() => ({ basis: 'BASIS_USAGE', amountNanos: COSTS_NANOS })));
    const acts = await listActs('--limit', '200');
    expect(ids.map((id) => acts.filter(({ subject }) => subject === id).length)).toEqual(ids.map(() => 1));
    expect(await waiting()).toEqual([]);
    expect((await command('ledger', 'verify')).code).toBe(0);
  },
  TIMEOUT_MS,
);
