import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { isProblem } from '@reelgate/platform/problem';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { TestConfig } from './test-config.ts';

/** A message of WatchTask or WatchTasks. */
export interface WatchMessage {
  readonly task?: Task | undefined;
  readonly cursor: string;
}

export interface WatchClient {
  watchTask(
    request: { accountId: string; taskId: string; cursor?: string },
    signal?: AbortSignal,
  ): AsyncIterable<WatchMessage>;
  watchTasks(
    request: { accountId: string; states?: TaskState[]; cursor?: string },
    signal?: AbortSignal,
  ): AsyncIterable<WatchMessage>;
  close(): void;
}

export const PROTOCOLS = ['gRPC', 'Connect', 'gRPC-web'] as const;

/** A client of the tasks service. `at` names another gRPC port than that of the configuration. */
export function watchClient(
  protocol: (typeof PROTOCOLS)[number],
  { tasks: { listen, http } }: Pick<TestConfig, 'tasks'>,
  { key, at = listen }: { readonly key: string; readonly at?: string },
): WatchClient {
  if (protocol === 'gRPC') {
    const connection = connectGrpc(at, new Secret(key));
    const client = connection.client(TaskService);
    return {
      watchTask: (request, signal) => client.watchTask(request, { signal }),
      watchTasks: (request, signal) => client.watchTasks(request, { signal }),
      close: () => {
        connection.close();
      },
    };
  }
  const options = { baseUrl: `http://${http}`, httpVersion: '1.1' as const };
  const transport: Transport =
    protocol === 'Connect' ? createConnectTransport(options) : createGrpcWebTransport(options);
  const client = createClient(TaskService, transport);
  const headers = { authorization: `Bearer ${key}` };
  const withSignal = (signal: AbortSignal | undefined) => ({ headers, ...(signal === undefined ? {} : { signal }) });
  return {
    watchTask: (request, signal) => client.watchTask(request, withSignal(signal)),
    watchTasks: (request, signal) => client.watchTasks(request, withSignal(signal)),
    close: () => undefined,
  };
}

/** Whether the end of a stream says that the caller should call again with its cursor. */
export function mayResume(error: unknown): boolean {
  if (error instanceof ConnectError) return error.code !== Code.NotFound && error.code !== Code.InvalidArgument;
  return isProblem(error) && error.kind === 'unavailable';
}

/**
 * What a caller that follows its tasks has learned: the last version of each, and whether one was older than before.
 */
export class Followed {
  readonly tasks = new Map<string, Task>();
  readonly backwards: string[] = [];
  readonly states: string[] = [];
  cursor = '';
  heartbeats = 0;

  note({ task, cursor }: WatchMessage): void {
    this.cursor = cursor;
    if (task === undefined) {
      this.heartbeats += 1;
      return;
    }
    const before = this.tasks.get(task.id);
    if (before !== undefined && versionOf(task) < versionOf(before)) this.backwards.push(task.id);
    this.tasks.set(task.id, task);
    const state = TaskState[task.state];
    if (this.states.at(-1) !== state) this.states.push(state);
  }
}

function versionOf({ updatedAt }: Task): number {
  return updatedAt === undefined ? 0 : timestampMs(updatedAt);
}
