import type { DescMethod } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import type { Histogram } from '../metrics/histogram.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { toStatusCode } from './problems.ts';
import type { Binding, CallContext } from './service.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Wraps a binding so that it measures each call with one answer, over a network and in this process. A stream of
 * answers lasts as long as its reader wants, so it is not measured. Each call of a list is.
 */
export function measureBinding(
  { service, methods, ...lists }: Binding,
  { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock },
): Binding {
  const took = metrics.histogram(
    'reelgate_rpc_seconds',
    'Time of a call between services in its method, by its status',
    SECONDS,
    ['method', 'status'],
  );
  const measureMethod = ({ localName, name }: DescMethod): readonly [string, Binding['methods'][string]][] => {
    const run = methods[localName];
    if (run === undefined) return [];
    const method = `${service.name}/${name}`;
    let succeeded: Histogram | undefined;
    return [
      [
        localName,
        (request, context) => {
          const startedAt = clock.now();
          const seconds = (): number => (clock.now() - startedAt) / 1000;
          const result = run(request, context) as Promise<unknown>;
          void result.then(
            () => {
              succeeded ??= took.labels(method, status[status.OK]);
              succeeded.observe(seconds(), readTraceId(context));
            },
            (thrown: unknown) => took.labels(method, readStatusName(thrown)).observe(seconds(), readTraceId(context)),
          );
          return result;
        },
      ],
    ];
  };
  const withOneAnswer = service.methods.filter(({ methodKind }) => methodKind !== 'server_streaming');
  return { ...lists, service, methods: { ...methods, ...Object.fromEntries(withOneAnswer.flatMap(measureMethod)) } };
}

function readTraceId({ span }: CallContext): string | undefined {
  return span.traceId;
}

/** The codes of Connect equal the codes of gRPC. */
function readStatusName(thrown: unknown): string {
  return status[toStatusCode(thrown) as unknown as status];
}
