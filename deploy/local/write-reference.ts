import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { createFileRegistry, fromBinary, getOption, hasOption } from '@bufbuild/protobuf';
import type { DescEnum, DescField, DescFile, DescMessage, DescMethod, DescService } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema, MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { Scope, access } from '@reelgate/proto/access/v1/access';
import {
  field as fieldOption,
  oneof as oneofOption,
  repeatable_with as repeatableWith,
} from '@reelgate/proto/rules/v1/rules';
import type { FieldRules } from '@reelgate/proto/rules/v1/rules';
import { replaceFile } from './replace-file.ts';

// Writes the reference of all contracts, from their descriptors and comments, to the path that it is given.

const CONTRACTS = path.join(import.meta.dirname, '../../proto');
const IMAGE_BYTES_MAX = 32 * 1024 * 1024;
const HEAD = `# Reference

\`npm run gen\` writes this page from the contracts. The server enforces the rules of the fields before a method runs. A
field without \`required\` may be absent; its other rules hold when it is set. Several calls of an RPC with the same answer
again have the effect and the answer of one, so a call that may have run can be made again.
`;

/** Numbers of the parts of a descriptor, by which \`source_code_info\` names the place of a comment. */
const PART = {
  message: 4,
  enum: 5,
  service: 6,
  field: 2,
  nestedMessage: 3,
  nestedEnum: 4,
  method: 2,
  value: 2,
} as const;

type Comments = ReadonlyMap<string, string>;

