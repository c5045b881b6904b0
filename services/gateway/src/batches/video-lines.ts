import { Problem } from '@reelgate/platform/problem';
import { create } from '@bufbuild/protobuf';
import { BatchLineInputSchema } from '@reelgate/proto/tasks/v1/batch';
import type { BatchFault, BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { CreateRoute, DecodedOrder, ReadRoute } from '../dialects/dialect.ts';
import { describeRightField } from '../dialects/wire/unknown-fields.ts';
import type { Models } from '../domain/model-defaults.ts';
import { newFaultyLine } from './batch-endpoint.ts';
import type { BatchEndpoint } from './batch-endpoint.ts';

const OK = 200;

/** The lines that create videos. */
export function videoEndpoint(route: CreateRoute, read: ReadRoute): BatchEndpoint {
  return {
    path: route.path,
    decode: (body, models) => decodeOrder(route, body, models),
    explain: (fault) => addRightField(route, fault),
    encode: async (end, { links, charges }) => {
      if (end.case !== 'task') throw new Error('the line of a video has a task');
      return { statusCode: OK, body: read.answer.encode(end.value, links, charges.get(end.value.id)) };
    },
  };
}

function decodeOrder(route: CreateRoute, body: object, models: Models): BatchLineInput {
  try {
    const decoded = route.decode({ json: body }, { models, params: {} });
    const { order, inline, beside, clientField } = decoded;
    const [medium] = inline;
    if (medium !== undefined)
      return newFaultyLine('invalid_media', medium.field, 'must be a URL: a batch outlives the bytes of its lines');
    const unfit = Object.entries(beside).find(([, value]) => value !== undefined && value !== '');
    if (unfit !== undefined)
      return newFaultyLine(
        'invalid_request',
        clientField(toSnakeCase(unfit[0])),
        'is not possible in a line of a batch',
      );
    return create(BatchLineInputSchema, { body: { case: 'order', value: order }, fieldNames: listNames(decoded) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return newFaultyLine(error.reason, error.field, error.message);
  }
}

/** The fields of an order that clients can write under other names. */
const FLAT_FIELDS = ['duration', 'resolution', 'ratio', 'size'];
/** The items of a content whose names are kept; a request has few. */
const ITEMS_NAMED_MAX = 32;

/** Lists the client's names for fields of the order, where they differ. */
function listNames({ order, clientField }: DecodedOrder): Record<string, string> {
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
  if (code !== 'unknown_field' || known === undefined || param === '' || param.includes('.')) return fault;
  const right = describeRightField(param, known);
  return message.endsWith(right) ? fault : { ...fault, message: `${message}; ${right}` };
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
