import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { TaskView } from '../../api/task.ts';
import type { TryView } from '../../api/try.ts';
import { TASK_FILTERS } from '../../client-filters.ts';
import type { ApiError } from '../../state/api.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { FaultLine, Loaded } from '../../parts/loaded.tsx';
import { formatDecimal, moneyText, parseNanos } from '../../parts/number-text.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useMe } from '../../state/door.ts';
import { readKept, writeKept } from '../../state/kept-values.ts';
import { useDraft } from '../../state/address.ts';
import { words as common } from '../../words.ts';
import { tryWords as words } from './try-words.ts';
import { useEstimate } from './parts/estimate.ts';
import type { Estimate, FreshEstimate } from './parts/estimate.ts';
import { OrderFields, OrderJson } from './parts/order-fields.tsx';
import { MakingList } from './parts/making-list.tsx';
import { ONE_VIDEO, VIDEOS_MAX, countRest, listOrders, readCopies, useMaking } from './parts/making.ts';
import type { MakingPlan } from './parts/making.ts';
import { mergeFiles } from './parts/reference-fields.tsx';
import { toCreateBody, toEstimateBody, firstOrder, repeatOrder, withModel, withoutUploads } from './parts/try-order.ts';
import type { Order, Uploads } from './parts/try-order.ts';

const KEPT = 'form';
/** Fields that tell a refusal below themselves. */
const OWN_FIELDS = /^(prompt|duration|resolution|ratio|content|image|seed|webhook_url)/;
const LABEL_FIELD = 'Reelgate-Label';
/** The label that was written last in this tab. */
const KEPT_LABEL = 'label';

export function page({ query }: PageProps): VNode {
  const from = query.get('from') ?? '';
  const view = useView<TryView>('/try');
  const task = useView<TaskView>(from === '' ? undefined : `/tasks/${encodeURIComponent(from)}`);
  const isReady = from === '' || task.data !== undefined || task.error !== undefined;
  return (
    <>
      <PageTitle title={words.title} lead={words.intro} />
      <Loaded view={view}>
        {(data) => {
          if (!isReady) return <p class="quiet">{common.loading}</p>;
          return <TryStart key={from} view={data} task={task.data} fault={task.error?.message} />;
        }}
      </Loaded>
    </>
  );
}

interface TryStartProps {
  readonly view: TryView;
  /** The task with the initial order of the form. */
  readonly task: TaskView | undefined;
  /** The reason for which that task could not be read. */
  readonly fault: string | undefined;
}

function TryStart({ view, task, fault }: TryStartProps): VNode {
  const [model] = view.models;
  if (model === undefined) return <p class="note">{words.noModels}</p>;
  if (task === undefined)
    return (
      <>
        {fault === undefined ? null : <p class="note">{words.againFailed(fault)}</p>}
        <TryForm view={view} first={firstOrder(model)} keptAs={KEPT} />
      </>
    );
  const { order: repeated, missing } = repeatOrder(task);
  const own = view.models.find(({ id }) => id === repeated['model']);
  // values that the model no longer takes have their defaults
  const order = own === undefined ? repeated : withModel(repeated, own);
  return (
    <>
      <p class="note">
        {words.again(task.task.id)} {missing === 0 ? '' : words.againMissing(missing)}
      </p>
      <TryForm view={view} first={order} label={task.task.label} keptAs={`${KEPT}.${task.task.id}`} />
    </>
  );
}

interface KeptForm {
  readonly order: Order;
  readonly plan: MakingPlan;
  readonly label: string;
}

