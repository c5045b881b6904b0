import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { CLIENT_DIALECTS, readSeenTask } from './dialects.ts';
import { NEVER_WHOLE } from './rules/rules.ts';
import { callTasks } from './rpc-calls.ts';
import { BODY_BYTES_MAX, DURATIONS, RATIOS, RICH } from './simulated-config.ts';
import type { BodyPace, HttpAnswer, HttpOrder, SendOptions } from './simulated-http.ts';
import { computeRetryFactor, mayRepeat, readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';

/** The orders whose bodies come in pieces. Those of other clients have other numbers. */
export const BODY_ORDERS: readonly string[] = Array.from({ length: 6 }, (_none, at) => `order-${850 + at}`);
const WITHIN_MS = 45_000;
const MODEL = 'Alpha-H3';
const RESOLUTION = '768P';
const PIECES = { least: 2, most: 8 };
/** A body may be silent for 15 seconds, and a sweep looks once in a second. */
const IN_TIME_MS_MAX = 10_000;
const TOO_SLOW_MS = { least: 20_000, most: 40_000 };
/** A client waits for the answer to a body that has stopped for longer than the gateway does. */
const STOPPED_MS = 40_000;
const LEFT_MS_MAX = 6000;
const LARGE_PIECE = 64 * 1024;
const LARGE_APART_MS = 5;
const BEYOND_BYTES_MAX = 2 * LARGE_PIECE;
/** Spaces after the JSON of an order. Some clients stop before them, so that only the length tells that more is due. */
const PADDING = 64;
const TRIES_MAX = 20;
const RETRY_MS = { least: 500, most: 6000 };

const KINDS = ['in pieces', 'at the bound', 'too slow', 'stopped', 'left', 'declared', 'too large'] as const;
type BodyKind = (typeof KINDS)[number];
/** The bodies that never come whole, or are beyond the bound. */
const NEVER: ReadonlySet<BodyKind> = new Set(['stopped', 'left', 'declared', 'too large']);
const TOO_LARGE = { status: 413, code: 'body_too_large' } as const;
const TOO_SLOW = { status: 408, code: 'body_too_slow' } as const;
/** The refusals that a body can have because of itself. */
const REFUSALS: Readonly<Partial<Record<BodyKind, typeof TOO_LARGE | typeof TOO_SLOW>>> = {
  'too slow': TOO_SLOW,
  stopped: TOO_SLOW,
  left: TOO_SLOW,
  declared: TOO_LARGE,
  'too large': TOO_LARGE,
};

/** Clients that send the body of an order in pieces: in time, too slowly, not to its end, or beyond the bound. */
export async function runBodies(world: World): Promise<void> {
  const { scheduler, draws, faults } = world;
  await Promise.all(
    BODY_ORDERS.filter((name) => !faults.isLeftOut(name)).map(async (name) => {
      await scheduler.pause(draws.whole(`${name} wait`, 0, WITHIN_MS));
      await runBody(world, name, draws.pick(`${name} body`, KINDS));
    }),
  );
}

async function runBody(world: World, name: string, kind: BodyKind): Promise<void> {
  const { scheduler, draws, rules, orders } = world;
  const { order, options } = describeBody(world, name, kind);
  if (NEVER.has(kind)) rules.neverWhole(name);
  for (let tries = 1, refusals = 0; tries <= TRIES_MAX; tries += 1) {
    const answer = await sendOrder(world, name, order, options);
    if (answer !== undefined && !mayRepeat(answer)) {
      judgeAnswer(world, { name, kind }, answer);
      break;
    }
    if (answer?.status === 429) refusals += 1;
    if (answer === undefined && kind === 'left') break;
    const retryMs = draws.whole(`${name} try ${tries}`, RETRY_MS.least, RETRY_MS.most);
    await scheduler.pause(retryMs * computeRetryFactor(refusals));
  }
  orders.answered(name);
  if (NEVER.has(kind)) await expectNoTask(world, name);
}

interface SentBody {
  readonly order: HttpOrder;
  readonly options: SendOptions;
}

function describeBody({ draws, orders }: World, name: string, kind: BodyKind): SentBody {
  const seconds = draws.pick(`${name} duration`, DURATIONS);
  orders.open({
    ...{ order: name, caller: { account: RICH.id, token: RICH.keys[0] }, key: keyOf(name), label: '', isRemix: false },
    ...{ resolution: RESOLUTION, seconds, inputSeconds: 0, maxNanos: undefined },
  });
  orders.sent(name, false);
  // the codes of refusals are those of the first dialect
  const dialect = REFUSALS[kind] === undefined ? draws.pick(`${name} dialect`, CLIENT_DIALECTS) : CLIENT_DIALECTS[0]!;
  const { path, body } = dialect.create({
    ...{ model: MODEL, prompt: `a fox in the mist [${name}]`, seconds, resolution: RESOLUTION },
    ...{ ratio: draws.pick(`${name} ratio`, RATIOS), picture: undefined, video: undefined },
    ...{ webhookUrl: undefined, maxAmount: undefined },
  });
  const { pace, bytes } = drawPace({ draws }, { name, kind, text: JSON.stringify(body) });
  const isDeclared = kind === 'declared' || (kind !== 'too large' && draws.happens(`${name} declared`, 0.5));
  return {
    order: {
      ...{ method: 'POST', path, key: RICH.keys[0] },
      headers: {
        'content-type': 'application/json',
        'idempotency-key': keyOf(name),
        ...(isDeclared ? { 'content-length': String(bytes) } : {}),
      },
    },
    options: {
      pace,
      leaveAfterMs:
        kind === 'left'
          ? draws.whole(`${name} leave`, pace.pieces.length * pace.apartMs, LEFT_MS_MAX)
          : kind === 'stopped'
            ? STOPPED_MS
            : undefined,
    },
  };
}

const keyOf = (name: string): string => `key-of-${name}`;

interface DrawnPace {
  readonly pace: BodyPace;
  /** The length of the body, also of what is never sent of it. */
  readonly bytes: number;
}

function drawPace(
  { draws }: Pick<World, 'draws'>,
  { name, kind, text }: { readonly name: string; readonly kind: BodyKind; readonly text: string },
): DrawnPace {
  const count = draws.whole(`${name} pieces`, PIECES.least, PIECES.most);
  const within = (least: number, most: number): number => Math.floor(draws.whole(`${name} time`, least, most) / count);
  if (kind === 'at the bound' || kind === 'too large') {
    const beyond = kind === 'too large' ? draws.whole(`${name} beyond`, 1, BEYOND_BYTES_MAX) : 0;
    const bytes = BODY_BYTES_MAX + beyond;
    const pieces = cutText(text.padEnd(bytes), Math.ceil(bytes / LARGE_PIECE));
    return { bytes, pace: { pieces, apartMs: LARGE_APART_MS, stops: false } };
  }
  if (kind === 'declared') {
    const bytes = BODY_BYTES_MAX + draws.whole(`${name} beyond`, 1, BEYOND_BYTES_MAX);
    return { bytes, pace: { pieces: cutText(text, count), apartMs: within(0, LEFT_MS_MAX), stops: true } };
  }
  if (kind === 'in pieces' || kind === 'too slow') {
    const apartMs = kind === 'in pieces' ? within(0, IN_TIME_MS_MAX) : within(TOO_SLOW_MS.least, TOO_SLOW_MS.most);
    return { bytes: text.length, pace: { pieces: cutText(text, count), apartMs, stops: false } };
  }
  const [bytes, whole] = [text.length + PADDING, draws.happens(`${name} but spaces`, 0.5)];
  const pieces = cutText(text, count).slice(0, whole ? count : draws.whole(`${name} sent`, 0, count - 1));
  return { bytes, pace: { pieces, apartMs: within(0, LEFT_MS_MAX / 2), stops: true } };
}

/** Cuts a text into pieces of one length, of which the last may be shorter. */
export function cutText(text: string, count: number): readonly string[] {
  const length = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_none, at) => text.slice(at * length, (at + 1) * length)).filter(
    (piece) => piece !== '',
  );
}

