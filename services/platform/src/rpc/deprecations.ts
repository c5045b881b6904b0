import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf';
import type { CounterRegistry } from '../metrics/metrics.ts';
import { newFieldReader, newPresenceTest } from './message-fields.ts';
import type { Fields } from './message-fields.ts';

/** The header of an answer that names the deprecated parts that its call used. */
export const DEPRECATED_HEADER = 'reelgate-deprecated';

/** Tells the caller of a deprecated use, with the value of the header, and counts it. */
export type RecordDeprecated = (request: object, record: (names: string) => void) => void;

/** Finds the paths of the deprecated fields that a message sets. */
type FindDeprecated = (message: unknown) => readonly string[];

const NOTHING: RecordDeprecated = () => undefined;

/**
 * Counts the calls that set a deprecated field or call a deprecated RPC. An RPC without deprecated parts is not slowed
 * down, because its request is not read.
 */
export function deprecations(metrics: CounterRegistry | undefined): (method: DescMethod) => RecordDeprecated {
  const uses = metrics?.counter(
    'reelgate_rpc_deprecated_total',
    'Calls that set a deprecated field, or that call a deprecated RPC (the field is empty)',
    ['rpc', 'field'],
  );
  return (method) => {
    const find = compileMessageFinder(method.input, []);
    const rpc = `${method.parent.typeName}/${method.name}`;
    if (find === undefined && !method.deprecated) return NOTHING;
    return (request, record) => {
      const fields = find?.(request) ?? [];
      if (fields.length === 0 && !method.deprecated) return;
      for (const field of method.deprecated ? ['', ...fields] : fields) uses?.labels(rpc, field).inc();
      record([...(method.deprecated ? [method.name] : []), ...fields].join(', '));
    };
  };
}

/** Returns undefined if no part of the message is deprecated. */
function compileMessageFinder(message: DescMessage, above: readonly DescMessage[]): FindDeprecated | undefined {
  if (above.includes(message)) return undefined;
  const finds = message.fields
    .map((field) => compileFieldFinder(field, [...above, message]))
    .filter((find) => find !== undefined);
  return finds.length === 0 ? undefined : (value) => finds.flatMap((find) => find(value));
}

function compileFieldFinder(field: DescField, above: readonly DescMessage[]): FindDeprecated | undefined {
  const [read, isSet] = [newFieldReader(field), newPresenceTest(field)];
  if (field.deprecated) return (message) => (isSet(read(message as Fields)) ? [field.name] : []);
  const inner = field.message && compileMessageFinder(field.message, above);
  if (inner === undefined) return undefined;
  return (message) => {
    const value = read(message as Fields);
    const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
    const paths = messages.flatMap((one) => (one === undefined ? [] : inner(one)));
    // a list names its field once, so that the label has few values
    return [...new Set(paths)].map((path) => `${field.name}.${path}`);
  };
}