/** The order as a form or as JSON, its total price, and the button that creates the videos. */
export function TryForm({ view, first, label: firstLabel, keptAs }: TryFormProps): VNode {
  const { accountId } = useMe();
  const [form, setForm] = useState<KeptForm>(() => readKeptForm(accountId, keptAs, { first, firstLabel }));
  const { order, plan, label } = form;
  const [uploads, setUploads] = useState<Uploads>(new Map());
  const [isJson, setJson] = useState(false);
  const [isWhole, setWhole] = useState(true);
  const draft = useDraft(String(plan.copies));
  const isCounted = readCopies(draft[0]) !== undefined;
  const orders = listOrders(order, plan);
  const price = useEstimate(isWhole ? toEstimateBody(orders[0] ?? order, uploads) : undefined);
  const { makings, isBusy, fault: refusal, make, askAgain, beginAnew, forget } = useMaking();
  const bodies = orders.map((one) => toCreateBody(one, uploads));
  // the button of a single video leads to the video if the answer to its create was lost
  const toSend = bodies.length === 1 ? 1 : countRest(makings, bodies);
  const fault = placeFault(refusal ?? price.fault, isJson);
  const isTooMany = orders.length > VIDEOS_MAX;
  const change = (to: Partial<KeptForm>, files: Uploads = uploads): void => {
    forget();
    const changed = { ...form, ...to };
    writeKept(accountId, keptAs, { ...changed, order: withoutUploads(changed.order) });
    if (to.label !== undefined) writeKept(accountId, KEPT_LABEL, to.label);
    setForm(changed);
    setUploads(files);
  };
  const addFiles = async (files: readonly File[]): Promise<void> => {
    const added = await mergeFiles(order, uploads, files);
    change({ order: added.order }, added.uploads);
  };
  return (
    <form
      class="try"
      {...takeFiles(isJson ? undefined : addFiles)}
      onKeyDown={sendOnShortcut}
      onSubmit={(event) => {
        event.preventDefault();
        if (isWhole && isCounted && !isTooMany && orders.length > 0) make({ bodies, label: label.trim() });
      }}
    >
      <ViewChoice isJson={isJson} isDisabled={!isWhole} onChange={setJson} />
      {isJson ? (
        <OrderJson
          order={order}
          fault={fault.ofOrder?.message}
          onChange={(changed) => {
            setWhole(changed !== undefined);
            if (changed !== undefined) change({ order: changed });
          }}
        />
      ) : (
        <OrderFields
          view={view}
          order={order}
          uploads={uploads}
          fault={fault.ofOrder}
          onChange={(changed, files) => change({ order: changed }, files)}
        />
      )}
      <SeveralFields plan={plan} draft={draft} onChange={(changed) => change({ plan: changed })} />
      <LabelField label={label} fault={fault.ofLabel} onChange={(changed) => change({ label: changed })} />
      <div class="try-end">
        <EstimateLine estimate={price.estimate} isStale={price.isStale || !isCounted} count={toSend} />
        <FaultLine text={isTooMany ? words.several.tooMany(orders.length, VIDEOS_MAX) : fault.ofNone} />
        <SubmitButton isBusy={isBusy} isDisabled={!isWhole || isTooMany} count={isCounted ? toSend : undefined} />
      </div>
      <MakingList makings={makings} isBusy={isBusy} onAskAgain={askAgain} onBeginAnew={beginAnew} />
    </form>
  );
}

interface TryFormProps {
  readonly view: TryView;
  readonly first: Order;
  /** The initial label. Defaults to the last label of this tab. */
  readonly label?: string | undefined;
  /** The form continues with the draft of this tab under this name. */
  readonly keptAs: string;
}

/** The form of before a reload, a lost session or a visit to another page. */
function readKeptForm(
  accountId: string,
  keptAs: string,
  { first, firstLabel }: { readonly first: Order; readonly firstLabel: string | undefined },
): KeptForm {
  const kept = readKept(accountId, keptAs) as Partial<KeptForm> | undefined;
  const lastLabel = readKept(accountId, KEPT_LABEL);
  return {
    order: kept?.order ?? first,
    plan: kept?.plan ?? ONE_VIDEO,
    label: kept?.label ?? firstLabel ?? (typeof lastLabel === 'string' ? lastLabel : ''),
  };
}

/** A refusal at the place where it is told. */
interface PlacedFault {
  readonly ofLabel?: string;
  readonly ofOrder?: ApiError | undefined;
  /** Of no field that is shown. */
  readonly ofNone?: string | undefined;
}

function placeFault(fault: ApiError | undefined, isJson: boolean): PlacedFault {
  if (fault?.field === LABEL_FIELD) return { ofLabel: fault.message };
  const isPlaced = isJson || OWN_FIELDS.test(fault?.field ?? '');
  return { ofOrder: fault, ofNone: isPlaced ? undefined : fault?.message };
}

function sendOnShortcut(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  (event.currentTarget as HTMLFormElement).requestSubmit();
}

