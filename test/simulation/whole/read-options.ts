import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { PlantedBug } from './plant-bug.ts';

/** Far more than a run needs. */
export const STEPS_MAX = 2_000_000;
const CORES_MAX = 64;
const HOURS_MAX = 1000;
const NAMES_MAX = 200;
const PART =
  /^(crash \d{1,3}|place-\d{1,2} start in second \d{1,5}|([\w.:-]{1,60} )?aim at [a-z]{1,10} [\w ]{1,20}|(order|call|batch|upload)-\d{1,4}|stream|watch|team|backup|decisions|retention|operator [a-z ]{1,20}\d{0,2})$/;

const USAGE = `npm run simulate -- --seed N [--seeds COUNT] [--steps M] [--without NAMES] [--log FILE] [--bug NAME] [--messages]
npm run simulate -- --seed N --shrink
npm run simulate -- --seed N [--seeds COUNT] --without NAMES --survival
npm run simulate -- --kept [--seeds COUNT]
npm run simulate -- --night [--hours H | --until HH:MM] [--seed N] [--cores N] [--keep FOLDER]`;

/** An option that the command line does not take. */
export class BadOption extends Error {
  override readonly name = 'BadOption';
}

export interface SeedsOptions {
  /** Undefined: it follows from the commit or the date. */
  readonly seed: number | undefined;
  readonly seeds: number | undefined;
  readonly stepsMax: number;
  readonly without: ReadonlySet<string>;
  readonly log: string | undefined;
  readonly bug: { readonly name: string; readonly planted: PlantedBug } | undefined;
  /** One line of JSON for each seed, for the program that started this one. */
  readonly asJson: boolean;
  /** Reports which messages of the product's log have appeared. */
  readonly hasMessages: boolean;
}

export interface NightOptions extends SeedsOptions {
  readonly hours: number | undefined;
  /** Minutes of the day. */
  readonly until: number | undefined;
  readonly cores: number;
  readonly keep: string | undefined;
}

/** The options of the command line, by what is asked for. */
export type SimulateOptions =
  | ({ readonly mode: 'seeds'; readonly seed: number } & SeedsOptions)
  | ({ readonly mode: 'shrink' | 'survival'; readonly seed: number } & SeedsOptions)
  | ({ readonly mode: 'kept' } & SeedsOptions)
  | ({ readonly mode: 'night' } & NightOptions);

/** Reads the command line. Throws BadOption. */
export function readOptions(words: readonly string[]): SimulateOptions {
  const values = parseWords(words);
  const options: NightOptions = {
    seed: readNumber('seed', values.seed),
    seeds: readNumber('seeds', values.seeds),
    stepsMax: readNumber('steps', values.steps) ?? STEPS_MAX,
    without: readNames(values.without),
    log: values.log,
    bug: readBug(values.bug),
    asJson: values.json === true,
    hasMessages: values.messages === true,
    hours: readHours(values.hours),
    until: readTime(values.until),
    cores: readNumber('cores', values.cores) ?? 1,
    keep: values.keep,
  };
  if (options.cores < 1 || options.cores > CORES_MAX)
    throw new BadOption(`cores: ${options.cores} is out of bounds; expected 1 to ${CORES_MAX}`);
  if (values.night === true) return { mode: 'night', ...options };
  if (values.kept === true) return { mode: 'kept', ...options };
  const { seed } = options;
  if (seed === undefined) throw new BadOption(`seed: is missing; expected a whole number\n${USAGE}`);
  if (values.survival === true) return { mode: 'survival', ...options, seed };
  return { mode: values.shrink === true ? 'shrink' : 'seeds', ...options, seed };
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        steps: { type: 'string' },
        without: { type: 'string' },
        log: { type: 'string' },
        bug: { type: 'string' },
        json: { type: 'boolean' },
        messages: { type: 'boolean' },
        shrink: { type: 'boolean' },
        survival: { type: 'boolean' },
        kept: { type: 'boolean' },
        night: { type: 'boolean' },
        hours: { type: 'string' },
        until: { type: 'string' },
        cores: { type: 'string' },
        keep: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new BadOption(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

export function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new BadOption(`${name}: ${text} is no number; expected a whole number\n${USAGE}`);
  return Number(text);
}

function readHours(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const hours = Number(text);
  if (!(hours > 0) || hours > HOURS_MAX)
    throw new BadOption(`hours: ${text} is out of bounds; expected a number above 0, up to ${HOURS_MAX}`);
  return hours;
}

export function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) throw new BadOption(`until: ${text} is no time of day; expected HH:MM`);
  return Number(hours) * 60 + Number(minutes);
}

/** The names that a run does without. A name that means nothing would change nothing unseen, so it is refused. */
function readNames(text: string | undefined): ReadonlySet<string> {
  const names = (text ?? '').split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !FAULTS.some((fault) => fault === name) && !PART.test(name));
  if (unknown !== undefined)
    throw new BadOption(
      `without: ${unknown} is no name; expected faults, crashes, orders, calls, batches or acts such as slow sync,order-5`,
    );
  if (names.length > NAMES_MAX)
    throw new BadOption(`without: ${names.length} names are too many; expected at most ${NAMES_MAX}`);
  return new Set(names);
}

function readBug(name: string | undefined): SeedsOptions['bug'] {
  if (name === undefined) return undefined;
  const planted = Object.hasOwn(PLANTED_BUGS, name) ? PLANTED_BUGS[name] : undefined;
  if (planted === undefined)
    throw new BadOption(
      `bug: no planted bug is called ${name}; expected one of ${Object.keys(PLANTED_BUGS).join(', ')}`,
    );
  return { name, planted };
}
