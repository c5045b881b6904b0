import { Problem, isProblem } from '@reelgate/platform/problem';
import { combineSignals } from '@reelgate/platform/passed-deadline';
import { inSpan } from '@reelgate/platform/trace/in-span';
import type { Span } from '@reelgate/platform/trace/trace';
import type { MediaCategory } from '../../clients/media.ts';
import { isMedia, isUpstreamFile, resolveRole } from '../../domain/order.ts';
import type { MediaItem, Order } from '../../domain/order.ts';
import type { ProbedVideos } from '../../domain/price-facts.ts';
import type { StagedMedia } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/** The total length of the reference videos, and of the reference sounds (vendor contract §2.3). */
const TOTAL_MS_MAX = 15_000;
/** Lengths are measured in frames and samples, so a fifteen-second file can measure a little more. */
const TOTAL_MS_TOLERANCE = 500;
/** An upstream file cannot be probed here. It counts as the longest base video until the usage is known. */
const UPSTREAM_BASE_MS = 15_000;

export interface StagedReferences {
  /** By the index of the item in the content of the order. */
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly probed: ProbedVideos;
}

/** Has media fetch and check every media item of an order, once. Every attempt is built from what was staged here. */
export async function stageReferences(
  deps: Pick<Deps, 'media'>,
  task: TaskName,
  order: Order,
  options: StageOptions = {},
): Promise<StagedReferences> {
  const wanted = order.content.flatMap((item, index) =>
    isMedia(item) && !isUpstreamFile(item) ? [{ item, index }] : [],
  );
  const byIndex = await stageAll(deps, task, wanted, options);
  const total = (role: string): number =>
    wanted.reduce(
      (sum, { item, index }) => sum + (resolveRole(item) === role ? (byIndex.get(index)?.durationMs ?? 0) : 0),
      0,
    );
  for (const role of ['reference_video', 'reference_audio']) {
    if (total(role) > TOTAL_MS_MAX + TOTAL_MS_TOLERANCE) {
      throw new Problem({
        kind: 'invalid',
        reason: 'invalid_media',
        field: 'content',
        message:
          `must hold at most ${TOTAL_MS_MAX / 1000} seconds of ${role} in total; ` + `it holds ${total(role) / 1000}`,
      });
    }
  }
  const hasUpstreamBase = order.content.some(
    (item) => isMedia(item) && isUpstreamFile(item) && resolveRole(item) === 'base_video',
  );
  return {
    byIndex,
    probed: {
      referenceMs: total('reference_video'),
      baseMs: hasUpstreamBase ? UPSTREAM_BASE_MS : total('base_video'),
    },
  };
}

/** The signal that ends the wait of the caller, and the span of its call. */
export interface StageOptions {
  readonly signal?: AbortSignal | undefined;
  readonly span?: Span | undefined;
}

interface IndexedItem {
  readonly item: MediaItem;
  readonly index: number;
}
type TaskName = { readonly id: string; readonly accountId: string };

/**
 * Stages all items at once. If one is refused, the others are aborted, so a refused order costs no more parsing.
 * Returns or throws when no staging is still running.
 */
async function stageAll(
  deps: Pick<Deps, 'media'>,
  task: TaskName,
  wanted: readonly IndexedItem[],
  { signal, span }: StageOptions,
): Promise<ReadonlyMap<number, StagedMedia>> {
  const refused = new AbortController();
  const bounds = { signal: combineSignals(signal, refused.signal), span };
  const stagings = wanted.map(async (each) => {
    try {
      return [each.index, await stageOne(deps, task, each, bounds)] as const;
    } catch (error) {
      refused.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(stagings);
  // The first refusal is the reason of all others.
  if (refused.signal.aborted) throw refused.signal.reason;
  return new Map(await Promise.all(stagings));
}

async function stageOne(
  { media }: Pick<Deps, 'media'>,
  task: TaskName,
  { item, index }: IndexedItem,
  { signal, span: parent }: StageOptions,
): Promise<StagedMedia> {
  const request = {
    accountId: task.accountId,
    taskId: task.id,
    category: toMediaCategory(item),
    url: item.url,
    object: item.object,
    declaredType: item.declaredType,
  };
  try {
    return await inStageSpan(parent, request.category, (span) => media.stage(request, { signal, span }));
  } catch (error) {
    if (!isProblem(error, 'invalid_media')) throw error;
    throw new Problem({
      kind: 'invalid',
      reason: 'invalid_media',
      field: `content[${index}].${item.media}_url`,
      message: error.message,
      cause: error,
    });
  }
}

/** The span of one staged item. */
export function inStageSpan<T>(
  parent: Span | undefined,
  category: MediaCategory,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return inSpan(parent, 'stage media', { attributes: { 'reelgate.media.category': category } }, work);
}

export function toMediaCategory(item: MediaItem): MediaCategory {
  return item.role === 'base_video' ? 'base_video' : item.media;
}
