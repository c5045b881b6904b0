import type { Faults } from './faults.ts';
import type { RelayedCalls, ReportedUsage } from './relayed-calls.ts';
import type { AnswerRequest, UpstreamAnswer, UpstreamRequest } from './simulated-pool.ts';
import type { UpstreamWorks, Work, WorkState } from './upstream-works.ts';

export const ALPHA = {
  ...{ origin: 'https://alpha.example', account: 'alpha-account' },
  models: { 'Simulated-V1': 'alpha-model-1', 'Alpha-H3': 'alpha-model-2' },
};
export const KLING = {
  ...{ origin: 'https://kling.example', account: 'kling-account' },
  models: { 'Simulated-V1': 'kling-3.0' },
};
export const CHAT = {
  ...{ origin: 'https://chat.example', account: 'chat-account' },
  models: { 'simulated-chat': 'chat-model-1' },
};

const FAULTY_SUBMITS = 0.06;
const PAGES = 0.02;
const PAGE: UpstreamAnswer = { status: 200, text: '<html><body>Please sign in</body></html>' };
const THROTTLED = { status: 429, headers: { 'retry-after': '1' } };
const LIST_PAGE = 20;
/** The length of every reference video. */
export const REFERENCE_SECONDS = 4;

interface HostOptions {
  readonly works: UpstreamWorks;
  readonly relayed: RelayedCalls;
  readonly faults: Faults;
}

const json = (status: number, body: object): UpstreamAnswer => ({ status, text: JSON.stringify(body) });
const readObject = (value: unknown): Readonly<Record<string, unknown>> => value as Readonly<Record<string, unknown>>;

/** The upstreams, by their origins. */
export function simulatedUpstreams(options: HostOptions): ReadonlyMap<string, AnswerRequest> {
  return new Map([
    [ALPHA.origin, withPages(options, answerAlpha)],
    [KLING.origin, withPages(options, answerKling)],
    [CHAT.origin, withPages(options, answerChat)],
  ]);
}

type Answer = (options: HostOptions, request: UpstreamRequest, name: string) => UpstreamAnswer;

/** Something between the product and the upstream now and then answers with a page of its own. */
function withPages(options: HostOptions, answer: Answer): AnswerRequest {
  return (request, name) => {
    const answered = answer(options, request, name);
    return options.faults.happens('page instead of JSON', name, PAGES) ? PAGE : answered;
  };
}

/** The words of alpha-v2 for the states. */
const ALPHA_WORDS: Readonly<Record<WorkState, string>> = {
  queued: 'queued',
  running: 'running',
  pondering: 'pondering',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  lost: 'lost',
};

function answerAlpha(options: HostOptions, request: UpstreamRequest, name: string): UpstreamAnswer {
  const { works } = options;
  const { pathname, searchParams } = new URL(request.path, ALPHA.origin);
  if (request.method === 'POST') return submitToAlpha(options, request, name);
  const id = pathname.split('/').at(-1) ?? '';
  if (request.method === 'DELETE') return cancelAtAlpha(works, id);
  if (id !== 'video_generation') {
    const work = works.find(ALPHA.account, id);
    return work === undefined
      ? refuseByAlpha(400, 'invalid params, invalid task_id (2013)')
      : json(200, { task: showAlphaWork(works, work) });
  }
  const all = works.list(ALPHA.account);
  const page = Number(searchParams.get('page_num') ?? 1);
  const size = Number(searchParams.get('page_size') ?? LIST_PAGE);
  const items = all.slice((page - 1) * size, page * size).map((work) => showAlphaWork(works, work));
  return json(200, { items, total: all.length });
}

interface AlphaOrder {
  readonly model: string;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly duration?: number;
  readonly resolution: string;
  readonly ratio?: string;
  readonly source_task_id?: string;
  readonly callback_url?: string;
}

function submitToAlpha({ works, faults }: HostOptions, { body }: UpstreamRequest, name: string): UpstreamAnswer {
  if (faults.happens('throttle', name, FAULTY_SUBMITS))
    return { ...refuseByAlpha(429, 'rate limit (1002)'), ...THROTTLED };
  if (faults.happens('content refusal', name, FAULTY_SUBMITS)) return refuseByAlpha(422, 'input new_sensitive (1026)');
  const { content = [], duration, resolution, ratio, model, callback_url, source_task_id } = body as AlphaOrder;
  const text = content.find((item) => item.text !== undefined);
  const source = source_task_id === undefined ? undefined : works.find(ALPHA.account, source_task_id);
  const { id } = works.accept({
    account: ALPHA.account,
    prompt: text?.text ?? '',
    ...{ model, resolution },
    duration: duration ?? source?.duration ?? 0,
    ratio: ratio ?? source?.ratio ?? '',
    key: undefined,
    source,
    callbackUrl: callback_url,
    inputSeconds: content.filter(({ type }) => type === 'video_url').length * REFERENCE_SECONDS,
    hasUsage: true,
  });
  return json(200, { task_id: id });
}

function cancelAtAlpha(works: UpstreamWorks, id: string): UpstreamAnswer {
  const work = works.find(ALPHA.account, id);
  if (work === undefined || works.readState(work) !== 'queued')
    return refuseByAlpha(400, 'a task that is not queued cannot be cancelled (2013)');
  work.isCancelled = true;
  return json(200, { task_id: id, action: 'cancelled', status: 'cancelled' });
}

