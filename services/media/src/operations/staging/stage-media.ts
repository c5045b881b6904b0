import { createHash } from 'node:crypto';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { IncomingFolder, ReceivedFile } from '../../blobs/incoming.ts';
import { countDecodedBytes, classifyReference } from '../../domain/reference.ts';
import { mayDeclare } from '../../domain/formats.ts';
import { PROBE_FAULTS } from '../../domain/media-facts.ts';
import type { MediaFacts } from '../../domain/media-facts.ts';
import { isKept } from '../../domain/media-object.ts';
import type { Blob, MediaObject } from '../../domain/media-object.ts';
import { FAMILY_OF, findMediaFault, formatBytes, isOfCategory, nameTypes } from '../../domain/media-rules.ts';
import type { Category } from '../../domain/media-rules.ts';
import { FetchFault, NOT_REACHED } from '../../domain/fetch-fault.ts';
import type { FetchedReference, Fetcher } from '../../fetch/fetcher.ts';
import type { Draw, ProbeOutcome, ProbeParsers } from '../../probe/probe.ts';
import { claimBlob, claimFile } from '../blobs/keep-file.ts';
import type { Claim, ClaimDeps, KeepFileDeps } from '../blobs/keep-file.ts';
import { beginFetch } from '../fetch-span.ts';
import { requireClaimed, invalidMedia, mediaBusy, unknownMedia, unknownObject } from '../media-refusals.ts';

export interface StageDeps extends KeepFileDeps, ClaimDeps {
  readonly log: Log;
  readonly incoming: IncomingFolder;
  readonly fetcher: Fetcher;
  readonly parsers: ProbeParsers;
  /** Undefined if images are passed on unchanged. */
  readonly redraw: Draw | undefined;
  readonly publicUrl: string;
  readonly fetch: { readonly urlCharactersMax: number };
  readonly bytesMax: Readonly<Record<Category, number>>;
  readonly stagedLifetimeMs: number;
}

export interface StageOrder {
  readonly accountId: string;
  readonly taskId: string;
  readonly category: Category;
  /** The text of the client, or the object of its inline bytes with their declared type. */
  readonly source: { readonly url: string } | { readonly object: string; readonly declaredType: string };
  readonly requestId: string;
  /** Aborted when no caller waits for the media. Media that are not yet being parsed are then given up. */
  readonly signal?: AbortSignal | undefined;
  /** The span of the first call for it, undefined if it is not recorded. */
  readonly span?: Span | undefined;
}

/** New bytes, or stored bytes. */
type FoundMedia =
  { readonly file: ReceivedFile | FetchedReference } | { readonly blob: Blob; readonly wasStaged: boolean };

/**
 * Finds or fetches one reference, checks its bytes, and freezes it. A reference is frozen once for a task: a later call
 * gets the same bytes, even if the address returns other bytes then.
 */
export async function stageMedia(deps: StageDeps, order: StageOrder): Promise<MediaObject> {
  const reference = hashReference(order);
  const before =
    order.taskId === '' ? undefined : await deps.store.findStaged(order.accountId, order.taskId, reference);
  if (before !== undefined && isKept(before, deps.clock.now())) return before;

  const found =
    'object' in order.source
      ? await findInline(deps, order, order.source)
      : await findReference(deps, order, order.source.url);
  let isReadable = false;
  try {
    checkSize(deps, order, 'file' in found ? found.file.bytes : found.blob.bytes);
    const facts = await inSpan(order.span, 'probe', {}, () => readFacts(deps, order, found));
    isReadable = isOfCategory(order.category, facts);
    checkFacts(order, facts);
    const { accountId, taskId } = order;
    const named = { accountId, taskId, purpose: 'staged', reference: taskId === '' ? '' : reference } as const;
    const freeze = (content: Content): Promise<MediaObject> =>
      inSpan(order.span, 'keep', {}, () =>
        claimContent(deps, content, { ...named, lifetimeMs: deps.stagedLifetimeMs }),
      );
    return await (deps.redraw !== undefined && mayRedraw(found, facts)
      ? withRedrawn(deps, order, found, freeze)
      : freeze({ found, facts }));
  } catch (error) {
    throw isReadable ? error : hideContent(deps, order, found, error);
  } finally {
    if ('file' in found) await found.file.discard();
  }
}

