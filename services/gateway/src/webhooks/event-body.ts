import type { Job } from '@reelgate/proto/tasks/v1/job';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import type { ByteReader } from '../clients/media-port.ts';
import { encodeShownVideo } from '../dialects/openai/encode.ts';
import type { Links } from '../dialects/dialect.ts';
import { toUnixSeconds } from '../dialects/wire/task-fields.ts';
import { resultEnvelope } from '../jobs/result-envelope.ts';

/** A full body above this is sent thin. */
const BODY_BYTES_MAX = 256 * 1024;

export interface EventBodiesDeps {
  readonly links: Links;
  readonly media: ByteReader;
}

/** The JSON of an event, as deliveries and streams carry it. */
export type EventBody = (event: Event, payload: WebhookPayload) => Promise<string>;

/** A full body holds its subject as a status read answers, without its charge; one without its subject, or above the bound, is thin. */
export function eventBodies(deps: EventBodiesDeps): EventBody {
  return async (event, payload) => {
    const thin = encodeThinBody(event);
    const member = payload === WebhookPayload.FULL ? await encodeSubjectMember(deps, event) : undefined;
    if (member === undefined) return thin;
    // the two braces that close the data and the event
    const full = `${thin.slice(0, -2)},${member}}}`;
    return Buffer.byteLength(full) > BODY_BYTES_MAX ? thin : full;
  };
}

function encodeThinBody({ id, type, subjectId, createdAt, dataJson }: Event): string {
  const more = dataJson === '' ? {} : (JSON.parse(dataJson) as object);
  return JSON.stringify({
    object: 'event',
    id,
    type,
    created_at: toUnixSeconds(createdAt) ?? 0,
    data: { id: subjectId, ...more },
  });
}

/** Encodes the member of the data that holds the subject; undefined if there is none or it is too large. */
async function encodeSubjectMember({ links, media }: EventBodiesDeps, { subject }: Event): Promise<string | undefined> {
  if (subject.case === undefined) return undefined;
  if (subject.case === 'task') return `"task":${JSON.stringify(encodeShownVideo(subject.value, links))}`;
  const job = await readEnvelope(media, subject.value);
  return job === undefined ? undefined : `"job":${job}`;
}

async function readEnvelope(media: ByteReader, job: Job): Promise<string | undefined> {
  if ((job.answer?.size ?? 0n) > BODY_BYTES_MAX) return undefined;
  const envelope = await resultEnvelope(media, job);
  if (envelope === undefined) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of envelope as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A larger body is not kept for the next receiver. */
const KEPT_BYTES_MAX = 8 * 1024;

export type BodyBytes = (event: Event, payload: WebhookPayload) => Promise<Uint8Array>;

/** The bodies of one lease: receivers of an account hear the same events. */
export function shareBodies(eventBody: EventBody): BodyBytes {
  const kept = new Map<string, Uint8Array>();
  return async (event, payload) => {
    const key = `${payload} ${event.id}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const body = Buffer.from(await eventBody(event, payload));
    if (body.length <= KEPT_BYTES_MAX) kept.set(key, body);
    return body;
  };
}
