import type { Problem } from '@reelgate/platform/problem';
import { editStrings } from '../../json-bytes/edit-strings.ts';
import { nameUpstream } from '../channels/relay-channel-config.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { readList } from '../protocols/members.ts';
import type { JsonObject } from '../protocols/protocol.ts';
import type { IdKind, RequestPlace } from '../protocols/state.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { looksSigned } from './sign-ids.ts';
import type { IdSigner } from './sign-ids.ts';
import { refuse } from '../../refusals.ts';

/** A demand of a request on its channel: the id in a field belongs to one account of an upstream. */
interface Demand {
  readonly field: string;
  readonly kind: IdKind;
  readonly isSigned: boolean;
  readonly fits: (channel: RelayChannel) => boolean;
}

/** The demands of the ids of a request, and its body. */
export interface CallState {
  /** The body with the ids as the upstream knows them. */
  readonly body: Buffer;
  /** The ids of the request: those that the upstream knows, and in their place those that the client sent. */
  readonly quoted: ReadonlyMap<string, string>;
  readonly demands: readonly Demand[];
}

/**
 * Reads the ids of a request that belong to one account of an upstream. It refuses an id that the gateway has not signed
 * for the client's account, as an id that does not exist.
 */
export function readCallState(call: RelayCall, ids: IdSigner): CallState | undefined {
  const { state } = call.endpoint.protocol;
  const { json } = call.content;
  if (state === undefined || json === undefined) return undefined;
  if (state.requestMarks?.some((mark) => call.body.includes(mark)) === false) return undefined;
  const quoted = new Map<string, string>();
  const demands: Demand[] = [];
  const { accountId } = call.principal;
  const body = editStrings(call.body, state.request, {
    edit: (place, value, at, bytes) => {
      const field = formatField(place.path, at);
      if (value === undefined || !isId(place, value)) {
        assertPasses(place, field, bytes);
        return undefined;
      }
      const use = place.use === 'item' ? readItemUse(json, at[0]) : place.use;
      const read = ids.read(place.kind, value);
      if (read === undefined && (use === 'made' || looksSigned(value))) throw refuseUnknown(place, field);
      if (read !== undefined && place.kind !== 'sealed') quoted.set(read.id, value);
      if (use !== 'repeated') {
        const fits = ({ settings }: RelayChannel): boolean =>
          read === undefined ? isOpenTo(settings.openTo, accountId) : read.isOf(nameUpstream(settings));
        demands.push({ field, kind: place.kind, isSigned: read !== undefined, fits });
      }
      return read?.id;
    },
    onTwice: (name) => {
      throw refuseBody(undefined, `the body names ${name.slice(0, 64)} twice in one object`);
    },
  });
  return { body, quoted, demands };
}

function isId({ use, names }: RequestPlace, value: string): boolean {
  return value !== '' && use !== 'type' && use !== 'refused' && names?.(value) !== false;
}

/** Refuses a value in the place of an id that is not an id. `json` are its bytes. */
function assertPasses({ use }: RequestPlace, field: string, json: string): void {
  if (json === 'null' || use === 'type') return;
  if (use === 'refused') {
    if (json !== 'false') throw refuseBackground(field);
  } else if (!json.startsWith('"')) throw refuseBody(field, 'must be a string');
}

/** Reports whether a channel can take a request with these ids. */
export function fitsState({ demands }: CallState, channel: RelayChannel): boolean {
  return demands.every(({ fits }) => fits(channel));
}

/** Refuses a request that no serving channel fits; `listed` are all channels of the model, paused ones included. */
export function refuseUnfit(state: CallState, listed: readonly RelayChannel[]): Problem {
  const [first] = state.demands;
  if (listed.some((channel) => fitsState(state, channel))) return refuseAwayUpstream(first?.field ?? 'an id');
  const alone = state.demands.find(({ fits }) => !listed.some(fits));
  if (alone?.isSigned === false) return refuseUnknown(alone, alone.field);
  if (alone !== undefined)
    return refuseId(
      alone.kind,
      alone.field,
      'belongs to an upstream that does not serve this model now; send the conversation without it',
    );
  const other = state.demands.find(({ fits }) => !listed.some((channel) => fits(channel) && first?.fits(channel)));
  return refuseBody(
    other?.field,
    `belongs to another upstream than ${first?.field ?? 'another id'}; send the conversation without one of them`,
  );
}

/** The one upstream that can take a request cannot be called now. */
export function refuseAwayUpstream(field: string, cause?: Error): Problem {
  return refuse('no_channel_available', {
    message: `the upstream that ${field} belongs to cannot be reached now; try again later, or send the conversation without it`,
    cause,
  });
}

function isOpenTo(accounts: readonly string[], accountId: string): boolean {
  return accounts.includes('*') || accounts.includes(accountId);
}

/** An item that names another one, or has no content of its own, is looked up. Any other is only repeated. */
function readItemUse(json: JsonObject, index: number | undefined): 'made' | 'repeated' {
  const item = index === undefined ? undefined : readList(json, 'input')[index];
  if (typeof item !== 'object' || item === null) return 'made';
  const { type, encrypted_content: sealed, content, role, result } = item as JsonObject;
  const hasContent = Array.isArray(content) ? content.length > 0 : typeof content === 'string';
  if (type === 'item_reference') return 'made';
  if (type === undefined || type === null) return role === undefined ? 'made' : 'repeated';
  if (type === 'reasoning') return hasContent || typeof sealed === 'string' ? 'repeated' : 'made';
  if (type === 'image_generation_call') return typeof result === 'string' ? 'repeated' : 'made';
  return 'repeated';
}

/** The path with the positions in its lists, as errors of clients' libraries write it. */
function formatField(path: string, at: readonly number[]): string {
  let list = 0;
  return path.replaceAll('[]', () => `[${at[list++] ?? 0}]`);
}

function refuseBackground(field: string): Problem {
  return refuseBody(
    field,
    'is not possible here: send the call to POST /async/v1/responses, and read its answer at GET /get-async',
  );
}

const RIGHT: Readonly<Partial<Record<IdKind, string>>> = {
  file: 'send the file itself: as a URL, base64 or a data URL',
  sealed: 'leave the item out, or send it as an answer to this account had it',
  store: 'ask the operator to open the upstream that has it to this account',
  prompt: 'ask the operator to open the upstream that has it to this account',
  cache: 'ask the operator to open the upstream that has it to this account',
};

function refuseUnknown({ kind }: { readonly kind: IdKind }, field: string): Problem {
  const right = RIGHT[kind] ?? 'send it as an answer to this account had it, or the conversation itself';
  return refuseId(kind, field, `is not known here; ${right}`);
}

/** Clients begin anew by the codes of responses and of encrypted content. */
function refuseId(kind: IdKind, field: string, message: string): Problem {
  const isResponse = kind === 'response';
  return refuse(
    isResponse
      ? 'previous_response_not_found'
      : kind === 'sealed'
        ? 'invalid_encrypted_content'
        : 'reference_not_found',
    { field, message },
  );
}

function refuseBody(field: string | undefined, message: string): Problem {
  return refuse('invalid_request', { ...(field === undefined ? {} : { field }), message });
}
