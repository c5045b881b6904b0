import { pictureKey } from '../render/picture-order.ts';
import type { RouteHandler, Answer } from './route-handler.ts';

/** The bytes of a result link, whole or in part. */
export const resultBytes: RouteHandler = async ({ method, id, query, range }, { book, links, renders }) => {
  if (!links.isValid(id, query)) return { as: 'text', status: 403, text: 'this link is no longer valid' };
  const task = book.find(id);
  const picture = task?.picture;
  if (task === undefined || picture?.state !== 'ready' || task.script.result === 'dead')
    return { as: 'text', status: 404, text: 'there is nothing here' };
  if (task.script.result === 'page') return { as: 'page' };
  const bytes = await renders.render(picture.order);
  return sliceBytes(bytes, range, {
    etag: `"${pictureKey(picture.order).slice(0, 32)}"`,
    torn: task.script.result === 'torn' && method === 'GET',
  });
};

type SliceOptions = { readonly etag: string; readonly torn: boolean };

function sliceBytes(bytes: Uint8Array, range: string | undefined, { etag, torn }: SliceOptions): Answer {
  const headers = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', etag };
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (first === '' && last === '') return { as: 'bytes', status: 200, headers, bytes, torn };
  const from = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes.length - 1 : Math.min(Number(last), bytes.length - 1);
  const part = (status: number, range: string): Answer => ({
    as: 'bytes',
    status,
    torn,
    headers: { ...headers, 'content-range': `bytes ${range}/${bytes.length}` },
    bytes: bytes.subarray(from, to + 1),
  });
  return from > to ? part(416, '*') : part(206, `${from}-${to}`);
}
