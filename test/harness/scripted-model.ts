import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

/** The next turn of a model: a call of a tool, or the last words. */
type Turn = { readonly tool: string; readonly args: object } | { readonly text: string };

/** Chooses the next turn by what the tools answered so far. */
type Decide = (results: readonly string[], isStrict: boolean) => Turn;

/** A model that makes a video with the tools that it is given, as the APIs of OpenAI and Gemini. */
export interface ScriptedModel {
  readonly url: string;
  /** The answers of the tools, oldest first, as the model read them. */
  readonly answers: readonly string[];
  stop(): Promise<void>;
}

/** Clients of OpenAI in strict mode make a model fill every argument. Those of Gemini check the types themselves. */
const NOT_MEANT = { seconds: null, resolution: '', ratio: null, media: [], source_id: '' };

/** Starts a model. It quotes, orders once, waits until the video is done, and says the link. */
export async function startScriptedModel(prompt: string): Promise<ScriptedModel> {
  const answers: string[] = [];
  const key = randomUUID();
  const decide: Decide = (results, isStrict) => {
    const order = { model: 'Alpha-H3', prompt, ...(isStrict && NOT_MEANT) };
    const last = results.at(-1);
    if (last === undefined) return { tool: 'video_quote', args: order };
    answers.push(last);
    const bound = {
      ...{ currency: 'USD', idempotency_key: key },
      ...(isStrict ? { max_amount: 1, label: null } : { max_amount: '1' }),
    };
    if (results.length === 1) return { tool: 'video_create', args: { ...order, ...bound } };
    const id = /task_\w+/.exec(results.join(' '))?.[0];
    if (/\\*"done\\*":\s*true/.test(last)) return { text: `The link is ${/https?:[^"\\\s]+/.exec(last)?.[0]}` };
    return id === undefined
      ? { text: `Failed: ${last}` }
      : { tool: 'video_wait', args: { id, ...(isStrict && { seconds: null }) } };
  };
  const server = http.createServer((request, response) => {
    void readJson(request).then((body) => {
      const [answer, type] = answerAs(request.url ?? '', body, decide);
      response.writeHead(200, { 'content-type': type });
      response.end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    answers,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface ModelRequest {
  readonly model?: string;
  readonly input?: readonly { readonly type?: string; readonly output?: unknown }[];
  readonly contents?: readonly {
    readonly parts?: readonly { readonly functionResponse?: { readonly response: unknown } }[];
  }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
}

async function readJson(request: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as ModelRequest;
}

function answerAs(path: string, body: ModelRequest, decide: Decide): readonly [body: string, type: string] {
  if (path.includes('countTokens')) return [JSON.stringify({ totalTokens: 1 }), 'application/json'];
  if (path.includes(':streamGenerateContent'))
    return [`data: ${JSON.stringify(answerAsGemini(body, decide))}\n\n`, 'text/event-stream'];
  if (path.includes(':generateContent')) return [JSON.stringify(answerAsGemini(body, decide)), 'application/json'];
  return [JSON.stringify(answerAsOpenai(body, decide)), 'application/json'];
}

/** Gemini CLI puts the name of the server before that of a tool. Without tools it asks about something else. */
function answerAsGemini({ contents = [], tools = [] }: ModelRequest, decide: Decide): object {
  const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name));
  const isMaking = names.some((name) => name.endsWith('video_create'));
  const results = contents
    .flatMap(({ parts = [] }) => parts)
    .flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)],
    );
  const turn: Turn = isMaking ? decide(results, false) : { text: '{}' };
  const part =
    'text' in turn
      ? { text: turn.text }
      : { functionCall: { name: names.find((name) => name.endsWith(turn.tool)), args: turn.args } };
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

function answerAsOpenai({ model, input = [] }: ModelRequest, decide: Decide): object {
  const results = input.flatMap(({ type, output }) =>
    type === 'function_call_output' ? [JSON.stringify(output)] : [],
  );
  const turn = decide(results, true);
  const at = results.length;
  const item =
    'text' in turn
      ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.text, annotations: [] }] }
      : { type: 'function_call', call_id: `call_${at}`, name: turn.tool, arguments: JSON.stringify(turn.args) };
  return {
    ...{ id: `resp_${at}`, object: 'response', created_at: 1, status: 'completed', model },
    ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [] },
    output: [{ id: `item_${at}`, status: 'completed', ...item }],
    usage: {
      ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}
