import type { classifyInboundRequest } from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { dropUndefined } from '../dialects/wire/task-fields.ts';
import type { McpTool, RequestCall, ShowProgress } from './mcp-tool.ts';

const PROGRESS_TOTAL = 100;

/** Sends a notification of progress. */
export type TellProgress = (notification: object) => void;

interface WaitDeps {
  readonly sdk: { readonly classifyInboundRequest: typeof classifyInboundRequest };
  readonly tools: ReadonlyMap<string, McpTool>;
}

interface CallWait {
  readonly headers: IncomingHttpHeaders;
  readonly message: object;
  readonly call: RequestCall;
  readonly tell: TellProgress;
}

/** The part of a message that says whether and how a call waits. Nothing of it is checked yet. */
interface CallMessage {
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly arguments?: unknown;
    readonly _meta?: { readonly progressToken?: unknown };
  };
}

/** Waits if the message calls a tool that waits. A message that will be refused, and a wait that is refused, is over. */
export async function waitForCall(deps: WaitDeps, { headers, message, call, tell }: CallWait): Promise<void> {
  const { method, params } = message as CallMessage;
  const tool = method === 'tools/call' ? deps.tools.get(String(params?.name)) : undefined;
  if (tool?.wait === undefined || isRejected(deps, headers, message)) return;
  try {
    await tool.wait(params?.arguments, call, progressTeller(params?._meta?.progressToken, tell));
  } catch {
    // the run of the tool is refused for the same reason, and says it
  }
}

function isRejected({ sdk }: WaitDeps, headers: IncomingHttpHeaders, body: object): boolean {
  const read = (name: string): string | undefined => [headers[name]].flat()[0];
  const request = {
    httpMethod: 'POST',
    protocolVersionHeader: read('mcp-protocol-version'),
    mcpMethodHeader: read('mcp-method'),
    mcpNameHeader: read('mcp-name'),
    body,
  };
  return sdk.classifyInboundRequest(dropUndefined(request)).kind === 'reject';
}

/** Tells the first percentage and every larger one; undefined if the client does not ask. */
function progressTeller(progressToken: unknown, tell: TellProgress): ShowProgress | undefined {
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return undefined;
  let told = -1;
  return (progress) => {
    if (progress <= told) return;
    told = progress;
    tell({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress, total: PROGRESS_TOTAL },
    });
  };
}
