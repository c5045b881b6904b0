import type { IncomingMessage } from 'node:http';
import { readWhole } from '@reelgate/platform/testing/test-server';

/** The fields of a request as servers built with FastAPI see them: a form has texts and files, JSON has any value. */
export interface ReadFields {
  readonly body: 'form' | 'json' | 'other';
  readonly fields: Readonly<Record<string, unknown>>;
}

export async function readFields(request: IncomingMessage): Promise<ReadFields> {
  const body = await readWhole(request);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    return { body: 'form', fields: Object.fromEntries(form) };
  }
  if (!type.startsWith('application/json')) return { body: 'other', fields: {} };
  return { body: 'json', fields: JSON.parse(body.toString()) as Readonly<Record<string, unknown>> };
}
