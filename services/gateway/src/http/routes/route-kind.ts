/**
 * The label by which the objectives of the service level choose their requests: `create` makes paid work, `read` and
 * `stream` show what there is, `change` changes or ends it, and an upstream answers a `relay`.
 */
export type RouteKind =
  'create' | 'read' | 'stream' | 'change' | 'relay' | 'callback' | 'page' | 'console' | 'unsupported';
