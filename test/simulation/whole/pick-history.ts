/** The most lines that a history has. */
const LINES_MAX = 100;
/** The lines before a cut. The end of a history, which has the broken rule, is longer. */
const LINES_BEFORE_CUT = 35;
const ORDER = /\b(?:order|call)-\d+/g;
const TASK = /\b(?:task|job)_[a-z0-9]{10,}/g;
const EVENT = /\bevt_[a-z0-9]{10,}/g;
/** A line of the product that tells whose task was created. */
const CREATED = /a (?:task|job) was created \{"taskId":"(\w+)","accountId":"(\w+)".*"requestId":"((?:order|call)-\d+)/;
/** A line that tells which event is about a task. */
const DELIVERED = /a webhook was/;
/** Deaths, starts and the server concern every order. */
const OF_ALL = /^\d+ (?:machine|server) /;

/** The lines of an event log that a broken rule is about. */
export interface PickedHistory {
  /** The orders and calls that the rule names, itself or by their tasks; empty if it names none. */
  readonly orders: readonly string[];
  readonly lines: readonly string[];
}

/**
 * Picks the lines of the orders, calls and tasks that the detail of a broken rule names, from their first line to the
 * last one, with the deaths and starts meanwhile. A long history is cut in its middle. If the detail only names an
 * account, these are the last lines of its tasks, and if it names nothing, the last lines of all.
 */
export function pickHistory(lines: readonly string[], detail: string): PickedHistory {
  const orderOfTask = new Map<string, string>();
  const ofAccount = new Set<string>();
  for (const line of lines) {
    const [, task, account = '', order] = CREATED.exec(line) ?? [];
    if (task === undefined || order === undefined) continue;
    orderOfTask.set(task, order);
    if (namesAccount(detail, account)) ofAccount.add(order);
  }
  const named = listMatches(detail, TASK);
  const orders = [...new Set([...listMatches(detail, ORDER), ...named.flatMap((task) => orderOfTask.get(task) ?? [])])];
  const wanted = new Set([...orders, ...named]);
  const picked = pickLines(lines, wanted.size > 0 ? wanted : ofAccount, orderOfTask);
  if (picked.length === 0) return { orders, lines: lines.slice(-LINES_MAX) };
  return { orders, lines: wanted.size > 0 ? cutMiddle(picked) : picked.slice(-LINES_MAX) };
}

/** A row of an account begins with its id. */
function namesAccount(detail: string, account: string): boolean {
  return account !== '' && new RegExp(`\\bid ${account}\\b`).test(detail);
}

function listMatches(text: string, pattern: RegExp): readonly string[] {
  return text.match(pattern) ?? [];
}

function pickLines(
  lines: readonly string[],
  wanted: ReadonlySet<string>,
  orderOfTask: ReadonlyMap<string, string>,
): readonly string[] {
  const events = new Set<string>();
  const isWanted = (line: string): boolean =>
    listMatches(line, ORDER).some((order) => wanted.has(order)) ||
    listMatches(line, TASK).some((task) => wanted.has(task) || wanted.has(orderOfTask.get(task) ?? '')) ||
    listMatches(line, EVENT).some((event) => events.has(event));
  for (const line of lines)
    if (DELIVERED.test(line) && isWanted(line)) for (const id of listMatches(line, EVENT)) events.add(id);
  const own = lines.map(isWanted);
  const [first, last] = [own.indexOf(true), own.lastIndexOf(true)];
  return lines.filter((line, at) => own[at] === true || (at > first && at < last && OF_ALL.test(line)));
}

function cutMiddle(lines: readonly string[]): readonly string[] {
  if (lines.length <= LINES_MAX) return lines;
  const leftOut = lines.length - LINES_MAX + 1;
  return [
    ...lines.slice(0, LINES_BEFORE_CUT),
    `${leftOut} further events are left out`,
    ...lines.slice(LINES_BEFORE_CUT + leftOut),
  ];
}
