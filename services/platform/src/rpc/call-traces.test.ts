import { beforeEach, describe, expect, test } from '@jest/globals';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { keepingTracing } from '../../testing/keeping-tracing.ts';
import type { KeepingTracing } from '../../testing/keeping-tracing.ts';
import { partialService, silenceRpcLibraries } from '../../testing/partial-service.ts';
import { TRANSPORTS, closingTransports } from '../../testing/rpc-transports.ts';
import type { OpenTransport } from '../../testing/rpc-transports.ts';
import { StreamService } from '../../testing/stream-service.ts';
import { unruled } from '../../testing/unruled.ts';
import { until } from '../../testing/until.ts';
import { Problem } from '../problem.ts';
import { currentTraceId } from '../request-context.ts';
import type { Span } from '../trace/trace.ts';
import { NO_SPAN } from '../trace/trace.ts';
import type { Implementation } from './service.ts';

const MediaService = unruled(MediaContract);
const STAGE = 'reelgate.media.v1.MediaService/StageMedia';
const RECORDED = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const openFor = closingTransports();
silenceRpcLibraries();
let kept: KeepingTracing;
beforeEach(() => {
  kept = keepingTracing();
});

async function opened(open: OpenTransport, stageMedia: Implementation<typeof MediaService>['stageMedia']) {
  const transport = await openFor(open, partialService(MediaService, { stageMedia }), kept.tracing);
  return { ...transport, media: transport.client(MediaService) };
}

const idOf = ({ carrier }: Span): string | undefined => carrier?.split('-')[2];

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  test('what a method does goes below the span of its caller', async () => {
    const { media } = await opened(open, async (_request, { span }) => {
      span.child('work').end();
      return {};
    });
    const root = kept.tracing.root('root', { class: 'create' });

    await media.stageMedia({}, { span: root });
    await until(() => kept.spans().some(({ name }) => name === STAGE));

    const spans = kept.spans();
    expect([...new Set(spans.map(({ traceId }) => traceId))]).toEqual([root.traceId]);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const path: string[] = [];
    for (let at = spans.find(({ name }) => name === 'work'); at !== undefined; at = byId.get(at.parentSpanId))
      path.push(at.name);
    expect([...new Set(path)]).toEqual(['work', STAGE]);
    expect(spans.some(({ parentSpanId }) => parentSpanId === idOf(root))).toBe(true);
    for (const { attributes } of spans.filter(({ name }) => name === STAGE))
      expect(attributes).toEqual({ 'rpc.system.name': 'grpc', 'rpc.method': STAGE, 'rpc.status_code': 'OK' });
  });

  test('a call that is not recorded gives the method the span that records nothing', async () => {
    const seen: Span[] = [];
    const { media } = await opened(open, async (_request, { span }) => {
      seen.push(span);
      return {};
    });

    await media.stageMedia({});
    await media.stageMedia({}, { span: NO_SPAN });

    expect(seen).toEqual([NO_SPAN, NO_SPAN]);
    expect(seen.every((span) => span === NO_SPAN)).toBe(true);
    expect(kept.spans()).toEqual([]);
  });

  test('a refusal and a fault leave a word and a status, and nothing of their messages', async () => {
    const thrown = [
      new Error('a planted text'),
      new Problem({ kind: 'not_found', reason: 'gone', message: 'planted' }),
    ];
    const { media } = await opened(open, async () => {
      throw thrown.pop()!;
    });
    const root = kept.tracing.root('root', { class: 'create' });

    await expect(media.stageMedia({}, { span: root })).rejects.toThrow();
    await expect(media.stageMedia({}, { span: root })).rejects.toThrow();
    await until(() => kept.spans().filter(({ name }) => name === STAGE).length >= 2);

    const statuses = kept.spans().map(({ attributes }) => attributes['rpc.status_code']);
    expect([...new Set(statuses)].toSorted()).toEqual(['INTERNAL', 'NOT_FOUND']);
    expect(JSON.stringify(kept.spans())).not.toContain('planted');
  });

  test('a stream has one span, which ends with it', async () => {
    const { client } = await openFor(
      open,
      partialService(StreamService, {
        async *spell({ value }) {
          for (const letter of value) yield { value: letter };
        },
      }),
      kept.tracing,
    );
    const root = kept.tracing.root('root', { class: 'create' });

    for await (const _ of client(StreamService).spell({ value: 'abc' }, { span: root })) continue;
    await until(() => kept.spans().length > 0);

    expect([...new Set(kept.spans().map(({ name }) => name))]).toEqual(['reelgate.testing.v1.StreamService/Spell']);
  });
});

describe.each(TRANSPORTS.filter(([name]) => name !== 'a direct call'))('a server of %s', (_name, open) => {
  const sent = { ...NO_SPAN, carrier: RECORDED, child: () => sent } as Span;

  test('continues the trace that a known caller sends, and its log lines have the id', async () => {
    const ids: (string | undefined)[] = [];
    const { media } = await opened(open, async () => {
      ids.push(currentTraceId());
      return {};
    });

    await media.stageMedia({}, { span: sent });
    await until(() => kept.spans().length === 1);

    expect(kept.spans()[0]).toMatchObject({ kind: 'server', parentSpanId: '00f067aa0ba902b7' });
    expect(ids).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736']);
  });

  test('continues no trace of a caller that it does not know', async () => {
    const { client } = await opened(open, async () => ({}));

    await expect(client(MediaService, 'no such key').stageMedia({}, { span: sent })).rejects.toMatchObject({
      reason: 'invalid_caller_key',
    });

    expect(kept.spans()).toEqual([]);
  });
});
