/*
 * Who may import whom; the README draws it. Run it as:
 *   depcruise --config test/architecture/import-rules.cjs services deploy
 * A path in `to` that begins with ^node: or node_modules is a package; all others are files of this repository.
 */
const floors = require('./floors.cjs');

const service = '^services/(gateway|tasks|billing|media)/src/';
const tests = '\\.test\\.tsx?$|/testing/|^test/';
const concrete =
  '/src/(store|store/[a-z]+|blobs|rate-counters)/(sql|disk|s3|redis|memory|local)-|/src/channels/adapters/';
/** The rooms that build the message of a read model where they read it. */
const readers = '^services/(tasks|billing|media)/src/(store|operations)/|^services/media/src/fetch/webhooks/';
/** The rooms that call by the contracts or show them, and app.ts. */
const edges = [
  '/src/(domain|rpc|clients|events|dialects|console-server|webhooks|batches|jobs)/',
  '/src/app\\.ts$',
  tests,
];
/** The contracts that have read models. The enums of tasks, orders and the queue are members of their messages. */
const readModels =
  '^proto/gen/reelgate/(access/v1/(act|service_event)' +
  '|billing/v1/(account_service|billing_service|call_service|hold|money|price|usage_service)' +
  '|media/v1/(file_service|media_service|operator_service)' +
  '|tasks/v1/(operator_service|order|activity|batch|job|queue|queue_service|task|webhook|webhook_service))_pb\\.';
/** The enums of the contracts, and the type of their words. */
const enumTypes = '^proto/gen/reelgate/(billing|tasks)/|^services/platform/src/rpc/enum-words\\.ts$';
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** Restricts a library that opens connections to the one folder that may use it. */
const driver = (name, library, place) =>
  rule(
    `${name}-behind-its-seam`,
    `Only the file behind the seam knows ${name}.`,
    { path: '^(services|deploy)/', pathNot: [place, tests] },
    { path: library },
  );

const layers = [
  rule(
    'services-meet-by-contract',
    'A service reaches another by call or event, never by import.',
    { path: '^services/(gateway|tasks|billing|media)/' },
    { path: '^services/', pathNot: ['^services/$1/', '^services/platform/'] },
  ),
  rule(
    'services-know-no-deploy',
    'What runs the services stands above them.',
    { path: '^services/', pathNot: tests },
    { path: '^deploy/' },
  ),
  rule(
    'deploy-enters-by-app',
    'A program builds a service through its app.ts and reads settings through its config.ts.',
    { path: '^deploy/', pathNot: tests },
    { path: service, pathNot: '/src/(app|config)\\.ts$' },
  ),
  rule(
    'platform-is-a-leaf',
    'The platform knows no service and, of the contracts, only Problem and the rules that it enforces.',
    { path: '^services/platform/', pathNot: '\\.test\\.ts$' },
    {
      path: ['^proto/', '^services/(?!platform/)', '^deploy/'],
      pathNot: '^proto/gen/reelgate/(problem|access|rules)/',
    },
  ),
  rule(
    'domain-is-pure',
    'domain/ imports domain/: no node:, no package, no platform, and of the contracts the types of enums.',
    { path: '^services/([^/]+)/src/domain/', pathNot: tests },
    { pathNot: ['^services/$1/src/domain/', enumTypes] },
  ),
  rule(
    'domain-gets-no-code-of-a-contract',
    'The words of an enum of a contract are a type in the domain; none of its code runs there.',
    { path: '^services/[^/]+/src/domain/', pathNot: tests },
    { path: enumTypes, dependencyTypesNot: ['type-only'] },
  ),
  rule(
    'operations-see-ports',
    'An operation names a port, never what stands behind it.',
    { path: '^services/[^/]+/src/operations/', pathNot: tests },
    {
      path: [
        '/src/(rpc|http|events|workers)/',
        '/src/(app|main)\\.ts$',
        concrete,
        'node_modules/(pg|koa|@koa/router|redis|nats|undici)/',
      ],
      // These two build messages, and know of no call.
      pathNot: '^services/platform/src/rpc/(enum-words|whole-message)\\.ts$',
    },
  ),
  rule(
    'contracts-stay-at-the-edge',
    'Generated types stop at rpc/, clients/, events/, dialects/ and app.ts. Consoles, jobs, batches and webhooks show them.',
    { path: service, pathNot: [...edges, '^services/gateway/', readers] },
    { path: '^proto/gen/' },
  ),
  rule(
    'gateway-reads-messages',
    'Every room of the gateway reads the messages of the contracts; the code of the contracts stays at the edge.',
    { path: '^services/gateway/src/', pathNot: edges },
    { path: '^proto/gen/', dependencyTypesNot: ['type-only'] },
  ),
  rule(
    'read-models-are-messages',
    'A store or an operation builds the messages of read models; a thing with rules has a type of the domain.',
    { path: readers, pathNot: tests },
    { path: '^proto/gen/', pathNot: readModels },
  ),
  rule(
    'only-app-builds',
    'What stands behind a port is built in app.ts; config.ts knows the names of adapters.',
    {
      path: service,
      pathNot: ['/src/(app|config|config-schema)\\.ts$', '/src/(store|blobs|rate-counters|channels)/', tests],
    },
    { path: concrete },
  ),
];

