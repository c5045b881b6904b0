import { expect, test } from '@jest/globals';
import { describeWith } from '../../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../../test/servers/redis-server.ts';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { DELIVERED, json, startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const chat = { model: 'some-model', messages: [] };

describeWith(redisServer, 'two gateways', (redis) => {
  /** Two gateways with one channel; `of` names it, so that no test meets the state of another. */
  async function withTwo(
    of: { readonly id: string; readonly limits: { requests_per_minute: number; in_flight: number } },
    reply: Reply,
    work: (gateways: readonly GatewayUnderTest[], statuses: (calls: number) => Promise<number[]>) => Promise<void>,
  ): Promise<void> {
    const upstream = await startRelayUpstream(reply);
    const settings = { redis: redis(), channels: [aRelayChannel({ base_url: upstream.url, ...of })] };
    const gateways = [await startGatewayUnderTest(settings), await startGatewayUnderTest(settings)];
    const post = async (by: number): Promise<number> =>
      (await call(gateways[by % 2]!.url, 'POST', '/v1/chat/completions', { body: chat })).status;
    try {
      await work(gateways, (calls) => Promise.all(Array.from({ length: calls }, (_, by) => post(by))));
    } finally {
      for (const gateway of gateways) await gateway.stop();
      await upstream.stop();
    }
  }
  const count = (statuses: readonly number[], status: number): number =>
    statuses.filter((one) => one === status).length;

  test('together send a channel no more calls than its limit of a minute', () =>
    withTwo(
      { id: 'minute', limits: { requests_per_minute: 6, in_flight: 100 } },
      json(DELIVERED),
      async (_two, statuses) => {
        const answers = await statuses(20);

        expect([count(answers, 200), count(answers, 429)]).toEqual([6, 14]);
      },
    ));

  test('together run no more calls on a channel than its limit in flight', () => {
    const waiting: (() => void)[] = [];
    const hold: Reply = (request, response) => {
      waiting.push(() => {
        json(DELIVERED)(request, response);
      });
      // nothing above the limit may arrive, so what is held is released once it is reached
      if (waiting.length === 4) setTimeout(() => waiting.splice(0).forEach((answer) => answer()), 300);
    };
    return withTwo(
      { id: 'flight', limits: { requests_per_minute: 1000, in_flight: 4 } },
      hold,
      async (_two, statuses) => {
        const answers = await statuses(20);

        expect([count(answers, 200), count(answers, 429)]).toEqual([4, 16]);
      },
    );
  });
});
