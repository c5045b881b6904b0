import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fixture, serves } from '../../services/media/testing/origin.ts';
import { httpCaller } from '../harness/client.ts';
import type { Answer } from '../harness/client.ts';
import { KEYS } from '../harness/test-config.ts';
import { REASONS } from './attack.ts';
import type { Attack } from './attack.ts';
import { CANARY_WORDS } from './attack-world.ts';
import type { AttackWorld } from './attack-world.ts';
import { FIELDS, FIELD_NAMES, PICTURE_FIELDS } from './fields.ts';
import type { Carrier } from './fields.ts';
import { nameAttacks } from './tables/names.ts';
import { redirectAttacks } from './tables/redirects.ts';
import { responseAttacks } from './tables/responses.ts';
import { spellingAttacks } from './tables/spellings.ts';

const PARALLEL = 12;
/** Every eleventh attack is also tried as the address of a result. */
const RESULT_STEP = 11;
const RESULT_POLLS = 2;
const RESULT_WAIT_MS = 40_000;
const RESULT_TICK_MS = 200;
const MESSAGE_SHOWN = 200;

/** Text that no message to a client may hold: addresses, names, ports, the words of resolvers, sockets and servers. */
const TELLING = new RegExp(
  [
    String.raw`\d+\.\d+\.\d+|[0-9a-f]*::|:\d{2,5}|localhost|\.example|\.internal|\.local`,
    String.raw`\b[A-Z]{3,}_|E[A-Z]{4,}|query|socket|certificate|TLS|SSL|HTTP\/|parse|banner|\bat \S+:\d+`,
  ].join('|'),
);
const GOOD = { image: 'image.png', video: '768p.mp4', audio: 'audio.mp3' } as const;

export interface AttackReport {
  /** The number of attacks in each group. */
  readonly groups: ReadonlyMap<string, number>;
  readonly refused: number;
  /** Attacks that were not refused with a documented reason, each with what happened instead. */
  readonly failed: readonly string[];
  /** The number of connections to canaries. */
  readonly reached: number;
  /** Other faults: bytes that stayed in the store, orders that an upstream saw. */
  readonly faults: readonly string[];
}

function allAttacks(world: AttackWorld): readonly Attack[] {
  const all = [spellingAttacks, nameAttacks, redirectAttacks, responseAttacks].flatMap((table) => table(world));
  return [...new Map(all.map((attack) => [`${attack.field ?? ''} ${attack.url}`, attack])).values()];
}

/** Tries every attack once and reports how each ended. */
export async function runAttacks(world: AttackWorld): Promise<AttackReport> {
  const all = allAttacks(world);
  const failed: string[] = [];
  const faults = await controlFaults(world);
  const stored = storedFiles(world);
  const orders = world.upstream.orders.length;
  await inParallel(all, async (attack, index) => {
    const problem = await problemOf(world, attack, index);
    if (problem !== undefined) failed.push(`${attack.group}: ${JSON.stringify(attack.url)}: ${problem}`);
  });
  if (world.upstream.orders.length !== orders) faults.push('an upstream saw the order of an attack');
  if (storedFiles(world) !== stored) faults.push(`${storedFiles(world) - stored} files stayed in the store`);
  const lies = all.filter((_attack, index) => index % RESULT_STEP === 0);
  failed.push(...(await lieAbout(world, lies)));
  faults.push(...(await forwardedFaults(world)));
  const groups = new Map<string, number>();
  for (const { group } of all) groups.set(group, (groups.get(group) ?? 0) + 1);
  groups.set('results of a lying upstream', lies.length);
  return { groups, refused: all.length + lies.length - failed.length, failed, reached: world.touched(), faults };
}

