import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { Problem } from '../../problem.ts';
import { nearestName } from '../nearest-name.ts';
import { toConnectError } from '../problems.ts';

/** The maximum number of characters of a caller's text that a refusal repeats. */
const SHOWN_LENGTH_MAX = 100;
const VERB = 'POST';
/** The content types in which a message of a kind of RPC may be sent, each also as gRPC-web. */
const TYPES = {
  unary: ['application/json', 'application/proto'],
  stream: ['application/connect+json', 'application/connect+proto'],
};

interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error: ConnectError;
}

export type RpcHandler = Pick<UniversalHandler, 'requestPath' | 'method' | 'supportedContentType'>;
type RequestHead = Pick<IncomingMessage, 'url' | 'method' | 'headers'>;

/**
 * Answers a request that is for no RPC, or that the library would refuse without a word, in the form of an error of
 * Connect. Says whether it answered.
 */
export function newRefusals(
  handlers: readonly RpcHandler[],
): (request: RequestHead, response: ServerResponse) => boolean {
  const byPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  const services = new Map(handlers.map(({ method }) => [method.parent.typeName, method.parent]));
  return (request, response) => {
    const refusal = findRefusal(request, byPath, services);
    if (refusal === undefined) return false;
    const { status, headers = {}, error } = refusal;
    const body = errorToJsonBytes(error, undefined);
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-length': String(body.length), ...headers })
      .end(request.method === 'HEAD' ? undefined : body);
    return true;
  };
}

function findRefusal(
  { url = '', method = '', headers }: RequestHead,
  handlers: ReadonlyMap<string, RpcHandler>,
  services: ReadonlyMap<string, DescService>,
): Refusal | undefined {
  const path = url.split('?', 1)[0] ?? '';
  const handler = handlers.get(path);
  if (handler === undefined) return noSuchRpc(path, services);
  // The library would serve reads over GET too. Then the address would contain the message, and a key in it.
  if (method !== VERB) return wrongVerb(handler, method);
  const type = headers['content-type'] ?? '';
  return handler.supportedContentType(type) ? undefined : wrongType(handler.method, type);
}

function noSuchRpc(path: string, services: ReadonlyMap<string, DescService>): Refusal {
  const [, name = '', called = ''] = path.split('/');
  const service = services.get(name);
  const message = service === undefined ? noService(name, [...services.keys()]) : noMethod(service, called);
  return { status: 404, error: new ConnectError(message, Code.Unimplemented) };
}

function noService(given: string, names: readonly string[]): string {
  const meant = nearestName(given, names);
  const instead = meant === undefined ? `this port has ${names.join(', ')}` : `did you mean ${meant}`;
  return `there is no service ${quoteGiven(given)} here; ${instead}; call an RPC as POST /SERVICE/RPC`;
}

function noMethod({ typeName, methods }: DescService, given: string): string {
  const names = methods.map(({ name }) => name);
  const meant = nearestName(given, names);
  return `${typeName} has no RPC ${quoteGiven(given)}; ${meant === undefined ? `it has ${names.join(', ')}` : `did you mean ${meant}`}`;
}

function wrongVerb({ method }: RpcHandler, verb: string): Refusal {
  const problem = new Problem({
    kind: 'invalid',
    reason: 'method_not_allowed',
    message: `${method.name} is called with ${VERB}; this request is a ${verb}`,
  });
  return { status: 405, headers: { allow: VERB }, error: toConnectError(problem) };
}

function wrongType({ name, methodKind }: DescMethod, given: string): Refusal {
  const types = TYPES[methodKind === 'unary' ? 'unary' : 'stream'];
  const sent =
    given === '' ? 'this request has no content type' : `the content type of this request is ${quoteGiven(given)}`;
  const problem = new Problem({
    kind: 'invalid',
    reason: 'unsupported_media_type',
    message: `${name} takes ${types.join(' and ')}, or gRPC-web; ${sent}`,
  });
  return { status: 415, headers: { 'accept-post': types.join(', ') }, error: toConnectError(problem) };
}

function quoteGiven(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX).toWellFormed());
}
