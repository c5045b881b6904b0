import { create } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Kind, ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import type { Problem } from '@reelgate/proto/problem/v1/problem';
import type { Bus } from '../src/bus/bus.ts';
import { aGate, inTime } from './bounded-waits.ts';
import { keepingTracing } from './keeping-tracing.ts';
import type { KeepingTracing } from './keeping-tracing.ts';
import type { Tracing } from '../src/trace/trace.ts';

/** The tests need no particular message type. */
export const anEvent = (reason: string): Problem =>
  create(ProblemSchema, { kind: Kind.CONFLICT, reason, message: 'ä – 漢字 😀', retryAfterMs: 2n ** 60n });

/** Keeps the received messages and resolves when enough have arrived. A failed wait lists what has arrived. */
export interface Inbox {
  readonly came: readonly string[];
  readonly take: (message: Problem) => Promise<void>;
  /** Resolves when this number of messages has arrived, or a certain message. */
  until(enough: number | string): Promise<readonly string[]>;
}

export function anInbox(): Inbox {
  const came: string[] = [];
  const watchers = new Set<() => void>();
  const has = (enough: number | string): boolean =>
    typeof enough === 'number' ? came.length >= enough : came.includes(enough);
  return {
    came,
    take: async ({ reason }) => {
      came.push(reason);
      for (const look of watchers) look();
    },
    until: async (enough) => {
      await inTime(
        new Promise<void>((resolve) => {
          const look = (): void => {
            if (has(enough)) resolve();
          };
          watchers.add(look);
          look();
        }),
        () => `only these came, not ${enough}: ${came.join(', ')}`,
      );
      return came;
    },
  };
}