async function inParallel<T>(all: readonly T[], work: (one: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < all.length) {
      const index = next;
      next += 1;
      await work(all[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

async function send({ program }: AttackWorld, { target, body }: Carrier, url: string): Promise<Answer> {
  const written = body(url);
  if (!(written instanceof FormData)) return httpCaller(program.base, KEYS.demo).call('POST', target, written);
  const response = await fetch(program.base + target, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.demo}` },
    body: written,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as unknown };
}

/** Shows that the same orders with good addresses are accepted, so that only the address is refused. */
async function controlFaults(world: AttackWorld): Promise<string[]> {
  const faults: string[] = [];
  await inParallel(FIELD_NAMES, async (name) => {
    const url = world.origin.url(serves(fixture(GOOD[FIELDS[name].family])));
    const { status, text } = await send(world, FIELDS[name], url);
    if (status !== 200 && status !== 202)
      faults.push(`${name} refuses a good address: ${status} ${text.slice(0, MESSAGE_SHOWN)}`);
  });
  return faults;
}

async function problemOf(world: AttackWorld, attack: Attack, index: number): Promise<string | undefined> {
  const field = attack.field ?? PICTURE_FIELDS[index % PICTURE_FIELDS.length]!;
  const { status, text, json } = await send(world, FIELDS[field], attack.url);
  const message = (json as { error?: { message?: string } }).error?.message ?? '';
  const seen = `${status} ${text.slice(0, MESSAGE_SHOWN)} (in ${field})`;
  if (status !== 400) return seen;
  const plain = message.replace(/ \(\d+\)$/, '');
  if (!attack.reasons.some((reason) => REASONS[reason].test(plain))) return `another reason: ${seen}`;
  if (text.includes(CANARY_WORDS) || TELLING.test(plain.replace(/data:image\/png;base64|https:\/\/host\/path/g, '')))
    return `it tells what it should not: ${seen}`;
  return undefined;
}

/** A task whose upstream reports such an address never completes, and its owner does not see the address. */
async function lieAbout(world: AttackWorld, lies: readonly Attack[]): Promise<string[]> {
  const { program, upstream } = world;
  const caller = httpCaller(program.base, KEYS.demo);
  const failed: string[] = [];
  upstream.lies((lie) => lies[lie]?.url ?? '');
  const tasks: string[] = [];
  await inParallel(lies, async (_lie, index) => {
    tasks[index] = await caller.create('/v1/videos', {
      model: 'Alpha-H3',
      prompt: `a boat [lie:${index}]`,
      seconds: '4',
      size: '1280x720',
    });
  });
  const deadline = performance.now() + RESULT_WAIT_MS;
  const open = (): number[] => [...lies.keys()].filter((lie) => upstream.polls(lie) < RESULT_POLLS);
  while (open().length > 0 && performance.now() < deadline) await wait(RESULT_TICK_MS);
  for (const lie of open()) failed.push(`a lie was not judged in time: ${JSON.stringify(lies[lie]?.url)}`);
  await inParallel(tasks, async (taskId, index) => {
    const { json, text } = await caller.call('GET', `/v1/videos/${taskId}`);
    const { status = '' } = json as { status?: string };
    const url = lies[index]?.url ?? '';
    const isOpen = status === 'queued' || status === 'in_progress';
    if (!isOpen || text.includes('video_url') || (url.includes('://') && text.includes(url)))
      failed.push(`a lie about a result: ${JSON.stringify(url)}: ${text.slice(0, MESSAGE_SHOWN)}`);
  });
  return failed;
}

/** The contract forwards the callback address of context-IR unchanged, and the program fetches nothing from it. */
async function forwardedFaults(world: AttackWorld): Promise<string[]> {
  const url = `http://127.0.0.1:${world.canary}/callback`;
  const { status, text } = await httpCaller(world.program.base, KEYS.demo).call('POST', '/v2/h3_context_ir', {
    model: 'Alpha-H3',
    content: [{ type: 'text', text: 'a boat' }],
    duration: 4,
    ratio: '16:9',
    callback_url: url,
  });
  const isForwarded = world.upstream.orders.at(-1)?.includes(JSON.stringify(url)) === true;
  return status === 200 && isForwarded ? [] : [`the callback address was not forwarded: ${status} ${text}`];
}

function storedFiles({ program }: AttackWorld): number {
  return readdirSync(path.join(program.config.data_dir, 'blobs'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile(),
  ).length;
}
