import type { IncomingMessage } from 'node:http';
import type { Problem } from '@reelgate/platform/problem';
import type { BodyBudget, BodyOwner, CountedBody } from './body-budget.ts';
import { collectBytes } from './collect-bytes.ts';
import type { CheckChunk } from './parse-json.ts';
import { readUnpacker, unpackTo } from './unpack-body.ts';
import type { Sink, BodyUnpacker } from './unpack-body.ts';
import { refuse } from '../../refusals.ts';

export interface ReceiveOptions {
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  /** The account or the address that the bytes are counted to. */
  readonly owner: BodyOwner;
  /** The most bytes that the sink holds at once; by default all of them. */
  readonly heldMax?: number;
  /** Aborted when the client leaves. */
  gone(): AbortSignal;
  /** Calls back once the exchange is over, to release the counted bytes; at once if it is over. */
  whenOver(release: () => void): void;
  /** Sends `100 Continue` to a client that waits for it. */
  sendContinue(): void;
}

/** The client closed the connection before its request was complete, so no answer is possible. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * Passes a body to the sink chunk by chunk, unpacked, within the limits of one body, of its owner and of all bodies.
 * Nothing is counted before it arrives. The rest of a refused body stays unread.
 */
export async function receiveBody(request: IncomingMessage, options: ReceiveOptions, sink: Sink): Promise<void> {
  const { bytesMax, heldMax = bytesMax } = options;
  const open = readUnpacker(request.headers);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const body = options.budget.count(options.owner);
  options.whenOver(body.release);
  if (!(await body.waitForTurn(Math.min(declared, heldMax), options.gone()))) throw tooMany();
  options.sendContinue();
  const hold = countHeld(body, { bytesMax, heldMax, sink });
  const input = open === undefined ? { write: hold } : unpackTo(open, hold);
  await passChunks(request, { body, bytesMax, input });
}

/** Counts the bytes that the sink gets, which are more than arrive if the body is packed. */
function countHeld(
  body: CountedBody,
  { bytesMax, heldMax, sink }: { readonly bytesMax: number; readonly heldMax: number; readonly sink: Sink },
): Sink {
  let passed = 0;
  return (chunk) => {
    const held = Math.min(passed + chunk.length, heldMax) - Math.min(passed, heldMax);
    passed += chunk.length;
    if (passed > bytesMax) throw tooLarge(bytesMax);
    if (!body.take(0, held)) throw tooMany();
    return sink(chunk);
  };
}

interface ChunkPath {
  readonly body: CountedBody;
  /** The most bytes that may arrive. */
  readonly bytesMax: number;
  readonly input: { readonly write: Sink } & Partial<Omit<BodyUnpacker, 'write'>>;
}

function passChunks(request: IncomingMessage, { body, bytesMax, input }: ChunkPath): Promise<undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  let arrived = 0;
  let isOver = false;
  const detach = (): void => {
    request.off('data', take).off('end', end).off('close', breakOff);
  };
  const finish = (settle: () => void): void => {
    if (isOver) return;
    isOver = true;
    detach();
    body.end();
    settle();
  };
  const refuse = (error: unknown): void =>
    finish(() => {
      input.stop?.();
      body.drop();
      request.pause();
      reject(error);
    });
  const waitFor = async (taken: Promise<unknown>): Promise<void> => {
    request.pause();
    body.pause();
    try {
      await taken;
      if (isOver) return;
      body.resume();
      request.resume();
    } catch (error) {
      refuse(error);
    }
  };
  const take = (chunk: Buffer): void => {
    try {
      arrived += chunk.length;
      if (arrived > bytesMax) throw tooLarge(bytesMax);
      body.take(chunk.length, 0);
      const taken = input.write(chunk);
      if (taken !== undefined) void waitFor(taken);
    } catch (error) {
      refuse(error);
    }
  };
  const succeed = (): void => {
    finish(() => resolve(undefined));
  };
  const end = (): void => {
    if (input.end === undefined) {
      succeed();
      return;
    }
    detach();
    body.pause();
    input.end().then(succeed, refuse);
  };
  const breakOff = (cause?: unknown): void => {
    const error = request.complete ? cause : undefined;
    refuse(error ?? new ClientGone('the request broke off', { cause }));
  };
  body.begin((why) => refuse(why === 'slow' ? tooSlow() : tooMany()));
  request.on('data', take).once('end', end).once('close', breakOff).once('error', breakOff);
  return promise;
}

function tooMany(): Problem {
  return refuse('gateway_busy', {
    message: 'the gateway holds too many request bodies; retry in 1 s',
    retryAfterMs: 1000,
  });
}

function tooSlow(): Problem {
  return refuse('body_too_slow');
}

export function tooLarge(bytesMax: number): Problem {
  return refuse('body_too_large', { message: `the body must be at most ${bytesMax} bytes` });
}

/**
 * Reads the bytes of a body within the limits of one body, of its owner and of all bodies. The rest of a refused body
 * stays unread.
 */
export async function readRawBody(
  request: IncomingMessage,
  options: ReceiveOptions,
  check: CheckChunk = () => undefined,
): Promise<Buffer> {
  const bytes = collectBytes();
  try {
    await receiveBody(request, options, (chunk) => {
      check(chunk);
      bytes.add(chunk);
      return undefined;
    });
  } catch (error) {
    bytes.clear();
    throw error;
  }
  const chunks = bytes.list();
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