/** The guarantees of every bus. `another` is a message of a second type. */
export function busConformance(openBus: (tracing: Tracing) => Promise<Bus>, another: DescMessage): void {
  let bus: Bus;
  let traced: KeepingTracing;
  beforeEach(async () => {
    traced = keepingTracing();
    bus = await openBus(traced.tracing);
  });
  afterEach(async () => {
    await bus.close();
  });
  const publish = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await bus.publish(ProblemSchema, anEvent(name), name);
  };

  test('knows how many events a group has not handled, until they are', async () => {
    const [inbox, gate] = [anInbox(), aGate()];
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      await gate.opened;
    });
    await publish('a', 'b');
    await inbox.until(2);
    const consumer = 'group-reelgate-problem-v1-Problem';

    expect(await bus.pending()).toEqual(new Map([[consumer, 2]]));
    gate.open();
    await inTime(
      (async () => {
        while ((await bus.pending()).get(consumer) !== 0) await new Promise((resolve) => setImmediate(resolve));
      })(),
    );
  });

  describe('a recorded event', () => {
    test('has a span where it is sent, and one below it for each delivery to each group', async () => {
      const inbox = anInbox();
      let failures = 1;
      const carriers: (string | undefined)[] = [];
      await bus.subscribe(ProblemSchema, 'first', async (message, span) => {
        carriers.push(span.carrier);
        if (failures-- > 0) throw new Error('not now');
        await inbox.take(message);
      });
      const root = traced.tracing.root('root', { class: 'create' });

      await bus.publish(ProblemSchema, anEvent('a'), { id: 'a', carrier: root.carrier });
      await inbox.until('a');
      await bus.close();

      const [send, ...deliveries] = traced.spans().filter(({ name }) => name.endsWith('reelgate.problem.v1.Problem'));
      expect([send!.name, send!.kind, send!.parentSpanId]).toEqual([
        'send reelgate.problem.v1.Problem',
        'producer',
        spanIdOf(root.carrier),
      ]);
      expect(deliveries.map(({ kind, parentSpanId }) => [kind, parentSpanId])).toEqual([
        ['consumer', send!.spanId],
        ['consumer', send!.spanId],
      ]);
      expect(deliveries.map(({ attributes }) => attributes['reelgate.delivery'])).toEqual([1, 2]);
      expect(deliveries.map(({ failed }) => failed)).toEqual([true, false]);
      expect(carriers.map(spanIdOf)).toEqual(deliveries.map(({ spanId }) => spanId));
      expect(deliveries[1]!.attributes).toMatchObject({
        'messaging.operation.type': 'process',
        'messaging.destination.name': 'reelgate.problem.v1.Problem',
        'messaging.consumer.group.name': 'first',
        'messaging.message.id': 'a',
      });
    });

    test('leaves no span if nothing of it is recorded', async () => {
      const inbox = anInbox();
      await bus.subscribe(ProblemSchema, 'first', inbox.take);

      await publish('a');
      await inbox.until('a');

      expect(traced.spans()).toEqual([]);
    });
  });

  describe('a published event', () => {
    test('reaches each group once', async () => {
      const [first, second] = [anInbox(), anInbox()];
      await bus.subscribe(ProblemSchema, 'first', first.take);
      await bus.subscribe(ProblemSchema, 'second', second.take);

      await publish('a', 'b', 'c', 'last');

      await Promise.all([first.until('last'), second.until('last')]);
      expect(first.came.toSorted()).toEqual(['a', 'b', 'c', 'last']);
      expect(second.came.toSorted()).toEqual(['a', 'b', 'c', 'last']);
    });

    test('arrives unchanged', async () => {
      const { promise, resolve } = Promise.withResolvers<Problem>();
      await bus.subscribe(ProblemSchema, 'group', async (message) => {
        resolve(message);
      });

      await publish('a');

      expect(await inTime(promise)).toEqual(anEvent('a'));
    });

    test('is delivered to one member of a group', async () => {
      const names = Array.from({ length: 20 }, (_, number) => `event-${number}`);
      const [one, other, both] = [anInbox(), anInbox(), anInbox()];
      for (const member of [one, other])
        await bus.subscribe(ProblemSchema, 'group', async (message) => {
          await member.take(message);
          await both.take(message);
        });

      await publish(...names);

      await both.until(20);
      expect([...one.came, ...other.came].toSorted()).toEqual(names.toSorted());
    });

    test('is delivered again when its handler throws, to that group alone', async () => {
      const [failing, other] = [anInbox(), anInbox()];
      await bus.subscribe(ProblemSchema, 'failing', async (message) => {
        await failing.take(message);
        if (message.reason === 'a' && failing.came.filter((name) => name === 'a').length === 1)
          throw new Error('not now');
      });
      await bus.subscribe(ProblemSchema, 'other', other.take);

      await publish('a', 'b');

      await failing.until(3);
      expect(failing.came.toSorted()).toEqual(['a', 'a', 'b']);
      expect(other.came.toSorted()).toEqual(['a', 'b']);
    });

    test('is dropped under a known id, unless its type differs', async () => {
      const inbox = anInbox();
      const others = anInbox();
      await bus.subscribe(ProblemSchema, 'group', inbox.take);
      await bus.subscribe(another, 'group', async () => others.take(anEvent('another')));

      await publish('a', 'a');
      await bus.publish(another, create(another), 'a');
      await bus.publish(ProblemSchema, anEvent('changed'), 'a');
      await publish('last');

      await Promise.all([inbox.until('last'), others.until(1)]);
      expect(inbox.came.toSorted()).toEqual(['a', 'last']);
      expect(others.came).toEqual(['another']);
    });

    test('does not reach listeners, and an announcement does not reach subscribers', async () => {
      const [subscribed, heard] = [anInbox(), anInbox()];
      await bus.subscribe(ProblemSchema, 'group', subscribed.take);
      await bus.listen(ProblemSchema, (message) => void heard.take(message));

      await publish('published');
      bus.announce(ProblemSchema, anEvent('announced'));
      await publish('last');

      await Promise.all([subscribed.until('last'), heard.until('announced')]);
      expect(subscribed.came.toSorted()).toEqual(['last', 'published']);
      expect(heard.came).toEqual(['announced']);
    });
  });

  describe('an announcement', () => {
    const announce = (name: string): void => {
      bus.announce(ProblemSchema, anEvent(name));
    };

    test('reaches every listener, except those that have stopped', async () => {
      const [one, other, stopped] = [anInbox(), anInbox(), anInbox()];
      for (const inbox of [one, other]) await bus.listen(ProblemSchema, (message) => void inbox.take(message));
      const early = await bus.listen(ProblemSchema, (message) => void stopped.take(message));
      await early.stop();

      announce('a');

      await Promise.all([one.until('a'), other.until('a')]);
      expect([one.came, other.came, stopped.came]).toEqual([['a'], ['a'], []]);
    });

    test('reaches a function once for each of its listeners, and one stop leaves the other', async () => {
      const inbox = anInbox();
      const listener = (message: Problem): void => void inbox.take(message);
      const first = await bus.listen(ProblemSchema, listener);
      await bus.listen(ProblemSchema, listener);

      announce('a');
      await inbox.until(2);
      await first.stop();
      announce('b');
      await inbox.until('b');

      expect(inbox.came).toEqual(['a', 'a', 'b']);
    });

    test('is lost without an error when there is no listener', async () => {
      const inbox = anInbox();
      announce('lost');
      await publish('between');
      await bus.listen(ProblemSchema, (message) => void inbox.take(message));

      announce('a');

      expect(await inbox.until('a')).toEqual(['a']);
    });

    test('reaches the other listeners when one throws, and the next announcement reaches all', async () => {
      const [throwing, other] = [anInbox(), anInbox()];
      await bus.listen(ProblemSchema, (message) => {
        void throwing.take(message);
        throw new Error('a fault of the listener');
      });
      await bus.listen(ProblemSchema, (message) => void other.take(message));

      announce('a');
      announce('b');

      await Promise.all([throwing.until('b'), other.until('b')]);
      expect([throwing.came, other.came]).toEqual([
        ['a', 'b'],
        ['a', 'b'],
      ]);
      expect(bus.ready()).toBe(true);
    });
  });

  describe('stop()', () => {
    test('waits for the running handlers, and starts no more', async () => {
      const inbox = anInbox();
      const gate = aGate();
      const done: string[] = [];
      const stopped = await bus.subscribe(ProblemSchema, 'stopped', async (message) => {
        await inbox.take(message);
        await gate.opened;
        done.push(message.reason);
      });
      const other = anInbox();
      await bus.subscribe(ProblemSchema, 'other', other.take);
      await publish('a');
      await inbox.until('a');

      const stopping = stopped.stop().then(() => done.push('stopped'));
      await publish('b');
      await other.until('b');
      gate.open();
      await inTime(stopping);

      expect(done).toEqual(['a', 'stopped']);
      expect(inbox.came).toEqual(['a']);
    });

    test('is not delayed by the handlers of another subscriber', async () => {
      const gate = aGate();
      const busy = anInbox();
      const slow = await bus.subscribe(ProblemSchema, 'slow', async (message) => {
        await busy.take(message);
        await gate.opened;
      });
      const quick = await bus.subscribe(ProblemSchema, 'quick', async () => undefined);
      await publish('a');
      await busy.until('a');

      await inTime(quick.stop());

      gate.open();
      await inTime(slow.stop());
    });

    test('leaves a failed event to another member of the group', async () => {
      const [failing, other] = [anInbox(), anInbox()];
      const leaving = await bus.subscribe(ProblemSchema, 'group', async (message) => {
        await failing.take(message);
        throw new Error('not here');
      });
      await publish('a');
      await failing.until('a');

      await leaving.stop();
      await bus.subscribe(ProblemSchema, 'group', other.take);

      expect(await other.until('a')).toEqual(['a']);
      expect(failing.came).toEqual(['a']);
    });
  });

  test('close() waits for the running handlers', async () => {
    const inbox = anInbox();
    const gate = aGate();
    const done: string[] = [];
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      await gate.opened;
      done.push(message.reason);
    });
    await publish('a');
    await inbox.until('a');

    const closing = bus.close().then(() => done.push('closed'));
    gate.open();
    await inTime(closing);

    expect(done).toEqual(['a', 'closed']);
  });
}

function spanIdOf(carrier: string | undefined): string | undefined {
  return carrier?.split('-')[2];
}
