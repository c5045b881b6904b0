import type { Model } from '../src/domain/model.ts';
import type { ContentItem, MediaItem, MediaKind, Order, Role } from '../src/domain/order.ts';

/** The model of the contract, as in the default configuration. */
export const ALPHA_MODEL: Model = {
  id: 'Alpha-H3',
  durationMin: 4,
  durationMax: 15,
  resolutions: ['768P', '2K'],
  ratios: ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
};
/** Another model, with ranges of its own. */
const OTHER_MODEL: Model = { id: 'Other-V1', durationMin: 2, durationMax: 6, resolutions: ['480P'], ratios: ['16:9'] };
export const MODELS: ReadonlyMap<string, Model> = new Map([ALPHA_MODEL, OTHER_MODEL].map((model) => [model.id, model]));

/** A valid generation, with the changes of the test. */
export function anOrder(changes: Partial<Order> = {}): Order {
  return {
    kind: 'generation',
    model: 'Alpha-H3',
    content: [aText()],
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
    ...changes,
  };
}

/** A valid regeneration from a source task. */
export function aRegeneration(changes: Partial<Order> = {}): Order {
  return {
    kind: 'regeneration',
    model: 'Alpha-H3',
    content: [],
    resolution: '2K',
    sourceTaskId: 'task_source',
    ...changes,
  };
}

/** A valid regeneration from a base video. */
export function aRegenerationByContent(content: readonly ContentItem[] = [aText(), aVideo('base_video')]): Order {
  return aRegeneration({ sourceTaskId: undefined, content });
}

/** A valid context-IR order. */
export function aContextIr(changes: Partial<Order> = {}): Order {
  return { kind: 'context_ir', model: 'Alpha-H3', content: [aText()], duration: 5, ratio: '16:9', ...changes };
}

export function aText(text = 'A fox in the snow'): ContentItem {
  return { text };
}

export const anImage = (role?: Role): MediaItem => aMedium('image', role);
export const aVideo = (role?: Role): MediaItem => aMedium('video', role);
export const aSound = (role?: Role): MediaItem => aMedium('audio', role);

function aMedium(media: MediaKind, role: Role | undefined): MediaItem {
  return { media, role, url: `https://files.example/${media}` };
}
