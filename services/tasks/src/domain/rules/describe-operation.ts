import { allowsKind } from '../model.ts';
import type { Model } from '../model.ts';
import type { Kind } from '../order.ts';
import { describeContent } from './content.ts';
import type { ContentBounds, ContentLimits } from './content.ts';
import { GENERATION_CONTENT, REGENERATION_CONTENT, REGENERATION_RESOLUTION } from './validate-order.ts';

/** The limits of one use of a model, taken from the rules that judge its orders. */
export interface OperationLimits {
  readonly kind: Kind;
  /** Empty if its orders name no resolution. */
  readonly resolutions: readonly string[];
  readonly content: ContentBounds;
}

interface KindLimits {
  readonly content: ContentLimits;
  readonly listResolutions: (model: Model) => readonly string[];
}

const LIMITS: Readonly<Record<Kind, KindLimits>> = {
  generation: { content: GENERATION_CONTENT, listResolutions: ({ resolutions }) => resolutions },
  regeneration: { content: REGENERATION_CONTENT, listResolutions: () => [REGENERATION_RESOLUTION] },
  context_ir: { content: GENERATION_CONTENT, listResolutions: () => [] },
};

/** Returns the limits of a use of a model; undefined if every order of it would be refused. */
export function describeOperation(kind: Kind, model: Model): OperationLimits | undefined {
  if (!allowsKind(model.id, kind)) return undefined;
  const { content, listResolutions } = LIMITS[kind];
  return { kind, resolutions: listResolutions(model), content: describeContent(content) };
}
