import type { IncomingHttpHeaders } from 'node:http';
import { Words } from './words.ts';

/** A received request, byte for byte. */
export interface Received {
  /** The first segment of the path: the channels of a test share one upstream. */
  readonly channel: string;
  readonly method: string;
  /** The path after the channel's segment, and the query with its `?`, both unchanged. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The parsed body if it is JSON. The tests say what they expect of it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a body of any vendor, compared by matchers
  readonly json: any;
  readonly words: Words;
  /** The model of the request, from the path, the body or the form. */
  readonly model: string;
  /** The bytes of the answer that the client has read so far. */
  sent: number;
  /** Whether the client disconnected before the answer was complete. */
  left: boolean;
  /** Whether the answer has ended. */
  over: boolean;
}

export interface Head {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

const MODEL_IN_PATH = /\/models\/([^/:]+):/;
const MODEL_IN_FORM = /name="model"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)\r\n/;

export function received({ method, url, headers, rawHeaders }: Head, body: Buffer): Received {
  const [target, query] = splitOnce(url, '?');
  const [, channel = '', path = '/'] = /^\/([^/]+)(\/.*)?$/.exec(target) ?? [];
  const json = parsed(body);
  return {
    channel,
    method,
    path,
    query: query === undefined ? '' : `?${query}`,
    headers,
    rawHeaders,
    body,
    json,
    words: new Words(`${body.toString('latin1')}${decodeURIComponent(query ?? '')}`, channel),
    model: modelOf(path, query ?? '', body, json),
    sent: 0,
    left: false,
    over: false,
  };
}

function modelOf(path: string, query: string, body: Buffer, json: unknown): string {
  const inBody = (json as { model?: unknown } | undefined)?.model;
  if (typeof inBody === 'string') return inBody;
  return (
    MODEL_IN_PATH.exec(path)?.[1] ??
    MODEL_IN_FORM.exec(body.toString('latin1'))?.[1] ??
    new URLSearchParams(query).get('model') ??
    ''
  );
}

function splitOnce(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}
