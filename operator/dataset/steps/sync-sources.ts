import { sha256OfJson } from '../../../services/common/kernel/hashes.ts';
import type { AnswerOf, DeclaredSource, SourceState } from '../../../services/common/platform/messaging/messages.ts';
import type { DatasetSourcesEntry, DatasetStatus, DatasetStatusSource } from '../../api/dataset.ts';
import { durationMs } from '../../api/values.ts';
import {
  type ConditionDraft,
  conditionMessage,
  MESSAGE_LIMIT,
  namesInMessage,
  toSeconds,
} from '../../kube-runtime/conditions.ts';
import { KINDS, type Secret, secretText } from '../../kube-runtime/kube-object.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import { type DatasetContext, type DatasetParts, type DatasetStep, idsOf, stateOf, uidOf } from '../model.ts';
import { askAbout } from '../service-failure.ts';

/** While an import is under way. */
const SOON_MS = 10_000;
/** What is missing may be made meanwhile: an account, a setting of the server. */
const FAILED_AGAIN_MS = 60_000;
/** Imports take some time from when they are due. */
const AFTER_IMPORT_MS = 15_000;
/** All values of a Secret, in bytes: they travel in one message with those of the others. */
const MOST_SECRET_BYTES = 32 * 1024;

type Failure = NonNullable<SourceState['failure']>;

/**
 * Makes the connections of the dataset those of `spec.sources`, and reports how each is. A source that fails is shown in
 * `SourcesReady` and its status; the dataset serves what it has, so it stays ready.
 */
