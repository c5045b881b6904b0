import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';
import path from 'node:path';
import { UPSTREAM_KEY } from './test-config.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const TAKE_MS = 300;

/** A submission that this upstream has accepted, and would charge. */
export interface Work {
  readonly id: string;
  /** The `[mark:…]` of the prompt, which identifies the order. */
  readonly mark: string;
  readonly order: {
    readonly model: string;
    readonly duration: number;
    readonly resolution: string;
    readonly ratio?: string;
    readonly callback_url?: string;
  };
  readonly words: Words;
  readonly bornAt: number;
  cancelled: boolean;
  /** The number of polls with a false answer. */
  spoiled: number;
  /** The number of links to its result so far. */
  links: number;
  /** The gate that it waits for, besides the time. */
  readonly gate: { open: boolean } | undefined;
}

type Words = ReadonlyMap<string, string>;

/**
 * The vendor's V2 API, steered by words in the prompt.
 *
 * The create: `[hang]` is accepted and never answered; `[reset]` is accepted, then the connection is cut; `[slow:MS]`
 * is accepted and answered late. `[throttle]` and `[throttle:SECONDS]` are refused with 429, without and with
 * Retry-After; `[error:HTTP]` is refused in the vendor's envelope; `[reject]` is refused for its content; `[base-resp]`
 * is refused inside a 200; `[html]` is answered with a page and 200, and not accepted. `[quote:HTTP]` is refused with a
 * message that quotes the credential and the prompt. With `[once]` only the first create is refused.
 *
 * The task: `[queue:MS]` is its time in the queue, `[take:MS]` its running time. With `[gate]` it runs until the gate
 * is opened, with `[fail]` it fails. `[link:dead]`, `[link:html]` and `[link:torn]` spoil its first link; each poll
 * gives a new link. `[seconds:N]` is its reported usage. `[poll:hang]`, `reset`, `html`, `throttle` and `gone` spoil
 * its first polls. A DELETE cancels a waiting task and, like the vendor's, removes a finished one.
 */
export interface ScriptedUpstream {
  /** `host:port`. */
  readonly host: string;
  /** All accepted submissions, oldest first. */
  readonly works: readonly Work[];
  /** The marks of all creates, including the refused ones. */
  readonly asked: readonly string[];
  /** Lets all tasks at the gate end. The gate is closed again for later tasks. */
  openGate(): void;
  stop(): Promise<void>;
}

export async function startScriptedUpstream(address?: string): Promise<ScriptedUpstream> {
  const works = new Map<string, Work>();
  const taken: Work[] = [];
  const asked: string[] = [];
  let gate = { open: false };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://upstream');
    if (url.pathname.startsWith('/files/')) {
      giveFile(response, works.get(url.pathname.split('/')[2] ?? ''), url.searchParams.get('link'));
      return;
    }
    if (request.headers.authorization !== `Bearer ${UPSTREAM_KEY}`) {
      refuse(response, 401, 'login fail (1004)');
      return;
    }
    if (request.method === 'DELETE') cancel(response, url.pathname.slice('/v2/video_generation/'.length));
    else if (request.method === 'POST') create(request, response, await bodyOf(request));
    else if (url.pathname === '/v2/query/video_generation') send(response, 200, listed(url.searchParams));
    else query(response, url.pathname.slice('/v2/query/video_generation/'.length));
  };
  const create = (request: IncomingMessage, response: ServerResponse, body: Body): void => {
    const words = wordsOf(body);
    const mark = words.get('mark') ?? '';
    const again = asked.includes(mark);
    asked.push(mark);
    if (words.has('quote')) {
      const said = body.content.map(({ text = '' }) => text).join(' ');
      refuse(response, Number(words.get('quote')), `key ${String(request.headers.authorization)} for "${said}"`);
      return;
    }
    if (!(again && words.has('once')) && refused(response, words)) return;
    const id = `77${String(Date.now()).slice(-8)}${String(taken.length).padStart(5, '0')}`;
    const work: Work = {
      id,
      mark,
      order: body,
      words,
      bornAt: Date.now(),
      cancelled: false,
      spoiled: 0,
      links: 0,
      gate: words.has('gate') ? gate : undefined,
    };
    works.set(id, work);
    taken.push(work);
    if (words.has('reset')) request.socket.destroy();
    else if (!words.has('hang'))
      setTimeout(
        () => {
          send(response, 200, { task_id: id });
        },
        Number(words.get('slow') ?? 0),
      ).unref();
  };
  const cancel = (response: ServerResponse, id: string): void => {
    const work = works.get(id);
    const status = work === undefined ? 'gone' : statusOf(work);
    if (work !== undefined && status === 'queued') work.cancelled = true;
    else if (status === 'succeeded' || status === 'failed') works.delete(id);
    else {
      refuse(response, 400, `a ${status} task cannot be cancelled (2013)`);
      return;
    }
    const action = status === 'queued' ? 'cancelled' : 'deleted';
    send(response, 200, { task_id: id, action, status: action });
  };
  const query = (response: ServerResponse, id: string): void => {
    const work = works.get(id);
    if (work === undefined) refuse(response, 400, 'invalid params, invalid task_id (2013)');
    else if (!spoiled(response, work)) send(response, 200, { task: shown(work) });
  };
  const listed = (asking: URLSearchParams): object => {
    const [page, size] = [Number(asking.get('page_num') ?? 1), Number(asking.get('page_size') ?? 20)];
    return {
      items: taken
        .toReversed()
        .slice((page - 1) * size, page * size)
        .map(shown),
      total: taken.length,
    };
  };
  const shown = (work: Work): object => {
    if (statusOf(work) !== 'succeeded') return seen(work);
    work.links += 1;
    return { ...seen(work), content: { url: `http://${host}/files/${work.id}/video.mp4?link=${work.links}` } };
  };

  const { host, stop } = await startTestServer((request, response) => {
    void answer(request, response).catch(() => request.socket.destroy());
  }, address);
  return {
    host,
    works: taken,
    asked,
    openGate: () => {
      gate.open = true;
      gate = { open: false };
    },
    stop,
  };
}

