import { create } from '@bufbuild/protobuf';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import type {
  Server,
  ServerUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
  sendUnaryData,
} from '@grpc/grpc-js';
import type { Readiness, ReadyCheck } from '../../lifecycle/readiness.ts';
import { toServiceDefinition } from './definition.ts';
import { HealthStatus, healthService } from './health-descriptor.ts';

const POLL_EVERY_MS = 1000;
const READY_TIMEOUT_MS = 2000;
/** A probe needs no stream. A client that balances by health needs one per connection. */
const WATCHES_MAX = 256;

/** The answer of a server to health checks. */
export interface ServingStatus {
  /**
   * Reports `NOT_SERVING` from now on, and ends the watching streams, because a stopping server would wait for them.
   */
  close(): void;
}

interface Request {
  readonly service: string;
}
type Watch = ServerWritableStream<Request, Message>;

const { check, list } = healthService.method as Readonly<Record<'check' | 'list', DescMethod>>;

/**
 * Answers `grpc.health.v1` for each service and, under an empty name, for the server, and keeps the answer current. The
 * implementation in `grpc-health-check` keeps a watcher for every name in a request and never ends one.
 */
export async function serveStatus(
  server: Server,
  services: readonly string[],
  readiness: Readiness,
): Promise<ServingStatus> {
  const names = new Set(['', ...services]);
  const watches = new Set<Watch>();
  let serves = false;
  const answer = (): Message => toCheckResponse(serves ? 'SERVING' : 'NOT_SERVING');
  const answerFor = ({ request: { service } }: Watch): Message =>
    names.has(service) ? answer() : toCheckResponse('SERVICE_UNKNOWN');
  server.addService(toServiceDefinition(healthService), healthMethods(names, watches, { answer, answerFor }));

  const publish = (now: boolean): void => {
    if (now === serves) return;
    serves = now;
    for (const watch of watches) if (names.has(watch.request.service)) watch.write(answer());
  };
  const stopPolling = await pollReadiness(readiness, publish);
  return {
    close: () => {
      stopPolling();
      publish(false);
      for (const watch of watches) watch.end();
    },
  };
}

interface Answers {
  readonly answer: () => Message;
  readonly answerFor: (watch: Watch) => Message;
}

function toCheckResponse(state: keyof typeof HealthStatus): Message {
  return create(check.output, { status: HealthStatus[state] });
}

function healthMethods(
  names: ReadonlySet<string>,
  watches: Set<Watch>,
  { answer, answerFor }: Answers,
): UntypedServiceImplementation {
  return {
    check: ({ request: { service } }: ServerUnaryCall<Request, Message>, done: sendUnaryData<Message>) => {
      if (names.has(service)) done(null, answer());
      else done({ code: status.NOT_FOUND, details: 'service must be empty or a service that reflection lists' });
    },
    list: (_call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>) => {
      const statuses = Object.fromEntries([...names].map((name) => [name, answer()]));
      done(null, create(list.output, { statuses }));
    },
    watch: (watch: Watch) => {
      if (watches.size >= WATCHES_MAX) {
        watch.emit('error', {
          code: status.RESOURCE_EXHAUSTED,
          details: 'too many streams watch this server; use Check',
        });
        return;
      }
      watches.add(watch);
      watch.on('cancelled', () => watches.delete(watch));
      watch.write(answerFor(watch));
    },
  };
}

/**
 * Reports at intervals whether the program serves. Resolves after the first check with the function that ends the
 * reports.
 */
async function pollReadiness(
  { isReady, stopping }: Readiness,
  publish: (serves: boolean) => void,
): Promise<() => void> {
  let isPolling = false;
  let isOver = false;
  const poll = async (): Promise<void> => {
    if (isPolling || stopping.aborted) return;
    isPolling = true;
    const ready = await checkInTime(isReady);
    isPolling = false;
    if (!isOver) publish(ready && !stopping.aborted);
  };
  const onStopping = (): void => publish(false);
  stopping.addEventListener('abort', onStopping, { once: true });
  await poll();
  const timer = setInterval(() => void poll(), POLL_EVERY_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
    stopping.removeEventListener('abort', onStopping);
  };
}

/** A check that fails or hangs counts as not ready. */
async function checkInTime(isReady: ReadyCheck): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, READY_TIMEOUT_MS, false);
  try {
    return await Promise.race([isReady().catch(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