/** Two rules for the rooms of a folder: none imports its own floor or a higher one, and each has a floor. */
const roomRules = ([folder, rooms]) => {
  const either = (names) => `(${names.join('|')})`;
  return [
    ...rooms.map((floor, at) =>
      rule(
        `floor-${at}-of-${folder}`,
        'A room imports rooms of lower floors; test/architecture/floors.cjs has them.',
        { path: `^${folder}/${either(floor)}/`, pathNot: tests },
        { path: `^${folder}/${either(rooms.slice(at).flat())}/`, pathNot: `^${folder}/$1/` },
      ),
    ),
    rule(
      `floors-of-${folder}-are-whole`,
      'A new room has a floor in test/architecture/floors.cjs.',
      { path: `^${folder}/(?!${either(rooms.flat())}/)[^/]+/`, pathNot: tests },
      {},
    ),
  ];
};

const rooms = [
  ...Object.entries(floors).flatMap(roomRules),
  rule(
    'rooms-know-no-top',
    'A room names the settings that it needs; app.ts hands them over.',
    { path: '^services/[^/]+/src/[^/]+/', pathNot: tests },
    { path: '^services/[^/]+/src/(app|config)\\.ts$' },
  ),
];

const islands = [
  rule(
    'dialects-are-islands',
    'A dialect imports its own folder and dialects/wire, no other dialect.',
    { path: '/src/dialects/([^/]+)/', pathNot: tests },
    { path: '/src/dialects/[^/]+/', pathNot: '/src/dialects/($1|wire)/' },
  ),
  rule(
    'adapters-are-islands',
    'An adapter imports the channel port and toolkit, no other adapter.',
    { path: '/src/channels/adapters/(?!index)([^/.]+)', pathNot: tests },
    { path: '/src/channels/adapters/', pathNot: '/adapters/$1[./]' },
  ),
  rule(
    'picture-decoder-is-a-leaf',
    'The picture decoder imports its own files: no node:, no package, nothing of media.',
    { path: '^services/media/picture-decoder/', pathNot: tests },
    { pathNot: '^services/media/picture-decoder/' },
  ),
  rule(
    'picture-decoder-has-one-door',
    'Media calls the one function that the picture decoder exports.',
    { path: '^services/media/(?!picture-decoder/)' },
    { path: '^services/media/picture-decoder/', pathNot: '/src/decode-key-frame\\.ts$' },
  ),
];

