import { setTimeout as wait } from 'node:timers/promises';
import { holdConnection, requestHead } from '../../services/gateway/testing/held-connection.ts';
import type { HeldConnection, RequestHead } from '../../services/gateway/testing/held-connection.ts';
import { httpCaller } from '../harness/client.ts';

const KIB = 1024;
const BODY_MAX = 64 * KIB * KIB;
const UPLOADS = 6;
const SIGN_INS = 4400;
const TRICKLES = 400;
const DROP_MS = 250;
const MEMBERS = 990_000;
const SENDERS = 2;
/** Another address than that of the clients beside the flood. */
const FROM = '127.0.0.2';

export interface FloodTarget {
  /** The address of the public port. */
  readonly base: string;
  /** A key of the account that floods. */
  readonly key: string;
}

export interface Flood {
  end(): Promise<void>;
}

interface Sent extends RequestHead {
  readonly sent?: readonly (string | Buffer)[];
}

async function holdRequests({ base }: FloodTarget, count: number, { sent = [], ...head }: Sent) {
  const parts = [requestHead(head), ...sent];
  const held = await Promise.all(Array.from({ length: count }, () => holdConnection(base, parts, FROM)));
  const end = async (): Promise<void> => {
    for (const connection of held) connection.close();
  };
  return { held, end };
}

async function trickle(held: readonly HeldConnection[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const connection of held) connection.send('1\r\nx\r\n');
    await wait(DROP_MS);
  }
}

const manyMembers = (): string =>
  `{"model":"Alpha-H3",${Array.from({ length: MEMBERS }, (_, index) => `"k${index}":1`).join(',')}}`;

/** What one account, or a client without a token, can send at once to keep others out. */
export const FLOODS: readonly (readonly [what: string, start: (target: FloodTarget) => Promise<Flood>])[] = [
  [
    `${UPLOADS} creates that declare 64 MiB and send nothing`,
    (target) => holdRequests(target, UPLOADS, { path: '/v1/videos', token: target.key, bytes: BODY_MAX }),
  ],
  [
    `${SIGN_INS} sign-ins of 64 KiB that lack their last byte`,
    (target) =>
      holdRequests(target, SIGN_INS, {
        path: '/console/api/session',
        bytes: 64 * KIB,
        headers: { origin: target.base, 'x-reelgate-console': '1' },
        sent: [Buffer.alloc(64 * KIB - 1)],
      }),
  ],
  [
    `${TRICKLES} creates that come byte by byte`,
    async (target) => {
      const { held, end } = await holdRequests(target, TRICKLES, { path: '/v1/videos', token: target.key });
      let isOver = false;
      const trickling = trickle(held, () => isOver);
      return {
        end: async () => {
          isOver = true;
          await trickling;
          await end();
        },
      };
    },
  ],
  [
    `creates of ${MEMBERS} members, one after the other`,
    async ({ base, key }) => {
      const [caller, body] = [httpCaller(base, key), manyMembers()];
      let isOver = false;
      const send = async (): Promise<void> => {
        while (!isOver) await caller.call('POST', '/v1/videos', body).catch(() => undefined);
      };
      const sending = Promise.all(Array.from({ length: SENDERS }, send));
      return {
        end: async () => {
          isOver = true;
          await sending;
        },
      };
    },
  ],
];
