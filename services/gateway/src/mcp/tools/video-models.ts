import { encodeVideoModel } from '../../models/video-model-routes.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import type { Draft, TypeOf } from '../../domain/schema.ts';
import type { VideoModel } from '../../models/list-models.ts';
import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { pickAccountCaller } from '../read-video.ts';
import { moneySchemas } from '../shown-video.ts';

/** More entries in full fill the context of a model. */
const FULL_MAX = 12;
const LISTED_MAX = 200;

const texts = { type: 'array', items: { type: 'string' } } as const;
const entry = buildObjectSchema(
  {
    id: { type: 'string' },
    operations: texts,
    supported_resolutions: texts,
    supported_aspect_ratios: texts,
    duration: { type: 'object', description: 'Whole seconds.' },
    defaults: { type: 'object' },
    prompt_max: { type: 'integer', description: 'Characters.' },
    media: { type: 'object', description: 'The most items by role.' },
    prices: { type: 'array', items: { type: 'object' }, description: 'By operation and unit.' },
    currency: moneySchemas.currency,
  },
  ['id', 'operations'],
);
type Entry = TypeOf<typeof entry>;

/** Lists the models that the token may order from, with limits and prices. */
export function videoModels(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_models',
    title: 'List the models',
    description:
      'Lists the video models that this token may use, with their limits and prices. Send only listed values to ' +
      'video_quote.',
    input: buildObjectSchema({ model: { type: 'string', maxLength: 200, description: 'One model; default: all.' } }),
    output: buildObjectSchema({ models: { type: 'array', maxItems: LISTED_MAX, items: entry } }, ['models']),
    hints: READ_ONLY,
    run: async ({ model }, call) => {
      const caller = { ...pickAccountCaller(call), tokenId: call.principal.tokenId };
      if (model !== undefined)
        return { structured: { models: [encodeEntry(await parts.videoModels.find(model, caller))] } };
      const models = await parts.videoModels.list(caller);
      if (models.length <= FULL_MAX) return { structured: { models: models.map(encodeEntry) } };
      return {
        structured: { models: models.slice(0, LISTED_MAX).map(({ id, operations }) => ({ id, operations })) },
        sentence: 'These are the names alone. Call video_models with one of them for its limits and prices.',
      };
    },
  });
}

/**
 * Encodes the members of the catalogue that help to make an order. Clients of some vendors cannot read a member that is
 * a list or null, so an unknown list is left out.
 */
function encodeEntry(model: VideoModel): Entry {
  const { supported_resolutions, supported_aspect_ratios, ...all } = encodeVideoModel(model);
  return dropUndefined({
    id: all.id,
    operations: all.operations,
    supported_resolutions: supported_resolutions ?? undefined,
    supported_aspect_ratios: supported_aspect_ratios ?? undefined,
    duration: all.duration,
    defaults: all.defaults,
    prompt_max: all.prompt_max,
    media: all.media,
    prices: all.prices,
    currency: all.currency,
  } satisfies Draft<Entry>);
}
