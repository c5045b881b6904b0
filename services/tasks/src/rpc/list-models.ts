import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ListModelsRequest, ModelSchema } from '@reelgate/proto/tasks/v1/task_service';
import { isVisible } from '../domain/model.ts';
import type { Kind } from '../domain/order.ts';
import type { Tokens } from '../operations/cached-tokens.ts';
import type { Deps } from '../operations/deps.ts';
import { KINDS } from './mapping-order.ts';

const EVERY_MODEL = ['*'];

/** The models that an enabled channel serves and that the token may use. Nothing of a channel is shown. */
export async function listModels(
  { models, channels }: Pick<Deps, 'models' | 'channels'>,
  tokens: Pick<Tokens, 'findRights'>,
  { accountId, tokenId }: Pick<ListModelsRequest, 'accountId' | 'tokenId'>,
): Promise<MessageInitShape<typeof ModelSchema>[]> {
  const visible = tokenId === '' ? EVERY_MODEL : (await tokens.findRights(tokenId, accountId)).models;
  const kinds = Object.keys(KINDS) as Kind[];
  return [...models().values()]
    .filter(({ id }) => isVisible(visible, id))
    .map(({ id, resolutions, ratios, durationMin, durationMax }) => ({
      id,
      kinds: kinds.filter((kind) => channels.listServing(kind, id).length > 0).map((kind) => KINDS[kind]),
      resolutions: [...resolutions],
      ratios: [...ratios],
      durationMin,
      durationMax,
    }))
    .filter(({ kinds: served }) => served.length > 0)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
