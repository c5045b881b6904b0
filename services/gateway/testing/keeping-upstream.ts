import { randomBytes } from 'node:crypto';
import { json, startRelayUpstream } from './scripted-relay-upstream.ts';
import type { RelayUpstream, Reply } from './scripted-relay-upstream.ts';

/** An account of an upstream that keeps what it answers, and knows no id of another account. */
export interface KeepingUpstream extends RelayUpstream {
  /** The ids and the encrypted contents of its answers. */
  readonly kept: ReadonlySet<string>;
  /** Its answers, unless a test has scripted others. */
  readonly keepingReply: Reply;
  /** Adds what the operator has put there. */
  keep(id: string): void;
}

type Body = Readonly<Record<string, ReturnType<typeof JSON.parse>>>;

export async function startKeepingUpstream(): Promise<KeepingUpstream> {
  const kept = new Set<string>();
  const keep = (id: string): string => {
    kept.add(id);
    return id;
  };
  const make = (prefix: string): string => keep(`${prefix}_${randomBytes(24).toString('hex')}`);
  const answerTo = (path: string, body: Body): { readonly whole: Body; readonly events: readonly Body[] } =>
    path.endsWith('/messages')
      ? aMessage(make, body)
      : path.endsWith('/responses')
        ? aResponse(make, body)
        : aChat(make);
  const reply: Reply = (request, response) => {
    const body = JSON.parse(request.body.toString()) as Body;
    const unknown = listNamed(body).find((id) => !kept.has(id));
    if (unknown !== undefined) {
      const message = `'${unknown}' was not found; rs_${'0'.repeat(48)} neither`;
      json({ error: { message, type: 'invalid_request_error', param: null, code: 'not_found' } }, 400)(
        request,
        response,
      );
      return;
    }
    const { whole, events } = answerTo(request.url, body);
    if (body['stream'] !== true) {
      json(whole)(request, response);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const frames = events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`);
    const isChat = request.url.endsWith('/completions');
    response.end(isChat ? `${frames.join('').replaceAll(/event: .*\n/g, '')}data: [DONE]\n\n` : frames.join(''));
  };
  const upstream = await startRelayUpstream(reply);
  return Object.assign(upstream, { kept, keepingReply: reply, keep: (id: string) => void keep(id) });
}

/** The ids of a request that this upstream looks up. */
function listNamed(body: Body): readonly string[] {
  const items = (Array.isArray(body['input']) ? body['input'] : []) as readonly Body[];
  const messages = (body['messages'] ?? []) as readonly Body[];
  const parts = [...items, ...messages].flatMap(({ content }) => (Array.isArray(content) ? (content as Body[]) : []));
  const { conversation, container } = body;
  return [
    ...[body['previous_response_id'], conversation?.id ?? conversation, container?.id ?? container],
    ...[body['thread']?.previous_message_id, body['prompt']?.id],
    ...items.flatMap((item) => [
      item['type'] === 'item_reference' || item['type'] === 'reasoning' ? item['id'] : undefined,
      item['encrypted_content'],
      item['container_id'],
    ]),
    ...parts.flatMap(({ file_id: id, file, source }) => [id, file?.file_id, source?.file_id]),
    ...messages.map(({ audio }) => audio?.id),
    ...((body['tools'] ?? []) as readonly Body[]).flatMap(({ vector_store_ids: ids = [], container: of }) => [
      ...ids,
      of,
    ]),
  ].filter((id): id is string => typeof id === 'string');
}

type Make = (prefix: string) => string;

function aResponse(make: Make, body: Body): { readonly whole: Body; readonly events: readonly Body[] } {
  const message = {
    type: 'message',
    id: make('msg'),
    role: 'assistant',
    status: 'completed',
    content: [
      { type: 'output_text', text: 'made', annotations: [{ file_id: make('cfile'), container_id: make('cntr') }] },
    ],
  };
  const output = [
    { type: 'reasoning', id: make('rs'), summary: [], encrypted_content: make('gAAAA') },
    { type: 'code_interpreter_call', id: make('ci'), code: '1', container_id: make('cntr') },
    message,
  ];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const whole = {
    id: make('resp'),
    object: 'response',
    status: 'completed',
    previous_response_id: body['previous_response_id'] ?? null,
    conversation: { id: make('conv') },
    metadata: body['metadata'] ?? {},
    output,
    usage,
  };
  const of = { item_id: message.id, output_index: 2 };
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
    ...output.map((item, at) => ({ type: 'response.output_item.added', output_index: at, item })),
    { type: 'response.output_text.delta', ...of, content_index: 0, delta: 'made' },
    ...output.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
    { type: 'response.completed', response: whole },
  ];
  return { whole, events };
}

function aMessage(make: Make, _body: Body): { readonly whole: Body; readonly events: readonly Body[] } {
  const container = { id: make('container'), expires_at: '2030-01-01T00:00:00Z' };
  const content = [
    { type: 'bash_code_execution_tool_result', content: { content: [{ type: 'output', file_id: make('file') }] } },
    { type: 'text', text: 'made' },
  ];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const whole = {
    id: make('msg'),
    type: 'message',
    role: 'assistant',
    container,
    content,
    stop_reason: 'end_turn',
    usage,
  };
  const events = [
    { type: 'message_start', message: { ...whole, content: [], container: null } },
    { type: 'content_block_start', index: 0, content_block: content[0] },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'made' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', container }, usage },
    { type: 'message_stop' },
  ];
  return { whole, events };
}

function aChat(make: Make): { readonly whole: Body; readonly events: readonly Body[] } {
  const audio = { id: make('audio'), data: 'AAAA', transcript: 'made', expires_at: 1 };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const whole = {
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', audio }, finish_reason: 'stop' }],
    usage,
  };
  const events = [
    { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', audio } }] },
    { id: 'c', choices: [{ index: 0, delta: { content: 'made' }, finish_reason: 'stop' }], usage },
  ];
  return { whole, events };
}
