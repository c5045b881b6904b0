import { isProblem } from '@reelgate/platform/problem';
import { combineSignals } from '@reelgate/platform/passed-deadline';
import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { Media, MediaCategory } from '../../clients/media.ts';
import { isMedia, isUpstreamFile, resolveRole } from '../../domain/order.ts';
import type { ContentItem, MediaItem, Order } from '../../domain/order.ts';
import type { ProbedVideos } from '../../domain/price-facts.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { CreateMedia, SourceMedia } from '../create-context.ts';
import { refuse } from '../../refusals.ts';

/** The total length of the reference videos, and of the reference sounds (vendor contract §2.3). */
const TOTAL_MS_MAX = 15_000;
/** Lengths are measured in frames and samples, so a fifteen-second file can measure a little more. */
const TOTAL_MS_TOLERANCE = 500;
/** An upstream file cannot be probed here. It counts as the longest base video until the usage is known. */
const UPSTREAM_BASE_MS = 15_000;

export const NO_MEDIA: CreateMedia = { byIndex: new Map(), source: undefined };

/** The task that media are staged for. */
interface StagingTask {
  readonly id: string;
  readonly accountId: string;
}

/** The signal that ends the wait of the caller, and the span of its call. */
interface StageOptions {
  readonly signal?: AbortSignal | undefined;
  readonly span?: Span | undefined;
}

/**
 * Has media fetch and check every media item of an order, once. Every attempt is built from the media that were staged
 * here.
 */
export async function stageReferences(
  media: Media,
  task: StagingTask & { readonly order: Order },
  options: StageOptions = {},
): Promise<{ readonly byIndex: ReadonlyMap<number, StagedMedia>; readonly probed: ProbedVideos }> {
  const { content } = task.order;
  const wanted = listStageable(content);
  const byIndex = await stageAll(media, task, wanted, options);
  const total = (role: string): number =>
    wanted.reduce(
      (sum, { item, index }) => sum + (resolveRole(item) === role ? (byIndex.get(index)?.durationMs ?? 0) : 0),
      0,
    );
  for (const role of ['reference_video', 'reference_audio']) {
    if (total(role) > TOTAL_MS_MAX + TOTAL_MS_TOLERANCE) {
      throw refuse('invalid_media', {
        field: 'content',
        message: `must hold at most ${TOTAL_MS_MAX / 1000} seconds of ${role} in total; it holds ${total(role) / 1000}`,
      });
    }
  }
  const hasUpstreamBase = content.some(
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

/**
 * Stages the stored objects of a source for another task. The URLs that the client of the source sent are not fetched
 * again. Returns undefined if an object is gone or was not kept.
 */
export async function stageSource(
  media: Media,
  { id: taskId, accountId }: StagingTask,
  { order, staged = {}, result }: Task,
  { signal, span: parent }: StageOptions = {},
): Promise<SourceMedia | undefined> {
  const stageAgain = async (category: MediaCategory, object: string | undefined): Promise<StagedMedia> => {
    if (object === undefined) throw new Gone();
    return inStageSpan(parent, category, (span) =>
      media.stage({ accountId, taskId, category, object }, { signal, span }),
    );
  };
  try {
    const base = await stageAgain('base_video', result?.object);
    const kept = await Promise.all(
      listStageable(order.content).map(
        async ({ item, index }) => [index, await stageAgain(toMediaCategory(item), staged[index]?.object)] as const,
      ),
    );
    return { base, byIndex: new Map(kept) };
  } catch (error) {
    if (error instanceof Gone || isProblem(error, 'invalid_media')) return undefined;
    throw error;
  }
}

class Gone extends Error {}

interface IndexedItem {
  readonly item: MediaItem;
  readonly index: number;
}

/** Lists the media items of a content that media can stage: all but the files of an upstream account. */
function listStageable(content: readonly ContentItem[]): readonly IndexedItem[] {
  return content.flatMap((item, index) => (isMedia(item) && !isUpstreamFile(item) ? [{ item, index }] : []));
}

/**
 * Stages all items at once. If one is refused, the others are aborted, so a refused order costs no more parsing.
 * Returns or throws when no staging is still running.
 */
async function stageAll(
  media: Media,
  task: StagingTask,
  wanted: readonly IndexedItem[],
  { signal, span }: StageOptions,
): Promise<ReadonlyMap<number, StagedMedia>> {
  if (wanted.length === 0) return NO_MEDIA.byIndex;
  const refused = new AbortController();
  const bounds = { signal: combineSignals(signal, refused.signal), span };
  const stagings = wanted.map(async (each) => {
    try {
      return [each.index, await stageOne(media, task, each, bounds)] as const;
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
  media: Media,
  task: StagingTask,
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
    throw refuse('invalid_media', {
      field: `content[${index}].${item.media}_url`,
      message: error.message,
      cause: error,
    });
  }
}

/** Runs the staging of one item in a span. */
function inStageSpan<T>(
  parent: Span | undefined,
  category: MediaCategory,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return inSpan(parent, 'stage media', { attributes: { 'reelgate.media.category': category } }, work);
}

function toMediaCategory(item: MediaItem): MediaCategory {
  return item.role === 'base_video' ? 'base_video' : item.media;
}
