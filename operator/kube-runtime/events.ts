import { randomBytes } from 'node:crypto';
import type { Logger } from '../../services/common/ports/logger.ts';
import { conditionMessage } from './conditions.ts';
import type { KubeClient } from './kube-client.ts';
import { KINDS, type KubeObject, microTime } from './kube-object.ts';
import type { RuntimeClock } from './runtime-clock.ts';

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** One CamelCase word: `SecretCorrected`. */
  readonly reason: string;
  /** A sentence without a trailing period, cut to 200 characters. Never contains a secret. */
  readonly message: string;
  /** Action of the operator. Default: `Reconcile`. */
  readonly action?: string;
}

/**
 * Records events about objects, as events.k8s.io/v1. The same object, reason and message within ten minutes is one event
 * with a series count. Never throws and never waits: a lost event loses no work.
 */
export type EventRecorder = ReturnType<typeof createEventRecorder>;

interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  /** `engram.dev/operator` */
  readonly controller: string;
  /** Name of this process' pod. */
  readonly instance: string;
  readonly isLeading?: () => boolean;
}

/** Repetitions within this time count as one event. */
const WINDOW_MS = 600_000;
/** Minimum time between two updates of a series count. */
const SERIES_MS = 30_000;
const MOST_KEPT = 2_000;
const MOST_UNSENT = 500;

interface Sent {
  readonly name: string;
  readonly namespace: string;
  readonly firstAt: number;
  count: number;
  lastObserved: Date;
  cancel: (() => void) | undefined;
}

export function createEventRecorder(options: EventRecorderOptions) {
  const { client, clock, logger, isLeading = () => true } = options;
  /** Ordered by the first occurrence. */
  const sent = new Map<string, Sent>();
  let unsent = 0;
  let chain: Promise<unknown> = Promise.resolve();

  /** Sends one event after the other, to keep the load of the server low. */
  function send(what: () => Promise<unknown>): void {
    if (unsent >= MOST_UNSENT || !isLeading()) return;
    unsent += 1;
    chain = chain
      .then(what)
      .catch((error: unknown) => logger.debug('event.send.failed', { error }))
      .finally(() => {
        unsent -= 1;
      });
  }

  function forgetOld(): void {
    for (const [key, { firstAt, cancel }] of sent) {
      if (clock.monotonicMs() - firstAt < WINDOW_MS && sent.size <= MOST_KEPT) return;
      // The count of this window is dropped; the next window begins at one.
      cancel?.();
      sent.delete(key);
    }
  }

  function sendSeries(series: Sent): void {
    series.cancel = undefined;
    const { name, namespace, count, lastObserved } = series;
    const patch = { series: { count, lastObservedTime: microTime(lastObserved) } };
    send(() => client.patch(KINDS.event, { name, namespace }, patch));
  }

  return {
    record(object: KubeObject, note: EventNote) {
      forgetOld();
      const message = conditionMessage(note.message);
      const key = JSON.stringify([object.kind, object.metadata.uid, note.reason, message]);
      const held = sent.get(key);
      if (held !== undefined) {
        held.count += 1;
        held.lastObserved = clock.now();
        held.cancel ??= clock.after(SERIES_MS, () => sendSeries(held));
        return;
      }
      const event = eventObject(options, object, { ...note, message });
      const { name, namespace = 'default' } = event.metadata;
      sent.set(key, {
        name,
        namespace,
        firstAt: clock.monotonicMs(),
        count: 1,
        lastObserved: clock.now(),
        cancel: undefined,
      });
      send(() => client.create(KINDS.event, event));
    },
    /** Waits until all recorded events are sent. */
    async flush() {
      for (const series of sent.values()) {
        if (series.cancel === undefined) continue;
        series.cancel();
        sendSeries(series);
      }
      await chain;
    },
  };
}

function eventObject(options: EventRecorderOptions, object: KubeObject, note: EventNote): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const suffix = randomBytes(8).toString('hex');
  const fields = {
    apiVersion: KINDS.event.apiVersion,
    kind: KINDS.event.kind,
    // Events about cluster-scoped objects live in `default`.
    metadata: { name: `${metadata.name.slice(0, 200)}.${suffix}`, namespace: metadata.namespace ?? 'default' },
    eventTime: microTime(options.clock.now()),
    reportingController: options.controller,
    reportingInstance: options.instance.slice(0, 128),
    action: note.action ?? 'Reconcile',
    reason: note.reason,
    type: note.type,
    note: note.message,
    regarding: { apiVersion, kind, name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
  };
  return fields;
}
