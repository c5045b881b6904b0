import { RICH } from './simulated-config.ts';
import { LostAnswer } from './simulated-http.ts';
import { mayRepeat } from './world.ts';
import type { World } from './world.ts';

/** The name under which a run can do without it. */
export const STREAM = 'stream';
const STREAMED = 0.4;
const CONNECTED_MS = { least: 1000, most: 60_000 };
const RECONNECT_MS = { least: 100, most: 4000 };
/** More connections than a run has time for. */
const CONNECTIONS_MAX = 2000;
/** Without faults a stream has its first part within this time, also if the server is slow. */
const OPENED_MS_MAX = 5000;
/** Events that were dispatched reach a stream within this time, also if their announcement was lost. */
const HEARD_MS_MAX = 15_000;

/** The last event that a stream has heard. */
interface StreamPlace {
  readonly id: string;
  readonly at: number;
}

/** A client that hears the events of an account. */
export interface RunningStream {
  /** Waits for what has happened, and ends. */
  finish(): Promise<void>;
}

/**
 * In some seeds, and in all without faults, a client hears the events of an account as they happen. It leaves, comes
 * again, and goes on where its last connection ended.
 */
export function startStream(world: World): RunningStream {
  const { draws, faults, rules, scheduler } = world;
  if (faults.isLeftOut(STREAM) || !(faults.isCalm || draws.happens(STREAM, STREAMED)))
    return { finish: async () => undefined };
  let isOver = false;
  const running = stayConnected(world, () => isOver);
  return {
    finish: async () => {
      const last = rules.readLastPlace();
      await scheduler.pause(HEARD_MS_MAX);
      isOver = true;
      await running;
      rules.checkHeard(RICH.id, last);
    },
  };
}

async function stayConnected(world: World, isOver: () => boolean): Promise<void> {
  const { draws, scheduler } = world;
  let last: StreamPlace | undefined;
  for (let connection = 1; connection <= CONNECTIONS_MAX && !isOver(); connection += 1) {
    const name = `stream ${connection}`;
    last = await hearEvents(world, name, last);
    await scheduler.pause(draws.whole(`${name} again`, RECONNECT_MS.least, RECONNECT_MS.most));
  }
}

/** Hears events until the connection ends. Returns the place at which the next one goes on. */
async function hearEvents(
  { machine, draws, faults, rules, events, scheduler }: World,
  name: string,
  from: StreamPlace | undefined,
): Promise<StreamPlace | undefined> {
  let last = from;
  let isOpen = false;
  const begunAt = scheduler.now();
  const readBlock = openBlockReader(({ id, event, data }) => {
    if (id !== undefined) {
      if (last === undefined) rules.listens();
      last = { id, at: scheduler.now() };
    }
    if (event !== undefined) rules.heard(data);
  });
  const takePart = (part: string): void => {
    isOpen = true;
    readBlock(part);
  };
  const note = (text: string): void => {
    events.write(scheduler.now(), 'client', `${name}: ${text}`);
  };
  const expectOpen = (answer: string): void => {
    if (faults.isCalm && !isOpen) rules.break('without faults a stream of an account below its limits opens', answer);
  };
  try {
    const answer = await machine.send(
      {
        ...{ method: 'GET', path: '/v1/events', key: RICH.keys[0] },
        headers: { 'x-request-id': STREAM, ...(from === undefined ? {} : { 'last-event-id': from.id }) },
      },
      { onPart: takePart, leaveAfterMs: draws.whole(`${name} leave`, CONNECTED_MS.least, CONNECTED_MS.most) },
    );
    note(`ends with ${answer.status}`);
    if (answer.status !== 200) isOpen = false;
    expectOpen(`${answer.status} ${answer.text}`);
    // a restore can take back the event at which the stream ended
    if (answer.status === 410 && from !== undefined && rules.isForgotten(from.at)) return undefined;
    if (answer.status !== 200 && !mayRepeat(answer))
      rules.break('a stream goes on where it ended', `${String(from?.id)}: ${answer.status} ${answer.text}`);
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw error;
    note(`ends at ${String(last?.id)}`);
    if (scheduler.now() - begunAt >= OPENED_MS_MAX) expectOpen('no part of it has come');
  }
  return last;
}

interface Block {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** Returns a function that takes the text of a stream in parts. `take` gets each whole block. */
function openBlockReader(take: (block: Block) => void): (part: string) => void {
  let text = '';
  return (part) => {
    text += part;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      take(parseBlock(text.slice(0, end)));
      text = text.slice(end + 2);
    }
  };
}

function parseBlock(text: string): Block {
  const fields = text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
  const list = (wanted: string): readonly string[] =>
    fields.flatMap(([name, value = '']) => (name === wanted ? [value] : []));
  const [[id], [event]] = [list('id'), list('event')];
  return {
    ...(id === undefined ? {} : { id }),
    ...(event === undefined ? {} : { event }),
    data: list('data').join('\n'),
  };
}
