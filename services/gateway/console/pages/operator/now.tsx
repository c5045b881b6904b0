import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Grade, Light, LightName, Now, ServiceState, UnservedModels } from '../../api/operator-now.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { At } from '../../parts/time.tsx';
import { announce } from '../../state/announce.ts';
import { useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import { workWords } from './work-words.ts';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { FaultPictures } from './parts/fault-pictures.tsx';

/** A shape for each grade, so that none is known by its colour alone. */
const SHAPES: Readonly<Record<Grade, string>> = { ok: '●', warn: '▲', fail: '■' };

const ACTS_SHOWN = 10;
const TOPICS = ['now', 'attention', 'channels'] as const;

const words = workWords.now;

const HREFS: Readonly<Record<LightName, string>> = {
  creates: '/console/tasks',
  polls: '/console/tasks?state=in_progress',
  ends: '/console/tasks?state=failed',
  settlements: '/console/money',
  channels: '/console/channels',
  attention: '/console/attention',
};

export function page(): VNode {
  const view = useView<Now>('/now', TOPICS);
  const acts = useCalls({}, TOPICS, toActCalls({ limit: ACTS_SHOWN }));
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={view} alongside={[acts]}>
        {(now) => <NowView now={now} acts={listActs(acts.data ?? {}, ACTS_SHOWN)} />}
      </Loaded>
    </>
  );
}

export function NowView({ now, acts }: { now: Now; acts: readonly Act[] }): VNode {
  useSpokenGrades(now.lights);
  const dark = now.lights.filter(({ grade }) => grade !== 'ok').length;
  return (
    <>
      <p class="lead">{dark === 0 ? words.allGood : words.some(dark)}</p>
      {now.tasksAway === undefined ? null : <TasksAway answeredAt={now.tasksAway.answeredAt} />}
      <ul class="lights" aria-label={words.lights}>
        {now.lights.map((light) => (
          <LightCard key={light.name} light={light} />
        ))}
      </ul>
      {now.faults === undefined ? null : <FaultPictures faults={now.faults} />}
      <dl class="facts now-facts">
        <dt>{words.unfinished}</dt>
        <dd>{now.unfinished?.toLocaleString('en') ?? words.unknown}</dd>
        <dt>{words.services}</dt>
        <dd>
          <ul class="inline">
            {now.services.map((service) => (
              <li key={service.name}>
                <Service service={service} />
              </li>
            ))}
          </ul>
        </dd>
      </dl>
      <ActList acts={acts} />
    </>
  );
}

/** Says that a part of the page has no figures, and since when. */
function TasksAway({ answeredAt }: { answeredAt: number | undefined }): VNode {
  const since =
    answeredAt === undefined ? (
      words.tasksNever
    ) : (
      <>
        {words.tasksAnswered} <At at={answeredAt} />.
      </>
    );
  return (
    <p class="note">
      {words.tasksAway} {since}
    </p>
  );
}

function LightCard({ light }: { light: Light }): VNode {
  const { name, grade, figure, why, minutes, isRecovering, causes, unserved = [] } = light;
  return (
    <li class={`card light ${grade}`}>
      <h2>{words.names[name]}</h2>
      <GradeBadge grade={grade} isRecovering={isRecovering} />
      <p class="figure">{figure}</p>
      <p>{why ?? words.fine[name]}</p>
      {unserved.length === 0 ? null : <UnservedList groups={unserved} />}
      {causes === undefined ? null : <p class="small causes">{words.causes[name]?.(causes)}</p>}
      {minutes.length === 0 ? null : (
        <>
          <Sparkline values={minutes} />
          <p class="small quiet">{words.hour(words.counted[name], minutes)}</p>
        </>
      )}
      <a href={HREFS[name]}>{words.open[name]}</a>
    </li>
  );
}

function UnservedList({ groups }: { groups: readonly UnservedModels[] }): VNode {
  return (
    <ul class="unserved" aria-label={words.unserved.label}>
      {groups.map(({ models, more, endpoints, why }) => (
        <li key={models.join(' ') + endpoints.join(' ')}>
          <strong>{models.join(', ')}</strong>
          {more === 0 ? '' : words.unserved.more(more)}
          {words.unserved.at(endpoints)}: {why}
        </li>
      ))}
    </ul>
  );
}

function Service({ service }: { service: ServiceState }): VNode {
  return service.isReachable ? (
    <span class="good">
      <span aria-hidden="true">●</span> {service.name} {words.reachable}
    </span>
  ) : (
    <span class="bad">
      <span aria-hidden="true">✕</span> {service.name} {words.unreachable}
    </span>
  );
}

/** Speaks a light that changes while the page is open. */
function useSpokenGrades(lights: readonly Light[]): void {
  const before = useRef<ReadonlyMap<LightName, Grade> | undefined>(undefined);
  useEffect(() => {
    const changed = lights.filter(({ name, grade }) => (before.current?.get(name) ?? grade) !== grade);
    before.current = new Map(lights.map(({ name, grade }) => [name, grade]));
    if (changed.length > 0)
      announce(changed.map(({ name, grade }) => words.changed(words.names[name], words.grades[grade])).join('. '));
  }, [lights]);
}

function GradeBadge({ grade, isRecovering = false }: { grade: Grade; isRecovering?: boolean | undefined }): VNode {
  const { grades, recovering } = workWords.now;
  return (
    <span class={`grade ${grade}`}>
      <span aria-hidden="true">{SHAPES[grade]}</span> {isRecovering ? recovering : grades[grade]}
    </span>
  );
}
