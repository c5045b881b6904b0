import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorDeps } from '../operations/operators/operator-deps.ts';
import { readLimit } from './list-request.ts';

const LIST_LIMIT = 50;

/** The view of the acts of operators. */
export function operateActs({
  operators,
}: Pick<OperatorDeps, 'operators'>): Pick<Implementation<typeof OperatorService>, 'listActs'> {
  return {
    listActs: async ({ limit, after, subject }) => {
      const found = await operators.acts(
        { subject: subject === '' ? undefined : subject },
        { limit: readLimit(limit, LIST_LIMIT), after: after === '' ? undefined : after },
      );
      return { acts: found.map(({ at, ...act }) => ({ ...act, at: timestampFromMs(at) })) };
    },
  };
}
