import type { Metrics } from '../metrics.ts';
import type { SpanTracer } from './tracer.ts';

/** Metrics that also record ended calls of ports as steps of the current trace. */
export function tracedMetrics(metrics: Metrics, tracer: Pick<SpanTracer, 'ended'>): Metrics {
  return {
    ...metrics,
    store(call) {
      metrics.store(call);
      tracer.ended(`${call.port}.${call.method}`, call.durationMs, { failed: call.outcome === 'error' });
    },
    modelCall(call) {
      metrics.modelCall(call);
      const { model, purpose, usage, outcome, durationMs } = call;
      const tokens = usage === undefined ? {} : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
      const attributes = { model, purpose, ...tokens };
      tracer.ended(`model ${call.kind}`, durationMs, { attributes, failed: outcome === 'error' });
    },
  };
}
