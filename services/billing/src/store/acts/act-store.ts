import type { Message } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { NewId } from '@reelgate/platform/ids';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ActSchema } from '@reelgate/proto/access/v1/act';
import type { Act } from '@reelgate/proto/access/v1/act';
import type { ActDetail, Action } from '../../domain/act.ts';

/** Of the ids of acts. */
export const ACT_PREFIX = 'act';

/** An act before it is recorded. The subject is the id of an account or a token, or `ledger`. */
export type NewAct = Omit<Act, keyof Message | 'id' | 'at' | 'action' | 'reason' | 'detailJson'> & {
  readonly at: number;
  readonly action: Action;
  readonly reason?: string;
  readonly detail: ActDetail;
};

export function newAct(newId: NewId, { at, reason = '', detail, ...act }: NewAct): Act {
  const detailJson = JSON.stringify(detail);
  return toMessage(ActSchema, { ...act, id: newId(ACT_PREFIX), at: timestampFromMs(at), reason, detailJson });
}

export interface ActQuery {
  readonly limit: number;
  /** The act before the page; empty for the first page. */
  readonly after: string;
  /** The subject of the acts; empty for every subject. */
  readonly subject: string;
}

export interface ActStore {
  /** The newest first. */
  list(query: ActQuery): Promise<readonly Act[]>;
  /** Removes acts from before a time, the oldest first. Returns the number of removed acts. */
  remove(before: number, limit: number): Promise<number>;
}
