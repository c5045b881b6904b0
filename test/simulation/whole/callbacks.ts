import { readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';
import type { Work } from './upstream-works.ts';

const EARLY = 0.3;
const DOUBLED = 0.3;
const LOST = 0.2;
const OTHER_WORK = 0.2;
const FORGED = 0.2;
const AFTER_MS_MAX = 400;
const AGAIN_MS = { least: 1, most: 3000 };
const SENDS_MAX = 3;
const SENT_AGAIN_MS = 4000;

/** An upstream calls back: in time, too early, twice, never, for other work, or somebody forges the address. */
export function runCallbacks(world: World, work: Work, works: readonly Work[]): void {
  const { scheduler, draws, faults } = world;
  if (work.callbackUrl === undefined) return;
  const { pathname } = new URL(work.callbackUrl);
  const name = `callback of ${work.order}`;
  const send = (label: string, ms: number, path: string, id: string): void => {
    void scheduler.pause(ms).then(() => sendUntilTaken(world, `${name} ${label}`, path, { task: { id } }));
  };
  void scheduler.pause(1).then(() => challenge(world, name, pathname));
  if (faults.happens('callbacks', `${name} early`, EARLY)) send('early', 0, pathname, work.id);
  if (faults.happens('callbacks', `${name} forged`, FORGED))
    send('forged', draws.whole(`${name} forged`, 0, AFTER_MS_MAX), `${pathname.slice(0, -2)}xx`, work.id);
  const other = works.find((one) => one.account === work.account && !isAlike(one, work));
  if (other !== undefined && faults.happens('callbacks', `${name} other`, OTHER_WORK))
    send('other', draws.whole(`${name} other`, 0, AFTER_MS_MAX), pathname, other.id);
  if (faults.happens('callbacks', `${name} lost`, LOST)) return;
  const endMs = work.endsAt - scheduler.now() + draws.whole(`${name} after`, 1, AFTER_MS_MAX);
  send('end', endMs, pathname, work.id);
  if (faults.happens('callbacks', `${name} doubled`, DOUBLED))
    send('doubled', endMs + draws.whole(`${name} again`, AGAIN_MS.least, AGAIN_MS.most), pathname, work.id);
}

/** Only the upstream can distinguish two works with these facts in common. */
function isAlike(one: Work, other: Work): boolean {
  const { model, duration, resolution, ratio } = other;
  return one.model === model && one.duration === duration && one.resolution === resolution && one.ratio === ratio;
}

async function sendUntilTaken(world: World, name: string, path: string, body: object): Promise<void> {
  for (let sends = 1; sends <= SENDS_MAX; sends += 1) {
    const answer = await sendOrder(world, name, { method: 'POST', path, key: '', body });
    if (answer?.status === 200) world.acts.note('a callback is taken');
    if (answer !== undefined && answer.status < 500) return;
    await world.scheduler.pause(SENT_AGAIN_MS);
  }
}

/** The upstream tries the address while it takes the order in. */
async function challenge(world: World, name: string, path: string): Promise<void> {
  const body = { challenge: name };
  const answer = await sendOrder(world, `${name} challenge`, { method: 'POST', path, key: '', body });
  if (answer?.status === 200 && readMembers(answer)['challenge'] !== name)
    world.rules.break('a challenge is answered with itself', answer.text);
}
