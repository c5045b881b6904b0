import type { Problem } from '@reelgate/platform/problem';
import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import type { StoredFile } from '@reelgate/proto/media/v1/file_service';
import type { ClientFiles, FileUpload } from '../clients/client-files.ts';
import type { Caller } from '../clients/caller.ts';
import { encodePage, pageSchema } from '../dialects/wire/list-page.ts';
import { toUnixSeconds } from '../dialects/wire/task-fields.ts';
import { objectSchema } from '../domain/schema.ts';
import type { TypeOf } from '../domain/schema.ts';
import { closeWithoutAccess } from '../http/admission/watch-access.ts';
import type { AccessParts } from '../http/admission/watch-access.ts';
import { toReceiveOptions } from '../http/bodies/read-body.ts';
import { assertForm, readFileBytes, receiveFileForm } from '../http/bodies/receive-file-form.ts';
import type { BodyBudget } from '../http/bodies/body-budget.ts';
import type { MediaPort } from '../clients/media-port.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { serveFromMedia } from '../http/routes/content-routes.ts';
import {
  FILE_FORM,
  FILE_LIST_PARAMETERS,
  assertFileField,
  cutFilename,
  readFileFields,
  readFileList,
  toHeaderFilename,
} from './file-fields.ts';
import { jsonRoute } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';
import { refuse } from '../refusals.ts';

const FILES = '/v1/files';
const FILE = `${FILES}/{file_id}`;

const text = { type: 'string' } as const;
const seconds = { type: 'integer', description: 'Unix seconds.' } as const;
const FILE_ANSWER = {
  title: 'File',
  ...objectSchema({
    id: text,
    object: { const: 'file' },
    bytes: { type: 'integer' },
    created_at: seconds,
    expires_at: seconds,
    filename: text,
    purpose: { enum: ['batch', 'batch_output'] },
    status: { const: 'processed' },
  }),
} as const;
const DELETED_ANSWER = {
  title: 'DeletedFile',
  ...objectSchema({ id: text, object: { const: 'file' }, deleted: { const: true } }),
} as const;

/** The parts that the routes of files need. */
export interface FileRouteParts extends AccessParts {
  readonly files: ClientFiles;
  readonly budget: BodyBudget;
  readonly media: MediaPort;
}

/** The files of an account, with the contract of OpenAI's clients. */
export function fileRoutes(parts: FileRouteParts): RouteEntry[] {
  return [uploadRoute(parts), listRoute(parts), ...singleFileRoutes(parts), contentRoute(parts)];
}

function uploadRoute(parts: FileRouteParts): RouteEntry {
  return jsonRoute({
    kind: 'change',
    methods: ['POST'],
    path: FILES,
    token: { counts: 'calls' },
    answer: FILE_ANSWER,
    respond: async (exchange) => encodeFile(await uploadFile(parts, exchange)),
    doc: {
      tag: 'Files',
      operationId: 'createFile',
      summary: 'Upload the input of a batch',
      form: FILE_FORM,
      refuses: [400, 408, 413, 415, 422],
    },
  });
}

function listRoute({ files }: FileRouteParts): RouteEntry {
  return jsonRoute({
    kind: 'read',
    methods: ['GET'],
    path: FILES,
    token: { counts: 'reads' },
    answer: pageSchema('FilePage', FILE_ANSWER),
    respond: async (exchange) => {
      const query = readFileList(new URLSearchParams(exchange.querystring));
      const { accountId } = requirePrincipal(exchange);
      const { files: page, hasMore } = await files.list({ accountId, ...query }, toCaller(exchange));
      return encodePage(page, hasMore, encodeFile);
    },
    doc: {
      tag: 'Files',
      operationId: 'listFiles',
      summary: 'List files, newest first',
      parameters: FILE_LIST_PARAMETERS,
      refuses: [400],
    },
  });
}