function refuseByAlpha(status: number, message: string): UpstreamAnswer {
  return json(status, { type: 'error', error: { type: 'refused', message } });
}

function showAlphaWork(works: UpstreamWorks, work: Work): object {
  const state = works.readState(work);
  const hasSucceeded = state === 'succeeded';
  return {
    id: work.id,
    model: work.model,
    status: ALPHA_WORDS[state],
    task_type: work.source === undefined ? 'generation' : 'regeneration',
    resolution: work.resolution,
    duration: work.duration,
    ratio: work.ratio,
    created_at: Math.floor(work.createdAt / 1000),
    usage: hasSucceeded
      ? { total_seconds: work.usedSeconds, input_seconds: work.inputSeconds, output_seconds: work.duration }
      : {},
    ...(hasSucceeded ? { content: { url: works.takeUrl(work) } } : {}),
    ...(state === 'failed' ? { error: { code: '1027', message: 'output contains sensitive content' } } : {}),
  };
}

/** The words of Kling for the states. It has no cancellation. */
const KLING_WORDS: Readonly<Record<WorkState, string>> = {
  ...ALPHA_WORDS,
  queued: 'submitted',
  running: 'processing',
};

function answerKling(options: HostOptions, request: UpstreamRequest, name: string): UpstreamAnswer {
  if (request.method === 'POST') return submitToKling(options, request, name);
  const { works } = options;
  const { searchParams } = new URL(request.path, KLING.origin);
  const ids = (searchParams.get('task_ids') ?? '').split(',');
  const keys = (searchParams.get('external_task_ids') ?? '').split(',');
  const found = [
    ...ids.map((id) => works.find(KLING.account, id)),
    ...keys.map((key) => works.findByKey(KLING.account, key)),
  ].filter((work) => work !== undefined);
  return json(200, { code: 0, message: 'SUCCEED', data: found.map((work) => showKlingWork(works, work)) });
}

interface KlingOrder {
  readonly prompt?: string;
  readonly contents?: readonly { readonly type: string; readonly text?: string }[];
  readonly settings: { readonly resolution: string; readonly aspect_ratio?: string; readonly duration: number };
  readonly options: { readonly external_task_id: string };
}

function submitToKling({ works, faults }: HostOptions, { path, body }: UpstreamRequest, name: string): UpstreamAnswer {
  if (faults.happens('throttle', name, FAULTY_SUBMITS))
    return { ...json(429, { code: 1302, message: 'too many requests' }), ...THROTTLED };
  if (faults.happens('content refusal', name, FAULTY_SUBMITS))
    return json(400, { code: 1301, message: 'failure of the risk control' });
  const { prompt, contents = [], settings, options } = body as KlingOrder;
  const words = contents.find(({ type }) => type === 'prompt');
  const { resolution, aspect_ratio: ratio = '', duration } = settings;
  const work = works.accept({
    account: KLING.account,
    prompt: prompt ?? words?.text ?? '',
    model: path.split('/').at(-1) ?? '',
    ...{ duration, resolution, ratio },
    key: options.external_task_id,
    source: undefined,
    callbackUrl: undefined,
    inputSeconds: 0,
    hasUsage: false,
  });
  return json(200, { code: 0, message: 'SUCCEED', data: { id: work.id, status: 'submitted' } });
}

function showKlingWork(works: UpstreamWorks, work: Work): object {
  const state = works.readState(work);
  return {
    id: work.id,
    external_id: work.key,
    status: KLING_WORDS[state],
    message: state === 'failed' ? 'the generator failed' : '',
    outputs:
      state === 'succeeded' ? [{ type: 'video', url: works.takeUrl(work), duration: String(work.duration) }] : [],
  };
}

const CALL_MARK = /\[(call-\d+)\]/;
const CHAT_WORDS = ['Foxes', ' are', ' small', ' to', ' medium', ' sized'];

/** A relayed call, which is answered at once or word by word. */
function answerChat({ faults, relayed }: HostOptions, { body }: UpstreamRequest, name: string): UpstreamAnswer {
  if (faults.happens('throttle', name, FAULTY_SUBMITS))
    return { ...json(429, { error: { message: 'too many requests', type: 'requests', code: null } }), ...THROTTLED };
  const { model, stream } = readObject(body);
  const call = relayed.accept(CALL_MARK.exec(JSON.stringify(body))?.[1] ?? '');
  const { answerMs } = call;
  const usage = describeUsage(call);
  const head = { id: 'chatcmpl-1', created: 1, model };
  if (stream !== true)
    return {
      ...json(200, {
        ...{ ...head, object: 'chat.completion', usage },
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: CHAT_WORDS.join('') } }],
      }),
      ...{ headers: JSON_TYPE, answerMs },
    };
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`;
  const parts = [
    ...CHAT_WORDS.map((content) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ];
  return { status: 200, text: parts.join(''), parts, headers: { 'content-type': 'text/event-stream' }, answerMs };
}

function describeUsage({ inputTokens, outputTokens }: ReportedUsage): object {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

const JSON_TYPE = { 'content-type': 'application/json' };
