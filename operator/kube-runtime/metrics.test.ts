import { expect } from 'chai';
import { Registry } from '../../services/common/platform/observability/prometheus.ts';
import { createRuntimeMetrics } from './metrics.ts';

describe('metrics of the runtime', () => {
  it('tell of the watch that was silent for longest, where a kind has one for each namespace', async () => {
    const registry = new Registry();
    const metrics = createRuntimeMetrics(registry, 'test_');
    for (const age of [5, 70, 1]) metrics.watchEventAge('Tenant', () => age);
    expect(await registry.metrics()).to.match(/^test_watch_last_event_age_seconds\{kind="Tenant"\} 70$/m);
  });
});
