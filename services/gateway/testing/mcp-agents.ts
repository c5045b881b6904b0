import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Agent as Connections, fetch as fetchOver } from 'undici';
import { TOKEN } from './fake-services.ts';

/** The lines of the official client, with the revision that each negotiates. */
export const LINES = ['1.x', '2.x by default', '2.x'] as const;
export type Line = (typeof LINES)[number];

/** A block of the content of a result. */
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly uri?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly name?: string;
  readonly size?: number;
}

export interface ToolResult {
  readonly structuredContent: ReturnType<typeof JSON.parse>;
  readonly content: readonly Block[];
  readonly isError?: boolean;
}

export interface CallSettings {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** An agent with an official client. */
export interface Agent {
  call(name: string, args?: object, settings?: CallSettings): Promise<ToolResult>;
  list(): Promise<{ readonly tools: readonly { readonly name: string }[]; readonly [name: string]: unknown }>;
  /** The revision that the client and the server agreed upon. */
  revision(): string | undefined;
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: object;
  /** Answers a question to the user, in the revision that has it. */
  readonly answer?: (question: string) => 'accept' | 'decline' | 'cancel';
}

/** Connects a client of a line. Rejects as the client does. */
export async function connectAgent(line: Line, url: string, options: AgentOptions = {}): Promise<Agent> {
  const { token = TOKEN, headers = {}, answer } = options;
  const capabilities = { ...options.capabilities, ...(answer && { elicitation: {} }) };
  // after an aborted request the connections of `fetch` stay open for seconds
  const connections = new Connections();
  const address = new URL('/mcp', url);
  const transport = {
    requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
    fetch: ((to: string, init: object) => fetchOver(to, { ...init, dispatcher: connections })) as never,
  };
  const info = { name: 'test', version: '1' };
  if (line === '1.x') {
    const client = new OldClient(info, { capabilities });
    const connection = new OldTransport(address, transport);
    await client.connect(connection);
    return {
      call: async (name, args = {}, settings = {}) =>
        (await client.callTool({ name, arguments: { ...args } }, undefined, settings)) as unknown as ToolResult,
      list: () => client.listTools(),
      revision: () => connection.protocolVersion,
      close: async () => {
        await client.close();
        await connections.destroy();
      },
    };
  }
  const client = new NewClient(info, {
    capabilities,
    ...(line === '2.x' && { versionNegotiation: { mode: 'auto' } }),
  });
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => ({ action: answer(params.message), content: {} }));
  await client.connect(new NewTransport(address, transport));
  return {
    call: async (name, args = {}, settings = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, settings)) as unknown as ToolResult,
    list: () => client.listTools(),
    revision: () => client.getNegotiatedProtocolVersion(),
    close: async () => {
      await client.close();
      await connections.destroy();
    },
  };
}