/** Returns the same name for the same text in the same use. */
export function hashReference({ category, source }: StageOrder): string {
  return createHash('sha256')
    .update(`${category}\n${'object' in source ? `object\n${source.object}` : `url\n${source.url}`}`)
    .digest('hex');
}

async function findInline(
  deps: StageDeps,
  order: StageOrder,
  { object, declaredType }: { object: string; declaredType: string },
): Promise<FoundMedia> {
  const found = await deps.store.find(object);
  if (!isUsable(deps, order, found)) throw unknownObject();
  checkSize(deps, order, found.blob.bytes);
  checkDeclared(declaredType, order.category);
  return { blob: found.blob, wasStaged: found.purpose === 'staged' };
}

async function findReference(deps: StageDeps, order: StageOrder, text: string): Promise<FoundMedia> {
  const reference = classifyReference(text, deps.publicUrl, deps.fetch.urlCharactersMax);
  switch (reference.kind) {
    case 'refused':
      throw invalidMedia(reference.fault);
    case 'own_content':
      return ownBlob(deps, order, await deps.store.findResult(reference.taskId));
    case 'own_object':
      return ownBlob(deps, order, await deps.store.find(reference.object));
    case 'data':
      return receiveData(deps, order, reference);
    case 'remote':
      return fetchRemote(deps, order, reference.url);
  }
}

/** Objects of this service are found in the store, by account, and never fetched. */
function ownBlob(deps: StageDeps, order: StageOrder, found: MediaObject | undefined): FoundMedia {
  if (!isUsable(deps, order, found)) throw unknownMedia();
  return { blob: found.blob, wasStaged: found.purpose === 'staged' };
}

/**
 * Refuses an object of another account, or an object that only our services read, like an object that does not exist.
 */
function isUsable(
  { clock }: StageDeps,
  { accountId }: StageOrder,
  found: MediaObject | undefined,
): found is MediaObject {
  return found?.accountId === accountId && found.purpose !== 'private' && isKept(found, clock.now());
}

