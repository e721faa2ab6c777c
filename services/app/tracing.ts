import type { Span } from '../common/domain/span.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import type { LifecycleStep } from '../common/platform/lifecycle/lifecycle.ts';
import { SPANS_ENDED } from '../common/platform/messaging/messages.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import type { Metrics } from '../common/platform/observability/metrics.ts';
import { createRecentTraces } from '../common/platform/observability/tracing/recent-traces.ts';
import { createTracer, tracedBus, tracedMetrics } from '../common/platform/observability/tracing/tracer.ts';
import { createSystemClock } from '../common/platform/system/clock.ts';
import type { Tracer, TraceSource } from '../common/ports/tracer.ts';
import type { Bus, Subscription } from '../common/storage/ports/bus.ts';

/** Loaded only when tracing is on: nothing is wrapped otherwise. */
export interface Tracing {
  readonly tracer: Tracer;
  readonly traces: TraceSource;
  /** They see the calls of stores and models. */
  readonly metrics: Metrics;
  bus(bus: Bus): Bus;
  /** Brings what all processes trace to every replica of ingest. */
  sharing(parts: SharingParts): LifecycleStep;
}

interface SharingParts {
  readonly config: Pick<Config, 'services' | 'stores'>;
  readonly messenger: Messenger;
  readonly logger: Logger;
}

const BATCH_SPANS = 200;
const BATCH_MS = 200;

export function openTracing(metrics: Metrics): Tracing {
  const traces = createRecentTraces();
  let record = traces.add;
  const tracer = createTracer({ clock: createSystemClock(), record: (span) => record(span) });
  return {
    tracer,
    traces,
    metrics: tracedMetrics(metrics, tracer),
    bus: (bus) => tracedBus(bus, tracer),
    sharing({ config, messenger, logger }) {
      if (config.stores.bus === 'embedded') return { name: 'tracing' };
      const shows = config.services.includes('ingest');
      const batches = createBatches((spans) =>
        messenger.publish('spans', SPANS_ENDED, { spans }).catch((error: unknown) => {
          logger.warn('spans.unpublished', { spans: spans.length, error });
        }),
      );
      record = batches.add;
      let listening: Subscription | null = null;
      const show = ({ spans }: { readonly spans: readonly Span[] }) => spans.forEach(traces.add);
      return {
        name: 'tracing',
        async start() {
          if (shows) listening = await messenger.subscribe('spans', SPANS_ENDED, show);
        },
        async stop() {
          await batches.flush();
          await listening?.stop();
        },
      };
    },
  };
}

/** One message for many spans: a request has dozens. */
function createBatches(send: (spans: readonly Span[]) => Promise<void>) {
  let waiting: Span[] = [];
  let timer: NodeJS.Timeout | null = null;
  const flush = async (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const spans = waiting;
    waiting = [];
    if (spans.length > 0) await send(spans);
  };
  return {
    add(span: Span): void {
      waiting.push(span);
      if (waiting.length >= BATCH_SPANS) void flush();
      else timer ??= setTimeout(flush, BATCH_MS).unref();
    },
    flush,
  };
}
