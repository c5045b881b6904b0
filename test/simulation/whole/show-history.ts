const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const SENTENCE_MAX = 200;
const PROCESS_WIDTH = 10;
const LINE = /^(\d+) (\S+) (.*)$/s;
const PRODUCT_LINE = /^(info|warn|error) (.*?) (\{.*\})$/s;

/** Turns lines of an event log into a history: the time as minutes and seconds, the process, and a sentence. */
export function showHistory(lines: readonly string[]): readonly string[] {
  return lines.map((line) => {
    const [, ms, process = '', text = line] = LINE.exec(line) ?? [];
    const time = ms === undefined ? '' : showTime(Number(ms));
    return `${time}  ${process.padEnd(PROCESS_WIDTH)}  ${cut(tellEvent(text))}`;
  });
}

/** Shows a time of a run as `mm:ss.mmm`. */
function showTime(ms: number): string {
  const [minutes, seconds, left] = [Math.floor(ms / MINUTE_MS), Math.floor(ms / SECOND_MS) % 60, ms % SECOND_MS];
  return `${pad(minutes, 2)}:${pad(seconds, 2)}.${pad(left, 3)}`;
}

/** A line of the product is its message with its fields; another one is a sentence already. */
function tellEvent(text: string): string {
  const [, level, message, json] = PRODUCT_LINE.exec(text) ?? [];
  if (message === undefined || json === undefined) return text;
  const said = showFields(json);
  return `${level === 'error' ? 'error: ' : ''}${message}${said === '' ? '' : ` (${said})`}`;
}

function showFields(json: string): string {
  try {
    return Object.entries(JSON.parse(json) as object)
      .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', ');
  } catch {
    return json;
  }
}

function cut(sentence: string): string {
  const line = sentence.replaceAll('\n', ' ');
  return line.length > SENTENCE_MAX ? `${line.slice(0, SENTENCE_MAX - 1)}…` : line;
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