export function syncSources(parts: DatasetParts): DatasetStep {
  const { memory, options } = parts;
  return {
    name: 'sync-sources',
    async run(context): Promise<StepOutcome<DatasetStatus>> {
      const { object, now } = context;
      const ids = idsOf(context);
      const { sources = [] } = object.spec;
      if (sources.length === 0 && context.status.sources === undefined) return done({ removed: ['SourcesReady'] });
      const secrets = await readSecrets(parts, context, sources);
      const versions = [...secrets].map(([name, secret]) => [name, secret === null ? null : versionOf(secret)]);
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${ids.datasetId} ${sha256OfJson(versions)}`];
      const asked = context.status.sources;
      if (memory.sources.holds(uid, state)) return done(asked === undefined ? {} : again(asked, now, options.resyncMs));
      const faults = new Map<string, Failure>();
      const declared = sources.map((source) => {
        const { name } = source.credentialsSecretRef ?? {};
        if (name === undefined) return declaration(source, { hold: false });
        const secret = secrets.get(name) ?? null;
        const fault = faultOf(name, secret);
        if (fault !== null) faults.set(source.name, fault);
        return declaration(
          source,
          fault === null && secret !== null ? { credentials: credentialsOf(secret) } : { hold: true },
        );
      });
      const request = { ...ids, crUid: uid, sources: declared };
      const answer = await askAbout(parts, context, 'integrations.SyncSources', request);
      const states = answer.sources.map((one) => ({ ...one, failure: faults.get(one.name) ?? one.failure }));
      const shown = states.map((one) =>
        statusOf(
          one,
          asked?.find(({ name }) => name === one.name),
        ),
      );
      emitEvents(context, shown, answer.ended);
      const next = again(shown, now, options.resyncMs);
      memory.sources.remember(uid, state, next.requeueAfterMs * 0.9);
      if (sources.length === 0) return done({ status: { sources: undefined }, removed: ['SourcesReady'] });
      return done({ ...next, status: { sources: shown }, conditions: [readiness(shown)] });
    },
  };
}

/** The Secrets that sources name, each once; null: there is none. */
async function readSecrets(
  { client }: DatasetParts,
  { object, signal }: DatasetContext,
  sources: readonly DatasetSourcesEntry[],
): Promise<ReadonlyMap<string, Secret | null>> {
  const { namespace = '' } = object.metadata;
  const names = new Set(sources.flatMap(({ credentialsSecretRef: reference }) => reference?.name ?? []));
  const read = (name: string) => client.get<Secret>(KINDS.secret, { name, namespace }, { signal });
  return new Map(await Promise.all([...names].map(async (name) => [name, await read(name)] as const)));
}

function versionOf({ metadata }: Secret): string {
  return `${metadata.uid ?? ''}/${metadata.resourceVersion ?? ''}`;
}

function faultOf(name: string, secret: Secret | null): Failure | null {
  if (secret === null) {
    const message = `There is no Secret ${name}: create it, or correct credentialsSecretRef`;
    return { reason: 'SecretMissing', message };
  }
  const bytes = Object.values(secret.data ?? {}).reduce((sum, value) => sum + value.length, 0);
  if (bytes <= MOST_SECRET_BYTES) return null;
  return { reason: 'SecretTooLarge', message: `Secret ${name} has more than credentials: make one with them alone` };
}

function declaration(source: DatasetSourcesEntry, access: Pick<DeclaredSource, 'hold' | 'credentials'>) {
  const { name, connector, address, account, selection, since, interval, schedule, onRemoval } = source;
  return {
    name,
    connector,
    deleteOnRemoval: onRemoval === 'Delete',
    ...access,
    ...(address === undefined ? {} : { address }),
    ...(account === undefined ? {} : { account }),
    ...(selection === undefined ? {} : { selection }),
    ...(since === undefined ? {} : { since }),
    ...(interval === undefined ? {} : { everyMs: durationMs(interval) }),
    ...(schedule === undefined ? {} : { cron: schedule }),
  };
}

function credentialsOf(secret: Secret): NonNullable<DeclaredSource['credentials']> {
  const values = Object.keys(secret.data ?? {}).map((key) => ({ key, value: secretText(secret, key) ?? '' }));
  return { version: versionOf(secret), values };
}

/** While an import is under way the items of the last one are shown: each change would be a write. */
function statusOf(state: SourceState, held: DatasetStatusSource | undefined): DatasetStatusSource {
  const { name, connected, importing, lastSyncedAt, nextSyncAt, items, failed, failure } = state;
  return {
    name,
    connected,
    ...(importing ? { importing } : {}),
    ...(lastSyncedAt === null ? {} : { lastSyncedAt: toSeconds(new Date(lastSyncedAt)) }),
    ...(nextSyncAt === null ? {} : { nextSyncAt: toSeconds(new Date(nextSyncAt)) }),
    items: importing ? (held?.items ?? items) : items,
    failed,
    ...(failure === null ? {} : { reason: failure.reason, message: conditionMessage(failure.message) }),
  };
}

function again(sources: readonly DatasetStatusSource[], now: Date, resyncMs: number): { requeueAfterMs: number } {
  const waits = sources.flatMap(({ importing, reason, nextSyncAt }) => [
    ...(importing ? [SOON_MS] : []),
    ...(reason === undefined ? [] : [FAILED_AGAIN_MS]),
    ...(nextSyncAt === undefined ? [] : [Math.max(SOON_MS, Date.parse(nextSyncAt) - now.getTime() + AFTER_IMPORT_MS)]),
  ]);
  return { requeueAfterMs: Math.min(resyncMs, ...waits) };
}

/** True once every source is connected and its last import brought in everything. */
function readiness(sources: readonly DatasetStatusSource[]): ConditionDraft {
  const type = 'SourcesReady';
  const failing = sources.filter(({ reason }) => reason !== undefined);
  if (failing.length > 0) {
    const reasons = new Set(failing.map(({ reason = '' }) => reason));
    const [only = ''] = reasons;
    const message = failing.map(({ name, message: said }) => `${name}: ${said}`).join('; ');
    return { type, status: 'False', reason: reasons.size === 1 ? only : 'SourcesFailed', message };
  }
  const first = sources.filter(({ lastSyncedAt }) => lastSyncedAt === undefined);
  if (first.length > 0) {
    const names = namesInMessage(first.map(({ name }) => name));
    return { type, status: 'False', reason: 'Importing', message: `The first import is under way: ${names}` };
  }
  return { type, status: 'True', reason: 'Synced', message: 'All sources are connected, and were brought in' };
}

/** Tells what has changed since the status was written. */
function emitEvents(
  { status, event }: DatasetContext,
  sources: readonly DatasetStatusSource[],
  ended: AnswerOf<'integrations.SyncSources'>['ended'],
): void {
  const before = new Map((status.sources ?? []).map((source) => [source.name, source]));
  for (const { name, connected, reason, message } of sources) {
    const held = before.get(name);
    if (reason !== undefined && (held?.reason !== reason || held.message !== message)) {
      event({ type: 'Warning', reason: 'SourceFailed', message: `${name}: ${message}`.slice(0, MESSAGE_LIMIT) });
    }
    if (connected && held?.connected !== true) {
      event({ type: 'Normal', reason: 'SourceConnected', message: `Source ${name} is connected and brought in` });
    }
  }
  if (ended.length === 0) return;
  const what = namesInMessage(ended);
  const message = `No longer followed: ${what}; what came by them is kept or erased, as their onRemoval said`;
  event({ type: 'Normal', reason: 'SourcesEnded', message });
}
