import { invalid, bodyValidator } from '../../dialects/wire/body-validator.ts';

const REASON_MAX = 500;

export const REASON_SCHEMA = { type: 'string', maxLength: REASON_MAX } as const;

/** Reads the reason for an operator's act, for the record. */
export function readReason({ reason }: { readonly reason: string }): string {
  const text = reason.trim();
  if (text === '' || text.includes('\0'))
    throw invalid(
      'reason',
      `must have 1 to ${REASON_MAX} characters, one of them visible, and no zero character`,
      'invalid_request',
    );
  return text;
}

/** The body of an act that needs a reason and nothing else. */
export const reasonBody = bodyValidator<{ readonly reason: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['reason'],
  properties: { reason: REASON_SCHEMA },
});
