import { status } from '@grpc/grpc-js';
import type {
  Server,
  ServerUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
  sendUnaryData,
} from '@grpc/grpc-js';
import { service as healthDefinition } from 'grpc-health-check';
import type { Readiness, ReadyCheck } from '../lifecycle/readiness.ts';

const LOOK_EVERY_MS = 1000;
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
interface Answer {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}
type Watch = ServerWritableStream<Request, Answer>;

/**
 * Answers `grpc.health.v1` for each service and, under an empty name, for the server, and keeps the answer current. The
 * implementation that comes with the definition keeps a watcher for every name in a request, and ends none.
 */
export async function serveStatus(
  server: Server,
  services: readonly string[],
  readiness: Readiness,
): Promise<ServingStatus> {
  const names = new Set(['', ...services]);
  const watches = new Set<Watch>();
  let serves = false;
  const answer = (): Answer => ({ status: serves ? 'SERVING' : 'NOT_SERVING' });
  const answerFor = ({ request: { service } }: Watch): Answer =>
    names.has(service) ? answer() : { status: 'SERVICE_UNKNOWN' };
  server.addService(healthDefinition, healthMethods(names, watches, { answer, answerFor }));

  const tell = (now: boolean): void => {
    if (now === serves) return;
    serves = now;
    for (const watch of watches) if (names.has(watch.request.service)) watch.write(answer());
  };
  const stopLooking = await keepLooking(readiness, tell);
  return {
    close: () => {
      stopLooking();
      tell(false);
      for (const watch of watches) watch.end();
    },
  };
}

interface Answers {
  readonly answer: () => Answer;
  readonly answerFor: (watch: Watch) => Answer;
}

function healthMethods(
  names: ReadonlySet<string>,
  watches: Set<Watch>,
  { answer, answerFor }: Answers,
): UntypedServiceImplementation {
  return {
    check: ({ request: { service } }: ServerUnaryCall<Request, Answer>, done: sendUnaryData<Answer>) => {
      if (names.has(service)) done(null, answer());
      else done({ code: status.NOT_FOUND, details: 'service must be empty or a service that reflection lists' });
    },
    list: (_call: ServerUnaryCall<object, object>, done: sendUnaryData<object>) => {
      done(null, { statuses: Object.fromEntries([...names].map((name) => [name, answer()])) });
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
async function keepLooking({ isReady, stopping }: Readiness, tell: (serves: boolean) => void): Promise<() => void> {
  let isLooking = false;
  let isOver = false;
  const look = async (): Promise<void> => {
    if (isLooking || stopping.aborted) return;
    isLooking = true;
    const ready = await inTime(isReady);
    isLooking = false;
    if (!isOver) tell(ready && !stopping.aborted);
  };
  const onStopping = (): void => {
    tell(false);
  };
  stopping.addEventListener('abort', onStopping, { once: true });
  await look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
    stopping.removeEventListener('abort', onStopping);
  };
}

/** A check that fails or hangs counts as not ready. */
async function inTime(isReady: ReadyCheck): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, READY_TIMEOUT_MS, false);
  try {
    return await Promise.race([isReady().catch(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
