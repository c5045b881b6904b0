import { Problem } from '@reelgate/platform/problem';
import type { BatchFault, NewLine } from '../clients/batches-client.ts';
import type { CreateRoute, DecodedOrder, ReadRoute } from '../dialects/dialect.ts';
import { describeRightField } from '../dialects/wire/unknown-fields.ts';
import type { Models } from '../domain/model-defaults.ts';
import { newLineFault } from './batch-endpoint.ts';
import type { BatchEndpoint } from './batch-endpoint.ts';

const OK = 200;

/** The lines that create videos. */
export function videoEndpoint(create: CreateRoute, read: ReadRoute): BatchEndpoint {
  return {
    path: create.path,
    decode: (body, models) => decodeOrder(create, body, models),
    explain: (fault) => addRightField(create, fault),
    encode: async (end, { links, charges }) => {
      if (!('task' in end)) throw new Error('the line of a video has a task');
      return { statusCode: OK, body: read.answer.encode(end.task, links, charges.get(end.task.id)) };
    },
  };
}

function decodeOrder(create: CreateRoute, body: object, models: Models): NewLine['body'] {
  try {
    const decoded = create.decode({ json: body }, { models, params: {} });
    const { order, inline, beside, clientField } = decoded;
    const [medium] = inline;
    if (medium !== undefined)
      return newLineFault('invalid_media', medium.field, 'must be a URL: a batch outlives the bytes of its lines');
    const unfit = Object.entries(beside).find(([, value]) => value !== undefined && value !== '');
    if (unfit !== undefined)
      return newLineFault(
        'invalid_request',
        clientField(toSnakeCase(unfit[0])),
        'is not possible in a line of a batch',
      );
    return { order, names: listNames(decoded) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return newLineFault(error.reason, error.field, error.message);
  }
}

/** The fields of an order that clients can write under other names. */
const FLAT_FIELDS = ['duration', 'resolution', 'ratio', 'size'];
/** The items of a content whose names are kept; a request has few. */
const ITEMS_NAMED_MAX = 32;

/** Lists the client's names for fields of the order, where they differ. */
function listNames({ order, clientField }: DecodedOrder): Readonly<Record<string, string>> {
  const items = order.content.slice(0, ITEMS_NAMED_MAX).flatMap((_item, index) => {
    const item = `content[${index}]`;
    return [item, `${item}.media.url`, `${item}.media.role`, `${item}.text`];
  });
  const named = [...FLAT_FIELDS, ...items].map((field) => [field, clientField(field)] as const);
  return Object.fromEntries(named.filter(([field, name]) => field !== name));
}

/** Names the field to send in place of one that no generator takes. The refusals of the dialect name it already. */
function addRightField({ known }: CreateRoute, fault: BatchFault): BatchFault {
  const { code, param, message } = fault;
  if (code !== 'unknown_field' || known === undefined || param === undefined || param.includes('.')) return fault;
  const right = describeRightField(param, known);
  return message.endsWith(right) ? fault : { ...fault, message: `${message}; ${right}` };
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