/** Takes files that are dropped or pasted. A text that is pasted goes where the cursor is. */
function takeFiles(add: ((files: readonly File[]) => Promise<void>) | undefined): object {
  if (add === undefined) return {};
  const take = (event: Event, files: FileList | undefined): void => {
    if (files === undefined || files.length === 0) return;
    event.preventDefault();
    void add([...files]);
  };
  return {
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData?.files),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer?.files),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    },
  };
}

interface SeveralFieldsProps {
  readonly plan: MakingPlan;
  /** The text in the field for the number of videos. It may be no number. */
  readonly draft: ReturnType<typeof useDraft>;
  readonly onChange: (plan: MakingPlan) => void;
}

/** The number of videos that the form creates. */
function SeveralFields({ plan, draft: [typed, keep], onChange }: SeveralFieldsProps): VNode {
  const { copies, isByLine } = plan;
  return (
    <fieldset class="several">
      <legend>{words.several.legend}</legend>
      <TextField
        label={words.several.copies}
        type="number"
        min={1}
        max={VIDEOS_MAX}
        isRequired
        value={typed}
        fault={readCopies(typed) === undefined ? words.several.copiesFault(VIDEOS_MAX) : ''}
        onInput={(value) => {
          keep(value);
          const read = readCopies(value);
          if (read !== undefined) onChange({ ...plan, copies: read });
        }}
        onLeave={() => {
          // a wrong number stays in its field, with an error
          if (typed === '') keep(String(copies));
        }}
      />
      <label class="choice">
        <input type="checkbox" checked={isByLine} onChange={() => onChange({ ...plan, isByLine: !isByLine })} />
        {words.several.byLine}
      </label>
    </fieldset>
  );
}

interface LabelFieldProps {
  readonly label: string;
  readonly fault: string | undefined;
  readonly onChange: (label: string) => void;
}

function LabelField({ label, fault, onChange }: LabelFieldProps): VNode {
  return (
    <TextField
      label={words.label}
      value={label}
      onInput={onChange}
      hint={words.labelHint}
      fault={fault}
      charactersMax={TASK_FILTERS.label.most}
    />
  );
}

/** Shows the price of all orders. An old figure is dimmed until the new one arrives. */
function EstimateLine({ estimate, isStale, count }: Omit<FreshEstimate, 'fault'> & { count: number }): VNode {
  return (
    <div class="estimate" role="status">
      <span class={isStale ? 'figure stale' : 'figure'}>
        {estimate === undefined || count === 0 ? '' : words.estimate.figure(sumText(estimate, count))}
      </span>
      <span class="quiet small">
        {estimate === undefined
          ? isStale
            ? words.estimate.estimating
            : words.estimate.none
          : `${factsText(estimate, count)} ${words.estimate.held}`}
      </span>
    </div>
  );
}

function sumText({ amount, currency }: Estimate, count: number): string {
  return moneyText(formatDecimal((parseNanos(amount) ?? 0n) * BigInt(count)), currency);
}

function factsText({ facts, amount, currency }: Estimate, count: number): string {
  if (count > 1) return `${words.several.sum(count, moneyText(amount, currency))}.`;
  const told = Object.entries(words.estimate.facts).flatMap(([name, text]) => {
    const figure = facts[name] ?? 0;
    return figure > 0 ? [text(figure)] : [];
  });
  return told.length === 0 ? '' : `${told.join(' + ')}.`;
}

interface SubmitButtonProps {
  readonly isBusy: boolean;
  readonly isDisabled: boolean;
  /** Is not set while the form names no valid number. */
  readonly count: number | undefined;
}

function SubmitButton({ isBusy, isDisabled, count }: SubmitButtonProps): VNode {
  return (
    <button type="submit" class="main" disabled={isBusy || isDisabled || count === 0}>
      {isBusy ? words.submitting : count === 0 ? words.allMade : words.submit(count)}
    </button>
  );
}

interface ViewChoiceProps {
  readonly isJson: boolean;
  readonly isDisabled: boolean;
  readonly onChange: (isJson: boolean) => void;
}

function ViewChoice({ isJson, isDisabled, onChange }: ViewChoiceProps): VNode {
  return (
    <fieldset class="view-choice" disabled={isDisabled}>
      <legend>{words.views.legend}</legend>
      {([false, true] as const).map((value) => (
        <label key={String(value)}>
          <input type="radio" name="view" checked={isJson === value} onChange={() => onChange(value)} />
          {value ? words.views.json : words.views.form}
        </label>
      ))}
    </fieldset>
  );
}