/** The seconds that the task reports as its usage. */
export function secondsOf({ words, order }: Work): number {
  return Number(words.get('seconds') ?? order.duration);
}

function statusOf({
  words,
  bornAt,
  cancelled,
  gate,
}: Work): 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' {
  if (cancelled) return 'cancelled';
  const age = Date.now() - bornAt - Number(words.get('queue') ?? 0);
  if (age < 0) return 'queued';
  if (age < Number(words.get('take') ?? TAKE_MS) || gate?.open === false) return 'running';
  return words.has('fail') ? 'failed' : 'succeeded';
}

const BAD_FILES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  dead: (response) => {
    response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>');
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' }).end('<html>sign in</html>');
  },
  torn: (response) => {
    response
      .writeHead(200, { 'content-type': 'video/mp4', 'content-length': VIDEO.length })
      .write(VIDEO.subarray(0, VIDEO.length / 2), () => response.destroy());
  },
};

function giveFile(response: ServerResponse, work: Work | undefined, link: string | null): void {
  const bad = link === '1' ? BAD_FILES[work?.words.get('link') ?? ''] : undefined;
  if (bad === undefined)
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': VIDEO.length }).end(VIDEO);
  else bad(response);
}

const SPOILED_POLLS = 2;
const SPOILERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  hang: () => undefined,
  reset: (response) => {
    response.destroy();
  },
  html: (response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html>a page</html>');
  },
  throttle: (response) => {
    refuse(response, 429, 'rate limit (1002)');
  },
  gone: (response) => {
    refuse(response, 400, 'invalid params, invalid task_id (2013)');
  },
};

/** Answers a poll that the words spoil. Returns whether it did. */
function spoiled(response: ServerResponse, work: Work): boolean {
  const spoil = SPOILERS[work.words.get('poll') ?? ''];
  if (spoil === undefined || work.spoiled >= SPOILED_POLLS) return false;
  work.spoiled += 1;
  spoil(response);
  return true;
}

function seen(work: Work): object {
  const { id, order, bornAt } = work;
  const status = statusOf(work);
  return {
    id,
    model: order.model,
    status,
    task_type: 'generation',
    modality: 'video',
    resolution: order.resolution,
    duration: order.duration,
    ratio: order.ratio ?? '16:9',
    created_at: Math.floor(bornAt / 1000),
    updated_at: Math.floor(Date.now() / 1000),
    usage: status === 'succeeded' ? { total_seconds: secondsOf(work), output_seconds: secondsOf(work) } : {},
    ...(status === 'failed' ? { error: { code: '1027', message: 'output contains sensitive content' } } : {}),
  };
}

/** Answers a create that the words refuse. Returns whether it did. */
function refused(response: ServerResponse, words: Words): boolean {
  const error = words.get('error');
  const wait = words.get('throttle');
  if (wait !== undefined) refuse(response, 429, 'rate limit (1002)', wait === '' ? {} : { 'retry-after': wait });
  else if (error !== undefined) refuse(response, Number(error), 'internal error (1000)');
  else if (words.has('reject')) refuse(response, 422, 'input contains sensitive content (1026)');
  else if (words.has('base-resp'))
    send(response, 200, { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } });
  else if (words.has('html')) response.writeHead(200, { 'content-type': 'text/html' }).end('<html>a page</html>');
  else return false;
  return true;
}

type Body = Work['order'] & { readonly content: readonly { readonly type: string; readonly text?: string }[] };

function wordsOf({ content }: Body): Words {
  const text = content.map((item) => item.text ?? '').join('\n');
  return new Map([...text.matchAll(/\[([a-z-]+)(?::([^\]]*))?\]/g)].map(([, name = '', value = '']) => [name, value]));
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  return JSON.parse((await readWhole(request)).toString()) as Body;
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(
    response,
    status,
    { type: 'error', error: { type: 'server_error', message, http_code: String(status) }, request_id: 'r' },
    headers,
  );
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