async function receiveData(
  deps: StageDeps,
  order: StageOrder,
  { declaredType, base64 }: { declaredType: string; base64: string },
): Promise<FoundMedia> {
  checkSize(deps, order, countDecodedBytes(base64));
  checkDeclared(declaredType, order.category);
  const draft = await deps.incoming.begin(deps.bytesMax[order.category]);
  try {
    await draft.append([Buffer.from(base64, 'base64')]);
    return { file: await draft.finish() };
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

async function fetchRemote(
  { fetcher, bytesMax, log, parsers }: StageDeps,
  order: StageOrder,
  url: string,
): Promise<FoundMedia> {
  parsers.assertReady();
  const { accountId, taskId, category, requestId } = order;
  const fetching = beginFetch(order.span);
  const wanted = { url, accountId, family: FAMILY_OF[category], bytesMax: bytesMax[category] };
  try {
    const file = await fetcher.fetchReference(wanted);
    fetching?.arrived(file);
    return { file };
  } catch (error) {
    fetching?.failed(error);
    if (!(error instanceof FetchFault)) throw error;
    log.info({ taskId, requestId, code: error.code, err: error }, 'a reference was not fetched');
    throw error.code === 'busy' ? mediaBusy(error.said, error) : invalidMedia(error.said, error);
  }
}

/** Hides whether a private address has a file from a client that is refused the medium. */
function hideContent(
  { log }: StageDeps,
  { taskId, requestId }: StageOrder,
  found: FoundMedia,
  error: unknown,
): unknown {
  const isFromException = 'file' in found && 'isFromException' in found.file && found.file.isFromException;
  if (!isFromException || !isProblem(error, 'invalid_media')) return error;
  log.info({ taskId, requestId, err: error }, 'a medium of a private address was refused');
  return invalidMedia(NOT_REACHED, error);
}

/** Only decodable images are redrawn, and staged ones were redrawn before. */
function mayRedraw(found: FoundMedia, { mediaType }: MediaFacts): boolean {
  return REDRAWN.has(mediaType) && !('blob' in found && found.wasStaged);
}

const REDRAWN: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

interface Content {
  readonly found: FoundMedia;
  readonly facts: MediaFacts;
}

async function claimContent(
  deps: StageDeps,
  { found, facts }: Content,
  claim: Omit<Claim, 'blob' | 'facts'>,
): Promise<MediaObject> {
  const object =
    'file' in found
      ? await claimFile(deps, found.file, { ...claim, facts })
      : await claimBlob(deps, { ...claim, facts, blob: found.blob });
  return requireClaimed(object);
}

/** Replaces an image by its pixels, so that channels receive no other part of its file. */
async function withRedrawn<T>(
  deps: StageDeps,
  order: StageOrder,
  found: FoundMedia,
  use: (drawn: Content) => Promise<T>,
): Promise<T> {
  let outcome: ProbeOutcome | undefined;
  const { redraw, blobs, incoming } = deps;
  const draw = async (path: string): Promise<ReceivedFile | undefined> =>
    incoming.fill(async (into) => {
      outcome = await redraw?.(path, into, order);
      return outcome !== undefined && 'facts' in outcome;
    });
  const file = 'file' in found ? await draw(found.file.path) : await blobs.withFile(found.blob.key, draw);
  if (file === undefined || outcome === undefined)
    throw outcome === undefined
      ? unknownMedia()
      : invalidMedia(PROBE_FAULTS['fault' in outcome ? outcome.fault : 'broken'](nameTypes(FAMILY_OF[order.category])));
  try {
    const facts = requireFacts(outcome, order);
    checkFacts(order, facts);
    checkSize(deps, order, file.bytes);
    return await use({ found: { file }, facts });
  } finally {
    await file.discard();
  }
}

async function readFacts(
  { blobs, store, parsers }: StageDeps,
  order: StageOrder,
  found: FoundMedia,
): Promise<MediaFacts> {
  if ('file' in found) return requireFacts(await parsers.probe(found.file.path, order), order);
  const { blob } = found;
  if (blob.facts !== undefined) return blob.facts;
  const outcome = await blobs.withFile(blob.key, (path) => parsers.probe(path, order));
  if (outcome === undefined) throw unknownMedia();
  const facts = requireFacts(outcome, order);
  await store.noteFacts(blob.sha256, facts);
  return facts;
}

function requireFacts(outcome: ProbeOutcome, { category }: StageOrder): MediaFacts {
  if ('fault' in outcome) throw invalidMedia(PROBE_FAULTS[outcome.fault](nameTypes(FAMILY_OF[category])));
  return outcome.facts;
}

function checkFacts({ category }: StageOrder, facts: MediaFacts): void {
  const fault = findMediaFault(category, facts);
  if (fault !== undefined) throw invalidMedia(fault);
}

/** Runs before any parser, so that a file that is too large is refused for its size, not for its type. */
function checkSize({ bytesMax }: StageDeps, { category }: StageOrder, bytes: number): void {
  if (bytes > bytesMax[category]) throw invalidMedia(`must have at most ${formatBytes(bytesMax[category])}`);
}

function checkDeclared(declaredType: string, category: Category): void {
  const family = FAMILY_OF[category];
  if (!mayDeclare(declaredType, family))
    throw invalidMedia(`must be ${nameTypes(family)}; it is declared as ${declaredType}`);
}
