import type { KindEvidence } from './create-body.ts';
import { hasRole } from '../wire/content-items.ts';

export type VideoKind = 'generation' | 'regeneration';

export type Classification = { readonly kind: VideoKind } | { readonly conflict: Conflict };

export interface Conflict {
  readonly reason: 'conflicting_source' | 'invalid_action';
  readonly field: string;
  readonly message: string;
}

const ACTIONS: Readonly<Record<string, VideoKind>> = {
  generation: 'generation',
  generate: 'generation',
  regeneration: 'regeneration',
  regenerate: 'regeneration',
};

/** Decides whether the body is a generation or a regeneration, or finds the conflict in it. */
export function classify({ source_task_id: source = '', content = [], action }: KindEvidence): Classification {
  const bases = content.filter((item) => hasRole(item, 'base_video')).length;
  if (source !== '' && bases > 0)
    return newConflict('source_task_id', 'must not be given together with a base_video item; send one of them');
  if (bases > 1) return newConflict('content', `must have at most one base_video item; it has ${bases}`);
  const kind = source !== '' || bases === 1 ? 'regeneration' : 'generation';
  return action === undefined ? { kind } : checkAction(action, kind);
}

function checkAction(action: string, kind: VideoKind): Classification {
  const wanted = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (wanted === kind) return { kind };
  const message =
    wanted === undefined
      ? `must be generation or regeneration; it is ${JSON.stringify(action.slice(0, 40))}`
      : `is ${action}, but the body describes a ${kind}; a regeneration has source_task_id or a base_video item`;
  return { conflict: { reason: 'invalid_action', field: 'action', message } };
}

function newConflict(field: string, message: string): Classification {
  return { conflict: { reason: 'conflicting_source', field, message } };
}
