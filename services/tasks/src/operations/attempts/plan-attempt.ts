import type { AttemptItem, ChannelSettings, PlannedAttempt } from '../../channels/channel.ts';
import { validateOrder } from '../../domain/rules/validate-order.ts';
import { isMedia, isUpstreamFile, resolveRole } from '../../domain/order.ts';
import type { ContentItem, MediaItem, Order } from '../../domain/order.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { CreateMedia, SourceMedia } from '../create-context.ts';
import type { PlanDeps } from '../deps.ts';
import { toRefusal } from '../task-refusals.ts';

export interface AttemptInputs {
  readonly taskId: string;
  /** Counts the attempts of the task from 1. */
  readonly number: number;
  readonly order: Order;
  readonly settings: ChannelSettings;
  readonly source: Task | undefined;
  readonly media: CreateMedia;
}

/**
 * Builds an attempt from the frozen order and one channel, and does not read an earlier attempt. The order is checked
 * again, the source is resolved for the upstream account of the channel, the model is mapped, and each media item gets
 * a URL of its own.
 */
export async function planAttempt(deps: PlanDeps, inputs: AttemptInputs, signal: AbortSignal): Promise<PlannedAttempt> {
  const { taskId, number, order, settings, source, media } = inputs;
  const fault = validateOrder(order, deps.models(), ['*']);
  if (fault !== undefined) throw toRefusal(fault);
  const model = settings.models[order.model];
  if (model === undefined) throw new Error(`the channel ${settings.id} does not know the model ${order.model}`);
  const sourceUpstreamId = readSourceUpstreamId(settings, source);
  const asVideo = source !== undefined && settings.regeneration === 'video';
  const input = asVideo ? sourceAsVideo(source, media.source) : { content: order.content, staged: media.byIndex };
  const content = await Promise.all(
    input.content.map(async (item, index): Promise<AttemptItem> =>
      isMedia(item)
        ? {
            media: item.media,
            role: resolveRole(item),
            url: await resolveMediaUrl(deps, { item, staged: input.staged.get(index), settings }, signal),
          }
        : { text: item.text },
    ),
  );
  const callbackUrl =
    settings.callbacks && order.callbackUrl === undefined ? deps.callbacks.buildUrl({ taskId, number }) : undefined;
  return {
    key: toAttemptKey({ taskId, number }),
    kind: order.kind,
    model,
    duration: order.duration,
    resolution: order.resolution,
    ratio: order.ratio,
    aigcWatermark: order.aigcWatermark,
    extraJson: order.extraJson,
    clientCallbackUrl: order.callbackUrl,
    content,
    sourceUpstreamId: asVideo ? undefined : sourceUpstreamId,
    callbackUrl,
  };
}

/** The key under which an upstream can find an attempt. It is chosen before the attempt is sent. */
export function toAttemptKey({ taskId, number }: { readonly taskId: string; readonly number: number }): string {
  return `${taskId}-${number}`;
}

async function resolveMediaUrl(
  deps: PlanDeps,
  { item, staged, settings }: { item: MediaItem; staged: StagedMedia | undefined; settings: ChannelSettings },
  signal: AbortSignal,
): Promise<string> {
  if (isUpstreamFile(item)) return item.url ?? '';
  if (staged === undefined) throw new Error('a media item of the order is not staged');
  return deps.mediaUrl(staged, settings.references, signal);
}

/** The same order in mode B: the final prompt and the references of the source, and its result as the base video. */
function sourceAsVideo(
  { order }: Task,
  media: SourceMedia | undefined,
): { readonly content: readonly ContentItem[]; readonly staged: ReadonlyMap<number, StagedMedia> } {
  if (media === undefined) throw new Error('the media of the source are not staged');
  return {
    content: [...order.content, { media: 'video', role: 'base_video' }],
    staged: new Map([...media.byIndex, [order.content.length, media.base]]),
  };
}

function readSourceUpstreamId(settings: ChannelSettings, source: Task | undefined): string | undefined {
  if (source === undefined) return undefined;
  if (source.mapping?.upstreamAccount !== settings.upstreamAccount || source.mapping.upstreamId === undefined)
    throw new Error('the source belongs to another upstream account');
  return source.mapping.upstreamId;
}
