import { isProblem } from '@reelgate/platform/problem';
import type { MediaCategory } from '../../clients/media.ts';
import { isMedia, isUpstreamFile } from '../../domain/order.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { categoryOf } from './stage-references.ts';

/** What a source was made from and came to, frozen for the task that renders it again. */
export interface SourceMedia {
  /** By the item's place in the source's content. */
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly base: StagedMedia;
}

/**
 * Freezes the objects of a source for another task, by what was stored of it and never by the addresses that its client gave. Undefined
 * when one of them is gone, or was not kept.
 */
export async function stageSource(
  { media }: Pick<Deps, 'media'>,
  task: Pick<Task, 'id' | 'accountId'>,
  { order, staged = {}, result }: Task,
): Promise<SourceMedia | undefined> {
  const wanted = order.content.flatMap((item, index) =>
    isMedia(item) && !isUpstreamFile(item)
      ? [{ index, category: categoryOf(item), object: staged[index]?.object }]
      : [],
  );
  const again = async (category: MediaCategory, object: string | undefined): Promise<StagedMedia> => {
    if (object === undefined) throw new Gone();
    return media.stage({ accountId: task.accountId, taskId: task.id, category, object });
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
