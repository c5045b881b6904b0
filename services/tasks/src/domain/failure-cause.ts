/**
 * The cause of the refusal of a create or of the failure of a task: the client's request, an upstream, or this installation
 * with its operators.
 */
export type Cause = 'client' | 'upstream' | 'us';

/** Codes of this service and of upstreams that blame the order: its content, its media or its parameters. */
const OF_ORDER: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'invalid_media',
  'invalid_request',
  'invalid_request_error',
  // of the vendor of Alpha: content of the input, content of the result, parameters
  '1026',
  '1027',
  '1042',
  '2013',
]);
/** Parts of codes that mean a moderation, or a parameter of the order. */
const ORDER_WORDS =
  /sensitive|moderat|risk_?detect|copyright|(^|\.)safety(\.|$)|content_(filter|policy|rejected)|^(invalid|missing)_?parameter|^asset\.invalid/i;

/** Tells from the code that an upstream gave what caused the failure of a task. An unknown code blames the upstream. */
export function classifyFailure(code = ''): Cause {
  return OF_ORDER.has(code) || ORDER_WORDS.test(code) ? 'client' : 'upstream';
}
