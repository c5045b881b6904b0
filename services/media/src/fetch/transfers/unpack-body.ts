import { pipeline } from 'node:stream';
import type { OpenUnpacker } from '@reelgate/platform/http/content-codings';
import { FetchFault } from '../../domain/fetch-fault.ts';

/**
 * Unpacks the body of an answer that an origin compresses although the request asks for plain bytes. A body that is
 * truncated or malformed is a fault. The reader bounds the number of the bytes.
 */
export async function* unpackBody(body: AsyncIterable<Uint8Array>, open: OpenUnpacker): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) throw newPackingFault();
  const unpacker = open(first.value[0] ?? 0);
  const packed = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  // an error reaches the reader of the unpacker
  pipeline(packed, unpacker, () => undefined);
  try {
    for await (const piece of unpacker as AsyncIterable<Uint8Array>) yield piece;
  } catch (error) {
    throw error instanceof FetchFault ? error : newPackingFault();
  }
}

function newPackingFault(): FetchFault {
  return new FetchFault('encoding', 'could not be fetched: the server compressed it, and it cannot be unpacked');
}
