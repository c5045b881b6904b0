interface Unreached {
  readonly reason: string;
  readonly messages: readonly string[];
}

const GROUPS: readonly Unreached[] = [
  {
    reason: 'the product forbids it: the line reports a fault of its own',
    messages: [
      'a finished task is neither completed nor failed; its hold stays',
      'a completed task has no hold',
      'the lines of events in the ledger do not sum to zero',
      'a request failed',
      'a listener failed',
      'leased work failed',
    ],
  },
  {
    reason: 'the media service parses in the process of the simulation, and starts no other one',
    messages: [
      'parsers have network access, and limits of heap and time only: this system has no others',
      'parsers are confined',
      'a parser can open the files of this user: the kernel has no Landlock (5.13 or later), or there is no perl',
      'parsers have network access: this machine allows no network namespace',
      'parsers share the user namespace of this process: this machine allows no other',
      'a parser was not started',
      'a file blocked, filled or ended its parser; the process was ended',
      'media.ffmpeg is off: only results in H.264 and VP8 have a thumbnail',
      'ffmpeg draws the thumbnails of results that are neither H.264 nor VP8',
      'no ffmpeg on the PATH: only results in H.264 and VP8 have a thumbnail; install it or set media.ffmpeg',
      'ffmpeg gave no frame of a file',
      'a thumbnail was not drawn',
      'a result has no thumbnail',
    ],
  },
  {
    reason: 'the simulated network of the media service gives whole files, and has no addresses',
    messages: [
      'a transfer broke off and continues',
      'a webhook receiver is not dialled',
      'a medium of a private address was refused',
    ],
  },
  {
    reason: 'no service listens on a port of its own, and the public one has no sockets',
    messages: [
      'a source address has too many connections open; new ones are reset',
      'bytes were not served',
      'Connect cannot be served',
      'a call failed',
      'a call of a list failed',
      'a call failed after its caller had left',
      'new certificates are in use',
      'the certificates of the files are refused; the last ones stay in use',
    ],
  },
  {
    reason: 'no console runs, and no operator signs in',
    messages: [
      'an address sends wrong keys',
      'a page of the console is shown in part',
      'a call of the console failed',
      'an act at the console was refused',
      'sessions could not be ended yet; this is tried again',
    ],
  },
  {
    reason: 'no client speaks MCP, and none opens a WebSocket',
    messages: [
      'a call over MCP failed',
      'a call over MCP could not be served',
      'a thumbnail could not be read',
      'a channel broke off a realtime session',
      'a realtime session failed',
      'a channel did not take a realtime session',
    ],
  },
  {
    reason: 'no client reads the bytes of a result over gRPC, and none uploads a medium',
    messages: [
      'the bytes of a result broke off',
      'the reservation of an upload could not be ended; it expires by itself',
      'the inline media of a create could not be removed; they expire by themselves',
      'the bytes of a job could not be removed; they end with their time',
    ],
  },
  {
    reason: 'the simulated bus and database server replace NATS, Redis and PostgreSQL',
    messages: [
      'the stream has new limits',
      'the server refuses these limits of the stream; the old ones stay',
      'the stream and its consumers could not be ensured',
      'an applied configuration was not announced to operators',
      'redis is away: each replica keeps to its part of the shared limits',
      'redis is used again: the replicas share their limits',
    ],
  },
  {
    reason: 'no spans are sent, and no metrics are read',
    messages: [
      'spans were dropped',
      'spans are sent over another protocol',
      'the numbers of a gauge could not be read',
    ],
  },
  {
    reason: 'a process ends by its death, and never by a signal',
    messages: ['a part did not stop cleanly', 'a part did not stop in time'],
  },
  {
    reason:
      'no seed has such a configuration: other signing keys, prices of upstreams, tokens without a key, fewer channels',
    messages: [
      'no accepted signing key opens the secret of a webhook endpoint; its owner can rotate it',
      'webhook secrets were sealed anew',
      'the upstream price has no amount',
      'a token without a key is made at the next start',
      'tasks wait in a lane that no channel serves',
    ],
  },
  {
    reason: 'the simulated upstreams sign no callbacks, return no last frames, and report the usage of every call',
    messages: [
      'a callback was refused: the public keys of the upstream cannot be read',
      'the picture of the last frame was left out',
      'the usage of a call is far above its hold; a part of it was not charged',
      'a channel refuses to report the usage of streams; each of them costs its hold; ask_usage: false turns the request off',
    ],
  },
  {
    reason: 'more calls would have to end at once than a run has',
    messages: ['the queue of settlements is full; this hold will lapse'],
  },
  {
    reason: 'a kept file is never lost',
    messages: ['the bytes of an object are not there'],
  },
];

/** The messages of the log that no seed reaches, each with its reason. One that appears must leave this table. */
export const UNREACHED: Readonly<Record<string, string>> = Object.fromEntries(
  GROUPS.flatMap(({ reason, messages }) => messages.map((message) => [message, reason])),
);

/** Messages that a seed can reach, and of which forty seeds miss some: a fault must come at the right moment. */
export const RARE_MESSAGES: ReadonlySet<string> = new Set([
  'calls lapsed and were charged their holds',
  'calls lapsed unconfirmed and were released',
  'the outcome of a check of the ledger could not be kept',
  'a hold of a list failed',
  'work on a batch is tried again',
  'a job waits for the lease of its create to end',
  'the outcome of a job was not recorded',
  'a job failed',
  'the outcome of a job was not recorded; it is sent again',
  'the pauses of channels cannot be read; the known ones stay',
  'a call was not settled; its hold will lapse',
  'billing did not take settlements; they are sent again',
  'attempts of webhooks were not recorded',
  'attempts of webhooks are recorded again',
  'an event stream broke off',
  'a webhook could not be sent',
  'the time of a configuration could not be written',
  'an unfinished task is past the soft deadline',
  'a pass over a batch failed; it is tried again',
  'a batch waits for its lease to end',
  'billing did not say what lines of a batch were charged',
  'the pause of a channel is over',
  'the pauses of channels could not be read',
  'the wait that an upstream asks for could not be written',
  'a callback names work that is not listed as the order',
  'tasks are cancelled in the queue',
  'the outcome of a job is unknown',
  'a callback names the work of another task',
  'a finished task could not be settled',
  'a task returned to its place in the queue',
  'billing could not say whether an interrupted create has a hold',
  'a webhook endpoint was deleted',
  'a webhook endpoint was disabled',
  'the calls of a channel could not be written',
  'a poll of an upstream failed',
  'the outcome of a settlement could not be written',
  'billing did not say which tasks are settled, so each is settled on its own',
  'the submission of a task from the queue failed',
]);
