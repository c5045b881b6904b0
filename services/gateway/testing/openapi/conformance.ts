import type { Answer } from '../http-call.ts';
import type { ApiDocument, Operation } from './document.ts';

/** The parts of an answer that the document does not name for this operation; empty: none. */
export function departures(
  document: ApiDocument,
  { responses, method }: Operation,
  { status, headers, text, json }: Answer,
): string[] {
  const response = responses[String(status)] ?? responses[`${String(status).charAt(0)}XX`];
  if (response === undefined) return [`the status ${status} is not named: ${text.slice(0, 300)}`];
  return [...bodyFaults(), ...headerFaults()];

  function bodyFaults(): string[] {
    const type = headers['content-type']?.split(';', 1)[0];
    if (method === 'HEAD' || (text === '' && response?.content === undefined)) return [];
    const content = response?.content?.[type ?? ''];
    if (content === undefined) return [`the type ${String(type)} of ${status} is not named: ${text.slice(0, 300)}`];
    const fault = type === 'application/json' ? document.fault(content.schema, json) : undefined;
    return fault === undefined ? [] : [`the body of ${status} is another: ${fault} ${text.slice(0, 500)}`];
  }

  function headerFaults(): string[] {
    const named = response?.headers ?? {};
    const unnamed = Object.keys(headers)
      .filter((name) => document.headerNames.has(name) && !(name in named))
      .map((name) => `the header ${name} of ${status} is not named`);
    const wrong = Object.entries(named).flatMap(([name, { $ref }]) => {
      const { schema, required = false } = document.headerAt($ref);
      const value = headers[name];
      if (value === undefined) return required ? [`the header ${name} of ${status} is missing`] : [];
      const fault = document.fault(schema, schema['type'] === 'integer' ? Number(value) : value);
      return fault === undefined ? [] : [`the header ${name} of ${status} is ${String(value)}: ${fault}`];
    });
    return [...unnamed, ...wrong];
  }
}
