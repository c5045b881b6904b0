import { once } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { expect, test } from '@jest/globals';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { healthRoutes } from '@reelgate/platform/http/health-routes';
import { openHttpPort } from '@reelgate/platform/http/http-port';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { identifyAmong } from '@reelgate/platform/rpc/callers';
import { aGate, inTime } from '@reelgate/platform/testing/bounded-waits';
import { freePorts } from '../../../test/harness/free-ports.ts';
import { openPorts } from './open-ports.ts';

const [SERVING, NOT_SERVING] = [1, 2];

/** An empty health check, as a probe of Kubernetes makes it. The state is the last byte of the answer. */
async function healthOf(session: ClientHttp2Session): Promise<number | undefined> {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.end(Buffer.alloc(5));
  const [answer] = (await inTime(once(stream, 'data'))) as [Buffer];
  return answer.at(-1);
}

test('a stopping program is not ready on both ports of a service before it closes them', async () => {
  const [rpc, http] = await freePorts(2);
  const lifecycle = newLifecycle(silentLog);
  const foundation = { log: silentLog, metrics: newMetrics(false) } as unknown as Foundation;
  const gate = aGate();
  const service = { bindings: [], routes: [], ready: async () => true } as unknown as RunningService;
  const isReady = async (): Promise<boolean> => !lifecycle.stopping.aborted;
  const listen = { host: '127.0.0.1', port: http! };
  const port = await openHttpPort({ listen, health: healthRoutes(isReady) });
  lifecycle.add('HTTP port', () => port.stop());
  await openPorts(lifecycle, foundation, service, {
    ports: { rpc: { host: '127.0.0.1', port: rpc! }, http: listen },
    http: port,
    isReady,
    identify: identifyAmong([]),
    draining: { times: { leadMs: 0, timeoutMs: 10_000 }, released: () => gate.opened.then(() => undefined) },
  });
  const session = connect(`http://127.0.0.1:${String(rpc)}`);
  const readyz = async (): Promise<number> => (await fetch(`http://127.0.0.1:${String(http)}/readyz`)).status;
  expect([await healthOf(session), await readyz()]).toEqual([SERVING, 200]);

  const stopped = lifecycle.stop();
  expect([await healthOf(session), await readyz()]).toEqual([NOT_SERVING, 503]);

  gate.open();
  await inTime(stopped);
  expect(session.closed).toBe(true);
});