interface SentOrder {
  readonly name: string;
  readonly kind: BodyKind;
}

function judgeAnswer(world: World, sent: SentOrder, answer: HttpAnswer): void {
  if (answer.status < 300) judgeAccepted(world, sent, answer);
  else judgeRefused(world, sent, answer);
}

function judgeAccepted({ faults, rules, acts }: World, { name, kind }: SentOrder, answer: HttpAnswer): void {
  if (NEVER.has(kind)) rules.break(NEVER_WHOLE, `${name}, ${kind}: ${answer.text}`);
  // a process that stood still, or whose clock was set, gives a body more time
  const mayBeLong = faults.listOn().includes('frozen process') || faults.listOn().includes('clock jump');
  if (kind === 'too slow' && !mayBeLong) rules.break('a body that is too slow is refused', name);
  rules.promised({ order: name, account: RICH.id, key: keyOf(name) }, readSeenTask(answer));
  if (kind === 'in pieces') acts.note('an order in pieces is accepted');
  if (kind === 'at the bound') acts.note('a body of the largest size is accepted');
}

function judgeRefused({ rules, acts }: World, { name, kind }: SentOrder, { status, ...answer }: HttpAnswer): void {
  const refusal = REFUSALS[kind];
  const { code } = (readMembers({ status, ...answer })['error'] ?? {}) as { readonly code?: unknown };
  const said = `${name}, ${kind}: ${status} ${answer.text}`;
  if (refusal === undefined) {
    if (status === TOO_LARGE.status || status === TOO_SLOW.status)
      rules.break('a body in time and within its bound is taken', said);
  } else if (refusal.status === status && refusal.code === code)
    acts.note(refusal === TOO_LARGE ? 'a body beyond its bound is refused' : 'a body that is too slow is refused');
  else rules.break('a body is refused with its status and code', said);
}

/** The team of the account finds no task by the key of an order that never came whole. */
async function expectNoTask(world: World, name: string): Promise<void> {
  const request = { accountId: RICH.id, idempotencyKey: keyOf(name) };
  const listed = await callTasks(world, `${name} list`, { method: TaskService.method.listTasks, request });
  if (listed?.message === undefined) return;
  if (listed.message.tasks.length > 0) world.rules.break(NEVER_WHOLE, `${name}: ${listed.text}`);
  world.acts.note('an order without a whole body has no task');
}