const pages = [
  rule(
    'pages-are-browser-code',
    'A page imports other pages and its one package: no node:, nothing of the services but types of the domain.',
    { path: '^services/gateway/console/', pathNot: tests },
    {
      pathNot: [
        '^services/gateway/(console|src/domain)/',
        '^proto/gen/',
        '(^|/)node_modules/(preact|@bufbuild/protobuf)/',
      ],
    },
  ),
  rule(
    'pages-get-no-code-of-the-contracts',
    'The contracts give the calls of the pages their types; a browser gets none of their code.',
    { path: '^services/gateway/console/', pathNot: tests },
    { path: ['^proto/gen/', '(^|/)node_modules/@bufbuild/'], dependencyTypesNot: ['type-only'] },
  ),
  rule(
    'pages-get-no-code-of-the-domain',
    'The domain gives the answers of the pages their types; a browser gets none of its code.',
    { path: '^services/gateway/console/', pathNot: tests },
    { path: '^services/gateway/src/domain/', dependencyTypesNot: ['type-only'] },
  ),
  rule(
    'clients-know-no-page',
    'What another service answers has its type below the screen that shows it.',
    { path: '^services/gateway/src/(?!console-server/)', pathNot: tests },
    { path: '^services/gateway/console/' },
  ),
  rule(
    'the-server-knows-the-types-of-pages',
    'The gateway takes from the pages the types of their answers, the tables of their addresses and filters, and values.',
    { path: '^services/gateway/src/', pathNot: tests },
    {
      path: '^services/gateway/console/',
      pathNot: '^services/gateway/console/(api/|(client-|operator-)?(routes|filters|values)\\.ts$)',
    },
  ),
];

const connections = [
  rule(
    'only-the-guarded-fetch-dials-out',
    'In media an address from outside is dialled in fetch/, and a bucket in blobs/.',
    { path: '^services/media/src/', pathNot: ['/src/(fetch|blobs)/', tests] },
    { path: '^(node:)?(https?|http2|net|tls|dns)(/promises)?$', dependencyTypesNot: ['type-only'] },
  ),
  driver(
    'undici',
    'node_modules/undici/',
    '^services/(platform/src/|gateway/src/(relay|clients)/|tasks/src/(channels|clients)/|media/src/(fetch|blobs)/)' +
      '|^deploy/local/',
  ),
  driver('pg', 'node_modules/pg/', '^services/platform/src/sql/postgres[a-z-]*\\.ts$'),
  driver(
    'sqlite',
    '^(node:)?sqlite$',
    '^services/platform/src/sql/sqlite(-lock|-snapshot|-statements|-log-thread)?\\.ts$',
  ),
  driver('nats', 'node_modules/nats/', '^services/platform/src/bus/nats-[a-z-]+\\.ts$'),
  driver('opentelemetry', 'node_modules/@opentelemetry/', '^services/platform/src/trace/otel-[a-z-]+\\.ts$'),
  driver('redis', 'node_modules/(@redis/client|redis)/', '/redis-[a-z-]+\\.ts$'),
];

const hygiene = [
  rule('no-cycles', 'In a cycle nobody can say which module is the lower one.', {}, { circular: true }),
  rule(
    'no-test-code-in-product',
    'Product code imports no test and nothing that was made for tests.',
    { path: '^(services|deploy)/', pathNot: tests },
    { path: tests },
  ),
  rule(
    'declared-packages-only',
    'What a workspace imports stands in its own package.json; an example is no part of one.',
    { path: '^(services|deploy)/', pathNot: [tests, '^deploy/examples/'] },
    { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'unknown'], dependencyTypesNot: ['type-only'] },
  ),
  rule('resolvable', 'An import that leads nowhere.', {}, { couldNotResolve: true }),
];

module.exports = {
  forbidden: [...layers, ...rooms, ...islands, ...pages, ...connections, ...hygiene],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '^proto/gen/'] },
    // Its test generates the code that it imports.
    exclude: { path: '^deploy/examples/grpc-typescript/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'import', 'default'] },
  },
};
