import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createRuntimeMetrics } from './metrics.ts';

describe('metrics of the runtime', () => {
  it('exports the age of the most silent watch of a kind', async () => {
    const registry = new Registry();
    const metrics = createRuntimeMetrics(registry, 'test_');
    for (const age of [5, 70, 1]) metrics.watchEventAge('Tenant', () => age);
    expect(await registry.metrics()).to.match(/^test_watch_last_event_age_seconds\{kind="Tenant"\} 70$/m);
  });
});
