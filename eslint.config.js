import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const tests = ['**/*.test.{ts,tsx}', '**/testing/**/*.{ts,tsx}', 'test/**/*.ts'];
/** Programs that a person starts: they may print. */
const programs = ['deploy/**', 'test/**'];
/**
 * Where the world outside comes in: the one source of time, of chance, of the environment. The transports belong here,
 * since a deadline on a wire is wall time whatever the clock of a test says.
 */
const sourcesOfTheWorld = [
  'services/platform/src/{clock,ids}.ts',
  'services/platform/src/rpc/**',
  '**/main.ts',
  'deploy/local/**',
  'deploy/image/**',
];

const ban = (selector, message) => ({ selector, message });
const CLOCK = 'Take the time from the injected Clock.';
const WAIT = 'Wait through the injected Clock.';
const determinism = [
  ban("NewExpression[callee.name='Date'][arguments.length=0]", CLOCK),
  ban("CallExpression[callee.name='Date']", CLOCK),
  ban("MemberExpression[object.name='Date'][property.name='now']", CLOCK),
  ban("MemberExpression[object.name='performance'][property.name='now']", CLOCK),
  ban("MemberExpression[object.name='process'][property.name='hrtime']", CLOCK),
  ban('CallExpression[callee.name=/^set(Timeout|Interval)$/]', WAIT),
  ban('ImportDeclaration[source.value=/^(node:)?timers/]', WAIT),
  ban("MemberExpression[object.name='Math'][property.name='random']", 'Take chance from the injected source.'),
  ban("ImportSpecifier[imported.name='randomUUID']", 'Take ids from the injected newId.'),
  ban("MemberExpression[property.name='randomUUID']", 'Take ids from the injected newId.'),
  ban("MemberExpression[object.name='process'][property.name='env']", 'Only main.ts reads the environment.'),
  ban('ImportDeclaration[source.value=/^(node:)?process$/]', 'Only main.ts reads the environment.'),
  ban("CallExpression[callee.object.name='process'][callee.property.name='exit']", 'Only main.ts ends the program.'),
];
const shape = [
  ban('ExportDefaultDeclaration', 'Export by name.'),
  ban('ExportAllDeclaration', 'No barrel files: import a thing from where it is.'),
  ban(
    'ImportDeclaration[source.value=/^\\..*\\.js$/]',
    'Node runs the sources: a relative import ends in .ts or .tsx.',
  ),
];

/** Faults that neither the compiler nor typescript-eslint reports. */
const faults = {
  'array-callback-return': 'error',
  eqeqeq: 'error',
  'no-constant-binary-expression': 'error',
  'no-empty': ['error', { allowEmptyCatch: false }],
  'no-param-reassign': 'error',
  'no-self-compare': 'error',
  'no-template-curly-in-string': 'error',
  'no-unsafe-finally': 'error',
  'no-useless-rename': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  'prefer-const': 'error',
};

const sizes = {
  'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 4],
  'max-depth': ['error', 3],
  // a hint: a flat list of cases reads better than the functions that a limit would make of it
  complexity: ['warn', 15],
};

const types = {
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/no-confusing-void-expression': [
    'error',
    { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
  ],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/no-unused-vars': [
    'error',
    {
      ignoreRestSiblings: true,
      argsIgnorePattern: '^_',
      destructuredArrayIgnorePattern: '^_',
      varsIgnorePattern: '^_$',
    },
  ],
  '@typescript-eslint/prefer-readonly': 'error',
  '@typescript-eslint/only-throw-error': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
  '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
  // texts are counted and cut by code point
  '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
  // `rows<T>()` names what a cast would name at every call
  '@typescript-eslint/no-unnecessary-type-parameters': 'off',
  // on where code is pure (below); elsewhere it takes `signal.aborted` to be what it was before the last await
  '@typescript-eslint/no-unnecessary-condition': 'off',
  // a port is async even where an adapter need not wait
  '@typescript-eslint/require-await': 'off',
  // optional data of the wire is read through index signatures, and the compiler asks for brackets there
  '@typescript-eslint/dot-notation': 'off',
};

export default defineConfig(
  globalIgnores(['proto/gen', 'deploy/examples/grpc-typescript/*.ts', '**/node_modules', '**/data', 'coverage']),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: { ...faults, ...sizes, 'no-console': 'error' },
  },
  { files: ['**/*.{js,mjs,cjs}'], rules: { 'no-unused-vars': 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      ...types,
      'no-restricted-syntax': ['error', ...shape, ...determinism],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Dial out through media/fetch, channels or relay, with a bound on time and size.' },
      ],
    },
  },
  {
    files: ['services/*/src/{domain,dialects}/**'],
    rules: { '@typescript-eslint/no-unnecessary-condition': 'error' },
  },
  {
    files: sourcesOfTheWorld,
    rules: { 'no-restricted-syntax': ['error', ...shape] },
  },
  { files: ['**/*.d.ts'], rules: { 'no-restricted-syntax': 'off' } },
  // the file of an operator, whose name it does not know itself
  { files: ['services/tasks/adapter-kit/example/*.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: tests,
    rules: {
      // a describe block is a list, not a function to read
      'max-lines-per-function': 'off',
      // the rows of a table are read one by one
      'max-lines': ['error', { max: 480, skipBlankLines: true, skipComments: true }],
      // nor is a row of a table a list of parameters
      'max-params': 'off',
      'no-restricted-syntax': 'off',
      'no-restricted-globals': 'off',
      // what an expectation is given may be anything: the expectation is the check
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      // clients still call what their vendor retires, and that is what must be tried
      '@typescript-eslint/no-deprecated': 'off',
    },
  },
  {
    // pages run in a browser, whose time and timers they show and wait with
    files: ['services/gateway/console/**/*.{ts,tsx}'],
    ignores: ['**/*.test.{ts,tsx}'],
    rules: { 'no-restricted-syntax': ['error', ...shape], 'no-restricted-globals': 'off' },
  },
  {
    // every text of the console is in one file
    files: ['services/gateway/console/words.ts', 'services/gateway/console/pages/operator/operator-words.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    // a composition root lists its parts
    files: ['**/app.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 100, skipBlankLines: true, skipComments: true }] },
  },
  { files: programs, rules: { 'no-console': 'off' } },
);
