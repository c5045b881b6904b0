/**
 * The quantity that a member of a usage object counts. Several spellings of one counter keep the largest value. `prompt` and `input`
 * are the same quantity in two spellings: whether a cache is inside it depends on the spelling.
 */
export type Counter = (typeof COUNTERS)[number];

export const COUNTERS = [
  'prompt',
  'input',
  'output',
  'total',
  'cacheRead',
  'cacheReadBeside',
  'cacheMiss',
  'cacheWrite',
  'cacheWriteBeside',
  'cacheWrite5m',
  'cacheWrite1h',
  'cachedAudio',
  'cachedImage',
  'textInput',
  'audioInput',
  'imageInput',
  'videoInput',
  'textOutput',
  'audioOutput',
  'imageOutput',
  'reasoning',
  'thoughts',
  'toolUse',
  'searches',
  'xSearches',
  'seconds',
  'characters',
  'images',
] as const;

type Words = ReadonlySet<string>;

interface Name {
  /** The words of the member's own name. */
  readonly own: Words;
  /** The words of its path within the usage. */
  readonly all: Words;
}

/** Words of members that count something else, or only a possible or predicted use. */
const NO_COUNT = toWords(
  'limit max min remaining quota budget available context price cost rate per percent ratio speed latency time ms size id',
  'accepted rejected prediction predicted estimated average previous pixels bytes tier ticks file document citation',
);
const TOKEN = toWords('token tokens');
const INPUT = toWords('input prompt request query in');
const OUTPUT = toWords(
  'output completion completions response responses candidates candidate generated generation answer out',
);
const CACHE = toWords('cache cached caching uncached cacheable');
const MISS = toWords('miss missed uncached non no not fresh');
const WRITE = toWords('write writes written creation create created store stored ephemeral 5m 1h');
const REASONING = toWords('reasoning reason thinking think');
const THOUGHTS = toWords('thoughts thought');
const MODALITY = toWords('text audio image video');
const SEARCH_UNIT = toWords('request requests query queries call calls unit units count num number invocations');
const SECONDS = toWords('seconds second duration audio prompt input output');
/** A member without the word token counts tokens only if it has no other words than these. */
const BARE = toWords(
  'input prompt output completion total count cache cached read reads write writes creation created hit hits miss',
  'reasoning thinking thoughts details detail usage eval',
);

/** The first row that fits names the counter, undefined if no price uses such a part. */
const RULES: readonly (readonly [fits: (name: Name) => boolean, counter: Counter | undefined])[] = [
  [({ all }) => all.has('1h') && hasAny(all, CACHE), 'cacheWrite1h'],
  [({ all }) => all.has('5m') && hasAny(all, CACHE), 'cacheWrite5m'],
  [({ all }) => hasAny(all, CACHE) && hasAny(all, MISS), 'cacheMiss'],
  [({ own, all }) => hasAny(all, CACHE) && hasAny(all, WRITE) && own.has('input'), 'cacheWriteBeside'],
  [({ all }) => hasAny(all, CACHE) && hasAny(all, WRITE), 'cacheWrite'],
  [({ all }) => hasAny(all, CACHE) && all.has('audio'), 'cachedAudio'],
  [({ all }) => hasAny(all, CACHE) && all.has('image'), 'cachedImage'],
  [({ all }) => hasAny(all, CACHE) && all.has('video'), undefined],
  [({ own, all }) => hasAny(all, CACHE) && own.has('read') && own.has('input'), 'cacheReadBeside'],
  [({ all }) => hasAny(all, CACHE), 'cacheRead'],
  [({ all }) => all.has('tool') && hasAny(all, MODALITY), undefined],
  [({ all }) => all.has('tool') && hasAny(all, INPUT), 'toolUse'],
  [({ all }) => hasAny(all, THOUGHTS), 'thoughts'],
  [({ all }) => hasAny(all, REASONING), 'reasoning'],
  [({ all }) => all.has('audio') && hasAny(all, OUTPUT), 'audioOutput'],
  [({ all }) => all.has('image') && hasAny(all, OUTPUT), 'imageOutput'],
  [({ all }) => all.has('text') && hasAny(all, OUTPUT), 'textOutput'],
  [({ all }) => hasAny(all, MODALITY) && hasAny(all, OUTPUT), undefined],
  [({ own, all }) => own.has('total') && !hasAny(own, MODALITY) && hasAny(all, MODALITY), undefined],
  [({ all }) => all.has('audio'), 'audioInput'],
  [({ all }) => all.has('image'), 'imageInput'],
  [({ all }) => all.has('video'), 'videoInput'],
  [({ all }) => all.has('text'), 'textInput'],
  [({ all }) => hasAny(all, OUTPUT), 'output'],
  [({ all }) => all.has('prompt'), 'prompt'],
  [({ all }) => hasAny(all, INPUT), 'input'],
  [({ all }) => all.has('eval'), 'output'],
  [({ all }) => all.has('total'), 'total'],
];

/** A member of a usage by its name, and the members within it. */
export interface MemberName {
  /** The quantity that the member counts, undefined if it does not count a known one. */
  readonly counter: Counter | undefined;
  readonly path: string;
  readonly members: Map<string, MemberName>;
}

/** Upstreams choose the names, so the memory of them begins anew when it is full. */
const KNOWN_MAX = 2000;
const USAGE: MemberName = { counter: undefined, path: '', members: new Map() };
let known = 0;

/** Returns the name of a usage itself, below which its members are named. */
export function nameUsage(): MemberName {
  if (known >= KNOWN_MAX) {
    USAGE.members.clear();
    known = 0;
  }
  return USAGE;
}

/** Returns the name of a member by the words of its path, in upper or lower case. */
export function nameMember(holder: MemberName, own: string): MemberName {
  const before = holder.members.get(own);
  if (before !== undefined) return before;
  const path = holder.path === '' ? own : `${holder.path}.${own}`;
  const name = { counter: classify(path), path, members: new Map<string, MemberName>() };
  holder.members.set(own, name);
  known += 1;
  return name;
}

function classify(path: string): Counter | undefined {
  const [all, own] = [splitWords(path), splitWords(path.slice(path.lastIndexOf('.') + 1))];
  if (hasAny(all, NO_COUNT)) return undefined;
  if (isSearch({ own, all })) return own.has('x') ? 'xSearches' : 'searches';
  if (hasOnly(own, SECONDS) && (own.has('seconds') || own.has('duration'))) return 'seconds';
  if (own.has('characters')) return 'characters';
  if (!hasAny(all, TOKEN) && !hasOnly(all, BARE)) return undefined;
  return RULES.find(([fits]) => fits({ own, all }))?.[1];
}

function isSearch({ own, all }: Name): boolean {
  if (own.has('searches') || (all.has('sources') && all.has('used'))) return true;
  return all.has('search') && (hasAny(own, SEARCH_UNIT) || all.has('tool'));
}

/** Splits `cacheReadInputTokens`, `cache_read_input_tokens` and `ephemeral1hInputTokens` alike. */
function splitWords(text: string): Words {
  const parts = text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/([a-z])(\d)/g, '$1 $2')
    .split(/[^a-z\d]+/);
  return new Set(parts.filter((word) => word !== ''));
}

function toWords(...lines: readonly string[]): Words {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

function hasAny(words: Words, wanted: Words): boolean {
  return !words.isDisjointFrom(wanted);
}

function hasOnly(words: Words, allowed: Words): boolean {
  return words.isSubsetOf(allowed);
}
