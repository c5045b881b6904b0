import type { IncomingMessage, ServerResponse } from 'node:http';

/** Handles a request that it knows. Otherwise it gives false and does nothing. */
export type HttpRoute = (request: IncomingMessage, response: ServerResponse) => boolean;
