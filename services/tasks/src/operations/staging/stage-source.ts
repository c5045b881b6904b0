import { isProblem } from '@reelgate/platform/problem';
import type { MediaCategory } from '../../clients/media.ts';
import { isMedia, isUpstreamFile } from '../../domain/order.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { toMediaCategory, inStageSpan } from './stage-references.ts';
import type { StageOptions } from './stage-references.ts';

/** The references and the result of a source, staged for the task that renders it. */
export interface SourceMedia {
  /** By the index of the item in the content of the source. */
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly base: StagedMedia;
}

/**
 * Stages the stored objects of a source for another task. The URLs that the client of the source sent are not fetched
 * again. Returns undefined if an object is gone or was not kept.
 */
export async function stageSource(
  { media }: Pick<Deps, 'media'>,
  task: Pick<Task, 'id' | 'accountId'>,
  { order, staged = {}, result }: Task,
  { signal, span: parent }: StageOptions = {},
): Promise<SourceMedia | undefined> {
  const wanted = order.content.flatMap((item, index) =>
    isMedia(item) && !isUpstreamFile(item)
      ? [{ index, category: toMediaCategory(item), object: staged[index]?.object }]
      : [],
  );
  const again = async (category: MediaCategory, object: string | undefined): Promise<StagedMedia> => {
    if (object === undefined) throw new Gone();
    return inStageSpan(parent, category, (span) =>
      media.stage({ accountId: task.accountId, taskId: task.id, category, object }, { signal, span }),
    );
  };
  try {
    const base = await again('base_video', result?.object);
    const kept = await Promise.all(
      wanted.map(async ({ index, category, object }) => [index, await again(category, object)] as const),
    );
    return { base, byIndex: new Map(kept) };
  } catch (error) {
    if (error instanceof Gone || isProblem(error, 'invalid_media')) return undefined;
    throw error;
  }
}

class Gone extends Error {}