function listContractFiles(): readonly DescFile[] {
  const image = execFileSync('buf', ['build', '-o', '-#format=binpb'], {
    cwd: CONTRACTS,
    maxBuffer: IMAGE_BYTES_MAX,
  });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  return [...registry.files]
    .filter(({ name }) => name.startsWith('reelgate/'))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the comments of a file, by the path of the element that follows. */
function readComments({ proto }: DescFile): Comments {
  const locations = proto.sourceCodeInfo?.location ?? [];
  return new Map(
    locations.map(({ path: at, leadingComments }) => [
      at.join('.'),
      leadingComments.trim().replaceAll(/\s*\n\s*/g, ' '),
    ]),
  );
}

function fileSection(file: DescFile): string {
  const comments = readComments(file);
  const said = (...at: readonly number[]): string => comments.get(at.join('.')) ?? '';
  const parts = [
    ...file.services.map((service, index) => serviceSection(service, (...at) => said(PART.service, index, ...at))),
    ...file.messages.map((message, index) => messageSection(message, (...at) => said(PART.message, index, ...at))),
    ...file.enums.map((one, index) => enumSection(one, (...at) => said(PART.enum, index, ...at))),
  ];
  return parts.length === 0 ? '' : `## ${file.name}.proto\n\n${parts.join('\n')}`;
}

type Said = (...at: readonly number[]) => string;

function serviceSection(service: DescService, said: Said): string {
  const rows = service.methods.map((method, index) => [
    `\`${method.name}\`${method.deprecated ? ' (deprecated)' : ''}`,
    `\`${stream(method, 'client')}${method.input.name}\``,
    `\`${stream(method, 'server')}${method.output.name}\``,
    describeAccess(method),
    describeRepeats(method),
    said(PART.method, index),
  ]);
  const heads = ['RPC', 'Request', 'Response', 'Scope and account', 'Same answer again', 'Does'];
  return section(service.name, said(), heads, rows);
}

function stream({ methodKind }: DescMethod, side: 'client' | 'server'): string {
  return methodKind === `${side}_streaming` ? 'stream ' : '';
}

/** Describes whether repeated calls have the effect and the answer of one. */
function describeRepeats(method: DescMethod): string {
  if (method.idempotency !== Level.IDEMPOTENCY_UNKNOWN) return 'yes';
  return hasOption(method, repeatableWith) ? `with \`${getOption(method, repeatableWith)}\`` : 'no';
}

function describeAccess(method: DescMethod): string {
  const { scope, whose } = getOption(method, access);
  const word = `\`${(Scope[scope] ?? '').toLowerCase().replace('_', '.')}\``;
  const field = `\`${String(whose.value)}\``;
  const account = {
    accountField: field,
    lookedUpBy: `the owner of ${field}`,
    everyAccount: 'every account',
    noAccount: 'no account',
  };
  return whose.case === undefined ? word : `${word}, ${account[whose.case]}`;
}

function messageSection(message: DescMessage, said: Said): string {
  const rows = message.fields.map((field, index) => [
    `\`${field.name}\`${field.deprecated ? ' (deprecated)' : ''}`,
    formatType(field),
    formatRules(field),
    said(PART.field, index),
  ]);
  const nested = message.nestedMessages
    .filter(({ proto }) => proto.options?.mapEntry !== true)
    .map((inner, index) => messageSection(inner, (...at) => said(PART.nestedMessage, index, ...at)));
  const enums = message.nestedEnums.map((inner, index) =>
    enumSection(inner, (...at) => said(PART.nestedEnum, index, ...at)),
  );
  return [section(message.name, said(), ['Field', 'Type', 'Rules', 'Means'], rows), ...nested, ...enums].join('\n');
}

function enumSection(one: DescEnum, said: Said): string {
  const rows = one.values.map(({ name, number }, index) => [`\`${name}\``, String(number), said(PART.value, index)]);
  return section(one.name, said(), ['Value', 'Number', 'Means'], rows);
}

function formatType(field: DescField): string {
  const single = field.proto.typeName === '' ? nameScalar(field) : (field.proto.typeName.split('.').at(-1) ?? '');
  if (field.fieldKind === 'map') return '`map`';
  if (field.fieldKind === 'list') return `\`repeated ${single}\``;
  return `\`${field.proto.proto3Optional ? 'optional ' : ''}${single}\``;
}

/** \`TYPE_INT64\` is \`int64\`. */
function nameScalar({ proto }: DescField): string {
  const names = ['', 'double', 'float', 'int64', 'uint64', 'int32', 'fixed64', 'fixed32', 'bool', 'string', 'group'];
  const later = ['message', 'bytes', 'uint32', 'enum', 'sfixed32', 'sfixed64', 'sint32', 'sint64'];
  return [...names, ...later][proto.type] ?? '';
}

function formatRules(field: DescField): string {
  const own = hasOption(field, fieldOption) ? listRuleWords(getOption(field, fieldOption)) : [];
  const { oneof } = field;
  const choice =
    oneof === undefined
      ? []
      : [
          `one of \`${oneof.name}\`${hasOption(oneof, oneofOption) && getOption(oneof, oneofOption).required ? ', required' : ''}`,
        ];
  return [...choice, ...own].join('; ');
}

function listRuleWords(rules: FieldRules): readonly string[] {
  const { minLen, maxLen, pattern, notContains, gte, lte, minItems, maxItems, items } = rules;
  const words: readonly (readonly [boolean, string])[] = [
    [rules.required, 'required'],
    [minLen > 0, `at least ${minLen} long`],
    [maxLen > 0, `at most ${maxLen} long`],
    [pattern !== '', `matches \`${pattern}\``],
    [notContains !== '', `does not contain \`${JSON.stringify(notContains)}\``],
    [gte !== undefined, `at least ${String(gte)}`],
    [lte !== undefined, `at most ${String(lte)}`],
    [rules.in.length > 0, `one of ${rules.in.map((one) => `\`${one}\``).join(', ')}`],
    [minItems > 0, `at least ${minItems} items`],
    [maxItems > 0, `at most ${maxItems} items`],
    [items !== undefined, `each item: ${items === undefined ? '' : listRuleWords(items).join(', ')}`],
    [rules.reason !== '', `reason \`${rules.reason}\``],
  ];
  return words.filter(([isSet]) => isSet).map(([, word]) => word);
}

function section(name: string, comment: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const table = rows.length === 0 ? [] : [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
  return [`### ${name}`, '', comment, '', ...table].join('\n');
}

const [target = path.join(CONTRACTS, 'reference.md')] = process.argv.slice(2);
const sections = listContractFiles()
  .map(fileSection)
  .filter((text) => text !== '');
replaceFile(target, `${[HEAD, ...sections].join('\n').trimEnd()}\n`);