function singleFileRoutes(parts: FileRouteParts): RouteEntry[] {
  return [
    jsonRoute({
      kind: 'read',
      methods: ['GET'],
      path: FILE,
      token: { counts: 'reads' },
      answer: FILE_ANSWER,
      respond: async (exchange) => encodeFile(await findFile(parts, exchange)),
      doc: {
        tag: 'Files',
        operationId: 'getFile',
        summary: 'Read a file without its bytes',
        refuses: [404],
      },
    }),
    jsonRoute({
      kind: 'change',
      methods: ['DELETE'],
      path: FILE,
      token: { counts: 'calls' },
      answer: DELETED_ANSWER,
      respond: async (exchange) => {
        const id = readFileId(exchange);
        if (!(await parts.files.remove(requirePrincipal(exchange).accountId, id, toCaller(exchange))))
          throw unknownFile();
        return { id, object: 'file', deleted: true };
      },
      doc: {
        tag: 'Files',
        operationId: 'deleteFile',
        summary: 'Delete a file',
        refuses: [404],
      },
    }),
  ];
}

function contentRoute(parts: FileRouteParts): RouteEntry {
  return {
    kind: 'read',
    methods: ['GET'],
    path: `${FILE}/content`,
    token: { counts: 'reads' },
    handle: async (exchange) => {
      const { id, filename } = await findFile(parts, exchange);
      closeWithoutAccess(parts, exchange);
      const served = { object: id, fileName: toHeaderFilename(filename), direct: true };
      await serveFromMedia(exchange, () => parts.media.serve(exchange.req, exchange.res, served));
    },
    doc: {
      tag: 'Files',
      operationId: 'getFileContent',
      summary: 'Fetch the bytes of a file',
      headers: ['Range'],
      answers: { 'application/octet-stream': { type: 'string', format: 'binary' } },
      answerHeaders: ['accept-ranges', 'content-disposition'],
      also: {
        206: {
          description: 'The requested range.',
          headers: ['accept-ranges', 'content-disposition', 'content-range'],
          types: ['application/octet-stream'],
        },
        304: { description: 'Not modified since the last fetch.' },
      },
      refuses: [404, 412, 416],
    },
  };
}

/** The account is counted before the first byte is read, and the file exists only once its form is right. */
async function uploadFile(parts: FileRouteParts, exchange: Exchange): Promise<StoredFile> {
  closeWithoutAccess(parts, exchange);
  const { files, budget } = parts;
  const { accountId, tokenId } = requirePrincipal(exchange);
  const { headers } = exchange.req;
  assertForm(headers);
  const upload = await files.upload(accountId, readFileBytes(headers), toCaller(exchange));
  try {
    const { fields, filename } = await receiveFileForm(exchange.req, {
      ...toReceiveOptions(exchange, budget, upload.bytesMax),
      assertField: assertFileField,
      takeFile: async (bytes) => {
        if ((await upload.receive(bytes)) === 0) throw emptyFile();
      },
    });
    return await upload.commit({ tokenId, filename: cutFilename(filename), ...readFileFields(fields) });
  } catch (error) {
    await abandon(upload);
    throw error;
  }
}

/** An upload that cannot be given up now ends by itself. */
async function abandon(upload: FileUpload): Promise<void> {
  await upload.abandon().catch(() => undefined);
}

async function findFile({ files }: FileRouteParts, exchange: Exchange): Promise<StoredFile> {
  const found = await files.find(requirePrincipal(exchange).accountId, readFileId(exchange), toCaller(exchange));
  if (found === undefined) throw unknownFile();
  return found;
}

function readFileId({ params }: Exchange): string {
  const { file_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw unknownFile();
}

function toCaller({ state: { requestId, span } }: Exchange): Caller {
  return { requestId, span };
}

function encodeFile({ id, bytes, createdAt, expiresAt, filename, purpose }: StoredFile): TypeOf<typeof FILE_ANSWER> {
  return {
    id,
    object: 'file',
    bytes: Number(bytes),
    created_at: toUnixSeconds(createdAt) ?? 0,
    expires_at: toUnixSeconds(expiresAt) ?? 0,
    filename,
    purpose: purpose === FilePurpose.BATCH ? 'batch' : 'batch_output',
    status: 'processed',
  };
}

function unknownFile(): Problem {
  return refuse('file_not_found', { message: 'no such file' });
}

function emptyFile(): Problem {
  return refuse('invalid_request', { field: 'file', message: 'must not be empty' });
}
