import { cutText } from './bodies.ts';
import { RICH } from './simulated-config.ts';
import type { BodyPace, HttpAnswer, HttpOrder, SendOptions } from './simulated-http.ts';
import { computeRetryFactor, mayRepeat, readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';
import { describeFile } from './batches.ts';

/** The names of the files that are uploaded in pieces, apart from those of batches. */
export const UPLOADS: readonly string[] = ['upload-1', 'upload-2', 'upload-3'];
const WITHIN_MS = 45_000;
const KINDS = ['whole', 'whole', 'stopped', 'left'] as const;
type UploadKind = (typeof KINDS)[number];
const LINES = { least: 1, most: 300 };
const PIECES = { least: 2, most: 12 };
const SENT_MS_MAX = 8000;
/** Longer than the gateway waits for the next piece. */
const STOPPED_MS = 40_000;
const READ_AFTER_MS_MAX = 20_000;
const DELETED = 0.5;
const TRIES_MAX = 40;
const RETRY_MS = { least: 500, most: 6000 };
const TOO_SLOW = 408;
const FORM_END = '--\r\n';
const [KEY] = RICH.keys;

interface File {
  readonly name: string;
  readonly text: string;
}

/** Clients that upload files in pieces, read them back and delete them, or break the upload off. */
export async function runUploads(world: World): Promise<void> {
  const { scheduler, draws, faults } = world;
  await Promise.all(
    UPLOADS.filter((name) => !faults.isLeftOut(name)).map(async (name) => {
      await scheduler.pause(draws.whole(`${name} wait`, 0, WITHIN_MS));
      await runUpload(world, name, draws.pick(`${name} kind`, KINDS));
    }),
  );
}

async function runUpload(world: World, name: string, kind: UploadKind): Promise<void> {
  const { draws, scheduler, rules, acts } = world;
  const file = { name, text: writeLines(name, draws.whole(`${name} lines`, LINES.least, LINES.most)) };
  const { order, options } = describeUpload(world, file, kind);
  const answer = await sendUntilAnswered(world, { name, order, options }, kind !== 'left');
  if (kind !== 'whole') {
    if (answer !== undefined && answer.status < 300) rules.break(BROKEN, `${name}: ${answer.text}`);
    if (answer?.status === TOO_SLOW) acts.note('an upload that stops is refused');
    await expectNoFile(world, name);
    return;
  }
  if (answer?.status !== 200) return;
  const stored = { id: String(readMembers(answer)['id']), at: scheduler.now() };
  acts.note('a file in pieces is uploaded');
  await scheduler.pause(draws.whole(`${name} read after`, 0, READ_AFTER_MS_MAX));
  await readBack(world, file, stored);
  if (draws.happens(`${name} deleted`, DELETED)) await remove(world, name, stored.id);
}

const BROKEN = 'an upload without its end makes no file';

/** Each line differs from the others, so that a piece that is lost, doubled or out of order shows. */
function writeLines(name: string, count: number): string {
  return Array.from({ length: count }, (_none, at) => JSON.stringify({ line: at, of: name })).join('\n');
}

function describeUpload(
  { draws }: World,
  { name, text }: File,
  kind: UploadKind,
): { readonly order: HttpOrder; readonly options: SendOptions } {
  const { body, ...order } = describeFile(`${name}.jsonl`, text);
  const count = draws.whole(`${name} pieces`, PIECES.least, PIECES.most);
  // some clients stop when the whole file is sent, and only the end of the form is due
  const isFileWhole = kind === 'stopped' && draws.happens(`${name} but its end`, 0.5);
  const pieces = cutText(isFileWhole ? body.slice(0, -FORM_END.length) : body, count);
  const isWhole = kind === 'whole' || isFileWhole;
  const sent = isWhole ? pieces : pieces.slice(0, draws.whole(`${name} sent`, 0, pieces.length - 1));
  const apartMs = Math.floor(draws.whole(`${name} time`, 0, SENT_MS_MAX) / count);
  const pace: BodyPace = { pieces: sent, apartMs, stops: kind !== 'whole' };
  const isDeclared = draws.happens(`${name} declared`, 0.5);
  const leaveAfterMs = { whole: undefined, stopped: STOPPED_MS, left: (sent.length + 1) * apartMs + 1 }[kind];
  const headers = { ...order.headers, ...(isDeclared ? { 'content-length': String(Buffer.byteLength(body)) } : {}) };
  return { order: { ...order, headers }, options: { pace, leaveAfterMs } };
}

interface Sending {
  readonly name: string;
  readonly order: HttpOrder;
  readonly options?: SendOptions;
}

/** Sends a request until it is answered. One whose client leaves is sent once. */
async function sendUntilAnswered(
  world: World,
  { name, order, options }: Sending,
  isRepeated = true,
): Promise<HttpAnswer | undefined> {
  const { scheduler, draws } = world;
  for (let tries = 1, refusals = 0; tries <= TRIES_MAX; tries += 1) {
    const answer = await sendOrder(world, name, order, options);
    if (answer === undefined ? !isRepeated : !mayRepeat(answer)) return answer;
    if (answer?.status === 429) refusals += 1;
    const retryMs = draws.whole(`${name} try ${tries}`, RETRY_MS.least, RETRY_MS.most);
    await scheduler.pause(retryMs * computeRetryFactor(refusals));
  }
  return undefined;
}

/** A file that its client was told of at a time. */
interface StoredFile {
  readonly id: string;
  readonly at: number;
}

async function readBack(world: World, { name, text }: File, { id, at }: StoredFile): Promise<void> {
  const { rules, acts } = world;
  const path = `/v1/files/${id}/content`;
  const read = await sendUntilAnswered(world, { name: `${name} read`, order: { method: 'GET', path, key: KEY } });
  if (read?.status === 404 && !rules.isForgotten(at)) rules.break('no file is lost', `${id} of ${name}`);
  if (read?.status !== 200) return;
  if (read.text !== text)
    rules.break('a file has the bytes that were sent', `${id} of ${name}: ${read.text.length}, must be ${text.length}`);
  acts.note('a file is read back');
}

async function remove(world: World, name: string, id: string): Promise<void> {
  const { rules, acts, scheduler } = world;
  const path = `/v1/files/${id}`;
  const removed = await sendUntilAnswered(world, {
    name: `${name} delete`,
    order: { method: 'DELETE', path, key: KEY },
  });
  // an earlier try may have deleted it
  if (removed?.status !== 200 && removed?.status !== 404) return;
  const removedAt = scheduler.now();
  const order = { method: 'GET', path: `${path}/content`, key: KEY };
  const read = await sendUntilAnswered(world, { name: `${name} read`, order });
  if (read?.status === 200 && !rules.isForgotten(removedAt))
    rules.break('a deleted file is not found', `${id} of ${name}`);
  if (read?.status === 404) acts.note('a deleted file is not found');
}

async function expectNoFile(world: World, name: string): Promise<void> {
  const order = { method: 'GET', path: '/v1/files', key: KEY };
  const listed = await sendUntilAnswered(world, { name: `${name} list`, order });
  if (listed?.status !== 200) return;
  const files = readMembers(listed)['data'] as readonly { readonly filename: string }[];
  if (files.some(({ filename }) => filename === `${name}.jsonl`)) world.rules.break(BROKEN, name);
  world.acts.note('a broken upload makes no file');
}
