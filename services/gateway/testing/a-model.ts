import type { MessageInitShape } from '@bufbuild/protobuf';
import { MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ModelOperationSchema, ModelSchema } from '@reelgate/proto/tasks/v1/task_service';

type OperationInit = MessageInitShape<typeof ModelOperationSchema>;

/** The generation of a model, with a part of the roles that the contract has. */
function anOperation(): OperationInit {
  return {
    kind: TaskKind.GENERATION,
    priceKey: 'Alpha-H3',
    resolutions: ['768P', '2K'],
    textMax: 7000,
    mediaMax: 12,
    roles: [
      { role: MediaRole.FIRST_FRAME, max: 1 },
      { role: MediaRole.REFERENCE_IMAGE, max: 9 },
    ],
    framesExcludeReferences: true,
    audioNeedsPicture: true,
    countsInputSeconds: true,
    countsImages: true,
  };
}

/** A model as the tasks service lists it. */
export function aModel(): MessageInitShape<typeof ModelSchema> {
  return {
    id: 'Alpha-H3',
    kinds: [TaskKind.GENERATION],
    resolutions: ['768P', '2K'],
    ratios: ['adaptive', '16:9', '9:16'],
    durationMin: 4,
    durationMax: 15,
    operations: [anOperation()],
    mediaRatios: ['adaptive'],
  };
}
